#include "control/rpc/control_message.h"

#include <control.pb.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/control/fake_edge.h"
#include "tests/unit/control/plans.h"

namespace tombolo::control {
namespace {

template <typename Message>
grpc::ByteBuffer bytes_of(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

template <typename Body>
Body from_edge_and_back(const Body& body) {
  const auto read = read_from_edge(write_message(FromEdge(body)));
  EXPECT_TRUE(read.ok()) << read.error().message;
  const Body* same = std::get_if<Body>(&*read);
  EXPECT_NE(same, nullptr);
  return same != nullptr ? *same : Body{};
}

TEST(ControlMessage, EveryMessageOfAnEdgeComesBack) {
  const auto greeting = from_edge_and_back(Greeting{.hello = {.site = 65535,
                                                              .session = 0xfffffffe,
                                                              .term = ~Term{0},
                                                              .committed_epoch = 3,
                                                              .staged_epoch = 4,
                                                              .newest_epoch = 5,
                                                              .multicast_sites = {0, 7, 65535}},
                                                    .site_name = "NYC"});
  EXPECT_EQ(greeting.hello.site, 65535);
  EXPECT_EQ(greeting.hello.session, 0xfffffffeu);
  EXPECT_EQ(greeting.hello.term, ~Term{0});
  EXPECT_EQ(greeting.hello.committed_epoch, 3u);
  EXPECT_EQ(greeting.hello.staged_epoch, 4u);
  EXPECT_EQ(greeting.hello.newest_epoch, 5u);
  EXPECT_EQ(greeting.hello.multicast_sites, (std::vector<schedule::SiteId>{0, 7, 65535}));
  EXPECT_EQ(greeting.site_name, "NYC");
  const auto ack = from_edge_and_back(StageAck{7, 0xffffffff});
  EXPECT_EQ(ack.epoch, 7u);
  EXPECT_EQ(ack.highest_opened_round, 0xffffffffu);
  const auto nack = from_edge_and_back(StageNack{8, "arena too small"});
  EXPECT_EQ(nack.epoch, 8u);
  EXPECT_EQ(nack.reason, "arena too small");
  EXPECT_FALSE(nack.draining);
  EXPECT_TRUE(from_edge_and_back(StageNack{8, "two epochs are live", true}).draining);
  EXPECT_EQ(from_edge_and_back(CommitAck{9}).epoch, 9u);
  EXPECT_EQ(from_edge_and_back(AbortAck{10}).epoch, 10u);
  const LinkReport report{{{true, 0, false}, {false, 8, true}, {false, 65535, false}}};
  EXPECT_EQ(from_edge_and_back(report).links, report.links);
}

TEST(ControlMessage, AStrangeReasonDoesNotBreakTheStream) {
  const auto nack = from_edge_and_back(StageNack{8, "bad \xff\xfe\n name"});
  EXPECT_EQ(nack.reason, "bad ??? name");
  EXPECT_EQ(from_edge_and_back(StageNack{8, std::string(100'000, 'x')}).reason.size(), kMaxReasonBytes);
}

TEST(ControlMessage, EveryMessageOfAControllerComesBack) {
  const auto plan = nine_city_plan(3);
  const auto stage = read_to_edge(write_message(ToEdge(Stage{4, 3, plan})));
  ASSERT_TRUE(stage.ok()) << stage.error().message;
  EXPECT_EQ(std::get<Stage>(*stage).term, 4u);
  EXPECT_EQ(std::get<Stage>(*stage).epoch, 3u);
  EXPECT_TRUE(same_but_epoch(*std::get<Stage>(*stage).plan, *plan));
  const auto commit = read_to_edge(write_message(ToEdge(Commit{4, 3, 17})));
  ASSERT_TRUE(commit.ok());
  EXPECT_EQ(std::get<Commit>(*commit).term, 4u);
  EXPECT_EQ(to_text(*commit), "COMMIT 3 from 17");
  const auto abort = read_to_edge(write_message(ToEdge(Abort{4, 3})));
  ASSERT_TRUE(abort.ok());
  EXPECT_EQ(std::get<Abort>(*abort).term, 4u);
  EXPECT_EQ(to_text(*abort), "ABORT 3");
}

TEST(ControlMessage, RefusesEachBadMessageOfAnEdge) {
  struct Hostile {
    const char* says;
    std::function<void(v1::EdgeMessage&)> make;
  };
  const std::vector<Hostile> table{
      {"body: empty", [](v1::EdgeMessage&) {}},
      {"hello.site: 65536",
       [](v1::EdgeMessage& m) {
         m.mutable_hello()->set_site(65536);
         m.mutable_hello()->set_session(1);
         m.mutable_hello()->set_site_name("A");
       }},
      {"hello.session", [](v1::EdgeMessage& m) { m.mutable_hello()->set_site_name("A"); }},
      {"hello.site_name", [](v1::EdgeMessage& m) { m.mutable_hello()->set_session(1); }},
      {"hello.site_name",
       [](v1::EdgeMessage& m) {
         m.mutable_hello()->set_session(1);
         m.mutable_hello()->set_site_name(std::string(65, 'x'));
       }},
      {"hello.multicast_sites: 65536 is no site",
       [](v1::EdgeMessage& m) {
         m.mutable_hello()->set_session(1);
         m.mutable_hello()->set_site_name("A");
         m.mutable_hello()->add_multicast_sites(65536);
       }},
      {"hello.multicast_sites: must be in ascending order",
       [](v1::EdgeMessage& m) {
         m.mutable_hello()->set_session(1);
         m.mutable_hello()->set_site_name("A");
         for (const unsigned site : {4U, 4U}) m.mutable_hello()->add_multicast_sites(site);
       }},
      {"hello.multicast_sites: 4097 of them",
       [](v1::EdgeMessage& m) {
         m.mutable_hello()->set_session(1);
         m.mutable_hello()->set_site_name("A");
         for (unsigned site = 0; site < 4097; ++site) m.mutable_hello()->add_multicast_sites(site);
       }},
      {"stage_nack.reason",
       [](v1::EdgeMessage& m) { m.mutable_stage_nack()->set_reason(std::string(4097, 'x')); }},
      {"links.id: 65536", [](v1::EdgeMessage& m) { m.mutable_links()->add_links()->set_id(65536); }},
      {"links: 4097 of them",
       [](v1::EdgeMessage& m) {
         while (m.links().links_size() < 4097) m.mutable_links()->add_links();
       }},
  };
  for (const Hostile& hostile : table) {
    v1::EdgeMessage message;
    hostile.make(message);
    const auto read = read_from_edge(bytes_of(message));
    ASSERT_FALSE(read.ok()) << hostile.says;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(read.error().message.find(hostile.says), std::string::npos) << read.error().message;
  }
  const grpc::Slice rubbish("\xff\xff\xff\xff");
  EXPECT_FALSE(read_from_edge(grpc::ByteBuffer(&rubbish, 1)).ok());
  EXPECT_FALSE(read_from_edge(grpc::ByteBuffer()).ok());
}

TEST(ControlMessage, RefusesEachBadMessageOfAController) {
  v1::ControllerMessage none;
  EXPECT_NE(read_to_edge(bytes_of(none)).error().message.find("body: empty"), std::string::npos);
  v1::ControllerMessage without_plan;
  without_plan.mutable_stage()->set_epoch(3);
  EXPECT_NE(read_to_edge(bytes_of(without_plan)).error().message.find("stage.plan: is missing"),
            std::string::npos);
  const auto other = read_to_edge(write_message(ToEdge(Stage{1, 4, nine_city_plan(3)})));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("stage.epoch: 4, but the plan is of epoch 3"), std::string::npos);
  auto bad_plan = std::make_shared<schedule::EpochPlan>(*nine_city_plan(3));
  bad_plan->lane_count = 0;
  EXPECT_NE(
      read_to_edge(write_message(ToEdge(Stage{1, 3, bad_plan}))).error().message.find("there are no lanes"),
      std::string::npos);
  const grpc::Slice rubbish("\xff\xff\xff\xff");
  EXPECT_FALSE(read_to_edge(grpc::ByteBuffer(&rubbish, 1)).ok());
}

}  // namespace
}  // namespace tombolo::control
