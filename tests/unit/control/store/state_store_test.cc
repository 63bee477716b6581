#include "control/store/state_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/serial.h"
#include "control/store/plan_message.h"
#include "tests/unit/control/plans.h"
#include "tests/unit/control/temporary_folder.h"

namespace tombolo::control {
namespace {

constexpr std::uint64_t kUnixSecondsOf2020 = 1'577'836'800;  // date -u -d 2020-01-01 +%s

class StateStore : public testing::Test {
 protected:
  TemporaryFolder temporary_;
  StateFolder folder_ = std::move(StateFolder::open(temporary_.path())).value();
};

TEST_F(StateStore, AnAgentsSnapshotComesBack) {
  AgentStore store(folder_);
  ASSERT_TRUE(store.load().ok());
  EXPECT_EQ(store.load()->term, 0u);
  EXPECT_EQ(store.load()->plan, nullptr);
  ASSERT_TRUE(
      store.save({.term = 4, .newest_epoch = 9, .plan = nine_city_plan(7), .activating_round = 31}).ok());
  const auto loaded = AgentStore(folder_).load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->term, 4u);
  EXPECT_EQ(loaded->newest_epoch, 9u);
  EXPECT_EQ(loaded->committed_epoch(), 7u);
  EXPECT_EQ(loaded->activating_round, 31u);
}

TEST_F(StateStore, AControllerOfAnEarlierTermCannotStore) {
  ControllerStore store(folder_);
  const auto state = [](Term term, std::uint32_t newest) {
    return ControllerState{.term = term, .newest_epoch = newest, .plan = nullptr, .activating_round = 0};
  };
  ASSERT_TRUE(store.save(state(2, 1)).ok());
  ASSERT_TRUE(store.save(state(2, 2)).ok()) << "its own term";
  ASSERT_TRUE(store.save(state(3, 2)).ok()) << "a later one";
  const Status old = store.save(state(2, 3));
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, ErrorCode::kFailed);
  EXPECT_NE(old.error().message.find("a controller of term 3"), std::string::npos) << old.error().message;
  EXPECT_EQ(store.load()->newest_epoch, 2u);
}

TEST_F(StateStore, ADamagedFileIsNamedWithTheWayOutAndNotOverwritten) {
  std::ofstream(folder_.file("controller.state")) << "rubbish";
  ControllerStore store(folder_);
  const auto loaded = store.load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find(folder_.file("controller.state")), std::string::npos);
  EXPECT_NE(loaded.error().message.find("put back a copy"), std::string::npos);
  EXPECT_FALSE(store.save({.term = 9, .newest_epoch = 0, .plan = nullptr, .activating_round = 0}).ok());
}

TEST_F(StateStore, AFileThatIsWholeButMeansNothingIsRefused) {
  // Framed well, but no message.
  ASSERT_TRUE(DurableFile(folder_.file("agent.state"), {"agent", ""}).write("\xff\xff").ok());
  const auto loaded = AgentStore(folder_).load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("remove it and the edge gets the epoch"), std::string::npos);
}

TEST_F(StateStore, SessionsOnlyGrow) {
  SessionStore store(folder_);
  EXPECT_EQ(*store.next(kUnixSecondsOf2020 + 1000), 1000u);
  EXPECT_EQ(*store.next(kUnixSecondsOf2020 + 1000), 1001u) << "two lives in one second";
  EXPECT_EQ(*SessionStore(folder_).next(kUnixSecondsOf2020 + 500), 1002u) << "the clock went back";
  EXPECT_EQ(*store.next(0), 1003u) << "no clock at all";
  EXPECT_EQ(*store.next(kUnixSecondsOf2020 + 2000), 2000u);
}

TEST_F(StateStore, SessionsWrapAndAreNeverZero) {
  SessionStore store(folder_);
  // 2156: the seconds of this calendar are at their end.
  EXPECT_EQ(*store.next(kUnixSecondsOf2020 + 0xffffffff), 0xffffffffu);
  const auto wrapped = store.next(kUnixSecondsOf2020 + 0xffffffff);
  ASSERT_TRUE(wrapped.ok());
  EXPECT_EQ(*wrapped, 1u);
  EXPECT_TRUE(serial_before(0xffffffff, *wrapped));
  EXPECT_EQ(*store.next(kUnixSecondsOf2020 + 0xffffffff), 2u) << "the calendar is behind now";
}

TEST_F(StateStore, NoSessionWithoutItsRecord) {
  class FullDisk final : public FileOperations {
   public:
    int fsync(int) override {
      errno = ENOSPC;
      return -1;
    }
  } full;
  SessionStore store(folder_, &full);
  EXPECT_FALSE(store.next(kUnixSecondsOf2020 + 5).ok());
  ASSERT_TRUE(DurableFile(folder_.file("session.state"), {"session", ""}).write("12x").ok());
  EXPECT_FALSE(SessionStore(folder_).next(kUnixSecondsOf2020 + 5).ok());
}

}  // namespace
}  // namespace tombolo::control
