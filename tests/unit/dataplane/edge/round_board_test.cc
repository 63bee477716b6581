#include "dataplane/edge/round_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace tombolo::dataplane {
namespace {

/// Every field follows from one number, so that a mixture of two records shows.
RoundView view_of(std::uint32_t n) {
  return {.epoch = n,
          .round = n + 1,
          .rank = static_cast<std::uint16_t>(n + 2),
          .entry = n + 3,
          .late = std::uint64_t{n} << 32 | n,
          .chunks_done = n + 4,
          .chunks_total = n + 5,
          .first_contribution_ns = Nanoseconds{n} * kSecond};
}

bool is_whole(const RoundView& view) {
  const RoundView expected = view_of(view.epoch);
  return view.round == expected.round && view.rank == expected.rank && view.entry == expected.entry &&
         view.late == expected.late && view.chunks_done == expected.chunks_done &&
         view.chunks_total == expected.chunks_total &&
         view.first_contribution_ns == expected.first_contribution_ns;
}

TEST(RoundBoardTest, WhatIsPutIsRead) {
  RoundBoard board;
  EXPECT_EQ(board.count(), 0U);
  for (std::size_t place = 0; place < RoundBoard::kPlaces; ++place)
    board.put(place, view_of(4'000'000'000U + static_cast<std::uint32_t>(place)));
  board.set_count(RoundBoard::kPlaces);
  EXPECT_EQ(board.count(), RoundBoard::kPlaces);
  for (std::size_t place = 0; place < RoundBoard::kPlaces; ++place) {
    const auto view = board.get(place);
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->epoch, 4'000'000'000U + place);
    EXPECT_TRUE(is_whole(*view));
  }
}

TEST(RoundBoardTest, ARoundThatNobodyHasBegunHasNoFirstContribution) {
  RoundBoard board;
  board.put(0, RoundView{});
  EXPECT_EQ(board.get(0)->first_contribution_ns, kNever);
}

/// The writer goes on until the reader has seen it at work often enough, however the two get their cores.
TEST(RoundBoardTest, AReaderNeverSeesHalfARecord) {
  constexpr std::uint32_t kChanges = 2'000;
  const auto board = std::make_unique<RoundBoard>();
  board->put(0, view_of(0));
  std::atomic<bool> enough{false};
  std::uint32_t written = 0;
  std::thread writer([&] {
    while (!enough.load(std::memory_order_relaxed)) board->put(0, view_of(++written));
  });
  std::uint32_t newest = 0;
  std::uint32_t changes = 0;
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
  while (changes < kChanges) {
    const auto view = board->get(0);
    if (!view) continue;
    torn += is_whole(*view) ? 0 : 1;
    backwards += view->epoch < newest ? 1 : 0;
    changes += view->epoch != newest ? 1 : 0;
    newest = view->epoch;
  }
  enough = true;
  writer.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(backwards, 0U);
  EXPECT_EQ(board->get(0)->epoch, written);
}

}  // namespace
}  // namespace tombolo::dataplane
