#include "island/operation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

EpochView make_view(const wire::Config& config) {
  EpochView view(3, config);
  EXPECT_TRUE(view.add(config));
  EXPECT_TRUE(view.start().ok());
  return view;
}

TEST(Operation, CutsAnUpdateIntoChunks) {
  struct Row {
    std::size_t count;
    std::uint64_t chunks;
    std::vector<std::size_t> elements;  ///< Of each chunk.
    std::vector<std::uint32_t> in_lane;
  };
  // Chunks of 32 elements in two lanes; every lane has at least one.
  const std::vector<Row> table = {{1, 2, {1, 0}, {1, 1}},       {32, 2, {32, 0}, {1, 1}},
                                  {33, 2, {32, 1}, {1, 1}},     {64, 2, {32, 32}, {1, 1}},
                                  {65, 3, {32, 32, 1}, {2, 1}}, {128, 4, {32, 32, 32, 32}, {2, 2}}};
  EpochView view = make_view(ScriptedEdge::clique());
  for (const Row& row : table) {
    SCOPED_TRACE(row.count);
    Buffers buffers(row.count);
    Operation operation(1, buffers.request(0), 0);
    operation.bind(view);
    ASSERT_EQ(operation.chunks(), row.chunks);
    std::size_t offset = 0;
    for (std::uint64_t chunk = 0; chunk < row.chunks; ++chunk) {
      EXPECT_EQ(operation.elements(chunk), row.elements[chunk]);
      EXPECT_EQ(operation.input(chunk), reinterpret_cast<const std::byte*>(buffers.input.data() + offset));
      EXPECT_EQ(operation.result_place(chunk), reinterpret_cast<std::byte*>(buffers.output.data() + offset));
      offset += row.elements[chunk];
    }
    EXPECT_EQ(offset, row.count);
    for (std::uint16_t lane = 0; lane < 2; ++lane) EXPECT_EQ(operation.lane_chunks(lane), row.in_lane[lane]);
  }
}

TEST(Operation, KeepsACopyOfAnInputThatIsItsOutput) {
  Buffers buffers(40);
  const std::vector<std::byte> before = ScriptedEdge::as_bytes(buffers.input);
  Allreduce request = buffers.request(0);
  request.output = const_cast<std::byte*>(request.input);
  EpochView view = make_view(ScriptedEdge::clique());
  Operation operation(1, request, 0);
  operation.bind(view);
  std::memset(operation.result_place(0), 0, before.size());
  EXPECT_EQ(std::memcmp(operation.input(0), before.data(), before.size()), 0);
}

TEST(Operation, CountsResultsAndReleasesOnce) {
  wire::Config config = ScriptedEdge::clique();
  config.send_tree_count = 2;
  config.send_tree = {4, 5};
  EpochView view = make_view(config);
  Buffers buffers(64);
  Operation operation(1, buffers.request(0), 0);
  operation.bind(view);
  EXPECT_TRUE(operation.mark_result(1));
  EXPECT_FALSE(operation.mark_result(1));
  EXPECT_FALSE(operation.all_results());
  EXPECT_TRUE(operation.mark_result(0));
  EXPECT_TRUE(operation.all_results());
  EXPECT_FALSE(operation.mark_released(0, 0));
  EXPECT_FALSE(operation.mark_released(0, 0));
  EXPECT_FALSE(operation.mark_released(1, 0));
  EXPECT_FALSE(operation.mark_released(1, 1));
  EXPECT_FALSE(operation.all_released());
  EXPECT_TRUE(operation.mark_released(0, 1));
  EXPECT_TRUE(operation.all_released());
}

TEST(Operation, StartsAnewInAnotherEpoch) {
  EpochView first = make_view(ScriptedEdge::clique());
  wire::Config wide = ScriptedEdge::clique();
  wide.chunk_elements = 64;
  wide.deadline_ns = 4 * kSecond;
  EpochView second = make_view(wide);
  Buffers buffers(128);
  Operation operation(1, buffers.request(0), 0);
  operation.bind(first);
  operation.start_deadline(5);
  operation.cursor(0, 1) = 2;
  operation.mark_result(0);
  operation.bind(second);
  EXPECT_EQ(operation.chunks(), 2U);
  EXPECT_EQ(operation.cursor(0, 1), 0U);
  EXPECT_TRUE(operation.mark_result(0));
  EXPECT_EQ(operation.deadline_at_ns, kNever);
  operation.start_deadline(7);
  EXPECT_EQ(operation.deadline_at_ns, 7 + 4 * kSecond + kSecond / 2);
}

TEST(Operation, TheEpochsDeadlineHasALittleGraceAndStartsOnce) {
  struct Row {
    Nanoseconds epoch_ns, at_ns;
  };
  const std::vector<Row> table = {
      {800, 10 + 900}, {8 * kSecond, 10 + 9 * kSecond}, {80 * kSecond, 10 + 81 * kSecond}, {kNever, kNever}};
  for (const Row& row : table) {
    wire::Config config = ScriptedEdge::clique();
    config.deadline_ns = row.epoch_ns;
    EpochView view = make_view(config);
    Buffers buffers(8);
    Operation operation(1, buffers.request(0), 0);
    operation.start_deadline(5);  // No epoch yet: nothing to count.
    EXPECT_EQ(operation.deadline_at_ns, kNever);
    operation.bind(view);
    operation.start_deadline(10);
    operation.start_deadline(20);
    EXPECT_EQ(operation.deadline_at_ns, row.at_ns);
  }
}

TEST(Operation, ACallsDeadlineCountsFromTheCall) {
  EpochView view = make_view(ScriptedEdge::clique());
  Buffers buffers(8);
  Allreduce request = buffers.request(0);
  request.deadline_ns = 100;
  Operation operation(1, request, 7);
  operation.bind(view);
  operation.start_deadline(50);
  EXPECT_EQ(operation.deadline_at_ns, 107U);
}

TEST(Operation, FitsWhileItsChunksCanBeNumbered) {
  EpochView view = make_view(ScriptedEdge::clique());
  Buffers buffers(1);
  Allreduce request = buffers.request(0);
  request.count = std::uint64_t{32} << 31;
  EXPECT_EQ(Operation(1, request, 0).misfit(view), "");
  ++request.count;
  EXPECT_NE(Operation(1, request, 0).misfit(view), "");
}

}  // namespace
}  // namespace tombolo::island
