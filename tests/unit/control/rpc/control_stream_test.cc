// Server and client over gRPC on loopback: who is let in, what arrives, and what a stranger can do.

#include <arpa/inet.h>
#include <control.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "control/rpc/control_client.h"
#include "control/rpc/control_server.h"
#include "tests/unit/control/fake_edge.h"
#include "tests/unit/control/plans.h"
#include "tests/unit/control/rpc/certificates.h"
#include "tests/unit/control/rpc/log_book.h"
#include "tests/unit/control/rpc/wait.h"

namespace tombolo::control {
namespace {

constexpr ClientOptions kImpatient{.least_pause_ns = 5 * kMillisecond,
                                   .most_pause_ns = 50 * kMillisecond,
                                   .heartbeat_ns = 50 * kMillisecond};

Transport plain(int port) {
  Transport transport;
  transport.address = "127.0.0.1:" + std::to_string(port);
  transport.insecure = true;
  return transport;
}

std::unique_ptr<ControlServer> serve(const Transport& transport, LogBook& book) {
  auto server = ControlServer::start(transport, {"AMS", "LON", "NYC"}, book.sink());
  EXPECT_TRUE(server.ok()) << server.error().message;
  return server.ok() ? std::move(server).value() : nullptr;
}

/// An edge that says hello and nothing else of its own, driven by the test's thread.
struct Edge {
  Edge(const Transport& transport, EdgeIdentity self, std::string name, LogBook& book) {
    const FromEdge greeting = Greeting{.hello = {.site = self.site,
                                                 .session = self.session,
                                                 .term = 0,
                                                 .committed_epoch = 0,
                                                 .staged_epoch = 0,
                                                 .newest_epoch = 0},
                                       .site_name = std::move(name)};
    auto created = ControlClient::create(
        transport, [greeting] { return std::vector{greeting}; }, kImpatient, 1, book.sink());
    EXPECT_TRUE(created.ok()) << created.error().message;
    client = std::move(created).value();
  }

  void poll() {
    for (ToEdge& message : client->poll(clock.now_ns())) arrived.push_back(std::move(message));
  }

  MonotonicClock clock;
  std::unique_ptr<ControlClient> client;
  std::vector<ToEdge> arrived;
};

/// Messages that are no heartbeat, and departures.
std::vector<std::string> take_texts(ControlServer& server) {
  std::vector<std::string> texts;
  for (const ServerEvent& event : server.take(std::chrono::milliseconds(1))) {
    if (const auto* left = std::get_if<EdgeLeft>(&event)) {
      texts.push_back(fmt::format("{} left", left->edge.site));
      continue;
    }
    const auto& said = std::get<EdgeSaid>(event);
    if (std::holds_alternative<LinkReport>(said.message)) {
      texts.push_back(fmt::format("{} links", said.edge.site));
    } else if (const auto& message = std::get<ToController>(said.message);
               !std::holds_alternative<EdgeHello>(message)) {
      texts.push_back(fmt::format("{} {}", said.edge.site, to_text(message)));
    }
  }
  return texts;
}

TEST(ControlStream, MessagesArriveInOrderBothWays) {
  LogBook book;
  const auto server = serve(plain(0), book);
  Edge edge(plain(server->port()), {1, 5}, "LON", book);
  ASSERT_TRUE(wait_until([&] { return edge.client->connected(); }, [&] { edge.poll(); }));
  constexpr std::uint32_t kMessages = 12;  // Fewer than what may wait on a stream.
  for (std::uint32_t i = 1; i <= kMessages; ++i) {
    server->send(1, Commit{1, i, 10 * i});
    server->send(0, Abort{1, i});  // Nobody is there.
    edge.client->send(CommitAck{i});
  }
  ASSERT_TRUE(wait_until([&] { return edge.arrived.size() >= kMessages; }, [&] { edge.poll(); }));
  for (std::uint32_t i = 1; i <= kMessages; ++i)
    EXPECT_EQ(to_text(edge.arrived[i - 1]), fmt::format("COMMIT {} from {}", i, 10 * i));
  std::vector<std::string> texts;
  ASSERT_TRUE(wait_until([&] { return texts.size() >= kMessages; },
                         [&] {
                           for (auto& text : take_texts(*server)) texts.push_back(std::move(text));
                         }));
  for (std::uint32_t i = 1; i <= kMessages; ++i) EXPECT_EQ(texts[i - 1], fmt::format("1 COMMIT-ACK {}", i));
  EXPECT_EQ(server->counts().dropped, kMessages);
  EXPECT_EQ(server->counts().sent, kMessages);
}

TEST(ControlStream, AnEdgeThatGoesIsReportedOnce) {
  LogBook book;
  const auto server = serve(plain(0), book);
  auto edge = std::make_unique<Edge>(plain(server->port()), EdgeIdentity{2, 5}, "NYC", book);
  ASSERT_TRUE(wait_until([&] { return edge->client->connected(); }, [&] { edge->poll(); }));
  edge.reset();
  std::vector<std::string> texts;
  ASSERT_TRUE(wait_until([&] { return !texts.empty(); }, [&] { texts = take_texts(*server); }));
  EXPECT_EQ(texts, std::vector<std::string>{"2 left"});
  EXPECT_EQ(server->counts().streams_open, 0u);
}

TEST(ControlStream, ALaterStreamTakesOverWithoutADeparture) {
  LogBook book;
  const auto server = serve(plain(0), book);
  Edge first(plain(server->port()), {1, 5}, "LON", book);
  ASSERT_TRUE(wait_until([&] { return first.client->connected(); }, [&] { first.poll(); }));
  Edge second(plain(server->port()), {1, 6}, "LON", book);
  ASSERT_TRUE(wait_until([&] { return second.client->connected(); }, [&] { second.poll(); }));
  // The former life ends, and its attempts to return are refused by name.
  ASSERT_TRUE(wait_until([&] { return book.count("session 5 of LON is over: 6 is here") > 0; },
                         [&] { first.poll(); }))
      << book.all();
  server->send(1, Abort{1, 77});
  ASSERT_TRUE(wait_until([&] { return !second.arrived.empty(); }, [&] { second.poll(); }));
  EXPECT_EQ(to_text(second.arrived.front()), "ABORT 77");
  EXPECT_TRUE(first.arrived.empty());
  for (const std::string& text : take_texts(*server)) EXPECT_NE(text, "1 left");
}

TEST(ControlStream, AnEdgeReconnectsToAControllerThatComesBack) {
  LogBook book;
  auto server = serve(plain(0), book);
  const int port = server->port();
  Edge edge(plain(port), {0, 5}, "AMS", book);
  ASSERT_TRUE(wait_until([&] { return edge.client->connected(); }, [&] { edge.poll(); }));
  server.reset();
  ASSERT_TRUE(wait_until([&] { return !edge.client->trouble().empty(); }, [&] { edge.poll(); }));
  EXPECT_FALSE(edge.client->connected());
  edge.client->send(CommitAck{1});
  EXPECT_GE(edge.client->counts().dropped + edge.client->counts().sent, 1u);
  server = serve(plain(port), book);
  ASSERT_NE(server, nullptr);
  ASSERT_TRUE(wait_until([&] { return edge.client->connected(); }, [&] { edge.poll(); }));
  edge.poll();
  EXPECT_EQ(edge.client->counts().streams, 2u);
  EXPECT_EQ(edge.client->trouble(), "");
  EXPECT_EQ(book.count("controller lost"), 1u) << book.all();
}

TEST(ControlStream, PausesGrowAndAreCutShortByNothing) {
  LogBook book;
  Edge edge(plain(1), {0, 5}, "AMS", book);  // Nobody listens at port 1.
  // Time is the test's here: attempts fail at once, and only poll() starts the next.
  Nanoseconds now_ns = 0;
  const auto attempt_ends = [&] {
    const auto attempts = edge.client->counts().attempts;
    return wait_until([&] { return edge.client->counts().attempts > attempts; },
                      [&] { edge.client->poll(now_ns += kMillisecond); });
  };
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(attempt_ends());
  // Failing for the same reason, they are one line.
  EXPECT_EQ(book.count("controller not reached"), 1u) << book.all();
}

TEST(ControlStream, RefusesByName) {
  LogBook book;
  const auto server = serve(plain(0), book);
  struct Case {
    EdgeIdentity self;
    const char* name;
    const char* says;
  };
  for (const Case& each : {Case{{3, 1}, "TYO", "site 3 (TYO): the topology has 3 sites"},
                           Case{{1, 1}, "NYC", "site 1 is LON, not NYC: the topologies differ"}}) {
    Edge edge(plain(server->port()), each.self, each.name, book);
    ASSERT_TRUE(wait_until([&] { return !edge.client->trouble().empty(); }, [&] { edge.poll(); }));
    EXPECT_NE(edge.client->trouble().find(each.says), std::string::npos) << edge.client->trouble();
    EXPECT_FALSE(edge.client->connected());
    EXPECT_EQ(edge.client->counts().streams, 0u);
  }
  EXPECT_TRUE(take_texts(*server).empty());
}

TEST(ControlStream, AMessageThatIsNoneIsCountedAndTheStreamGoesOn) {
  LogBook book;
  const auto server = serve(plain(0), book);
  // A stub of its own, because ours would never send such bytes.
  const auto channel =
      grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  const auto stream = v1::Control::NewStub(channel)->Attach(&context);
  v1::EdgeMessage hello;
  hello.mutable_hello()->set_site(2);
  hello.mutable_hello()->set_session(9);
  hello.mutable_hello()->set_site_name("NYC");
  v1::EdgeMessage empty;
  v1::EdgeMessage bad_links;
  bad_links.mutable_links()->add_links()->set_id(1 << 20);
  v1::EdgeMessage ack;
  ack.mutable_commit_ack()->set_epoch(4);
  for (const v1::EdgeMessage* message : {&hello, &empty, &bad_links, &ack})
    ASSERT_TRUE(stream->Write(*message));
  std::vector<std::string> texts;
  ASSERT_TRUE(wait_until([&] { return !texts.empty(); }, [&] { texts = take_texts(*server); }));
  EXPECT_EQ(texts, std::vector<std::string>{"2 COMMIT-ACK 4"});
  EXPECT_EQ(server->counts().undecodable, 2u);
  EXPECT_EQ(book.count("message cannot be read"), 1u) << "one line per stream\n" << book.all();
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST(ControlStream, AStreamWithoutAHelloIsRefused) {
  LogBook book;
  const auto server = serve(plain(0), book);
  const auto channel =
      grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  const auto stream = v1::Control::NewStub(channel)->Attach(&context);
  v1::EdgeMessage ack;
  ack.mutable_commit_ack()->set_epoch(4);
  stream->Write(ack);
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << status.error_message();
  EXPECT_TRUE(take_texts(*server).empty());
}

/// A line of 40 sites with 64 islands that all meet without multicast, in ten rounds.
std::shared_ptr<const schedule::EpochPlan> huge_plan() {
  constexpr std::size_t kSites = 40;
  std::string text = "sites:\n";
  for (std::size_t i = 0; i < kSites; ++i) text += fmt::format("  - {{id: S{}}}\n", i);
  text += "links:\n";
  for (std::size_t i = 1; i < kSites; ++i)
    text += fmt::format("  - {{a: S{}, b: S{}, rtt_ms: 1}}\n", i - 1, i);
  text += "islands:\n";
  for (std::size_t i = 0; i < 64; ++i) text += fmt::format("  - {{id: I{}, site: S{}}}\n", i, i % kSites);
  text += "profiles:\n  p: {core_gbps: 100, egress_gbps: 10, ingress_gbps: 10}\n";
  const auto network = schedule::resolve(*schedule::parse_topology(text, "line"), "p");
  auto schedule = *schedule::full_schedule(network->islands);
  while (schedule.rounds.size() < 10) schedule.rounds.push_back(schedule.rounds.front());
  auto options = nine_city_options(3);
  options.multicast = false;
  auto plan = schedule::compile(*network, schedule, options);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return std::make_shared<const schedule::EpochPlan>(std::move(plan).value());
}

TEST(ControlStream, AStageBeyondTheUsualLimitArrives) {
  LogBook book;
  const auto plan = huge_plan();
  const grpc::ByteBuffer bytes = write_message(ToEdge(Stage{1, 3, plan}));
  ASSERT_GT(bytes.Length(), 5U << 20) << "larger than gRPC's 4 MiB";
  const auto server = serve(plain(0), book);
  Edge edge(plain(server->port()), {1, 5}, "LON", book);
  ASSERT_TRUE(wait_until([&] { return edge.client->connected(); }, [&] { edge.poll(); }));
  server->send(1, Stage{1, 3, plan});
  server->send(1, Commit{1, 3, 9});
  ASSERT_TRUE(wait_until([&] { return edge.arrived.size() == 2; }, [&] { edge.poll(); }));
  ASSERT_TRUE(std::holds_alternative<Stage>(edge.arrived[0]));
  EXPECT_TRUE(same_but_epoch(*std::get<Stage>(edge.arrived[0]).plan, *plan));
  EXPECT_EQ(to_text(edge.arrived[1]), "COMMIT 3 from 9");
}

int connect_to(int port) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return connection;
}

void send_garbage(int port, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const int connection = connect_to(port);
  // Half of them begin as HTTP/2 would.
  std::string bytes = random.chance(0.5) ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" : "";
  for (std::size_t i = random.below(5000); i > 0; --i) bytes.push_back(static_cast<char>(random.bits()));
  // The other side may hang up in the middle.
  EXPECT_NE(::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  ::close(connection);
}

TEST(ControlStream, GarbageAtThePortHarmsNobody) {
  LogBook book;
  const Certificates certificates("controller NYC");
  const auto secure = serve(certificates.transport("127.0.0.1:0", "controller"), book);
  const auto open = serve(plain(0), book);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    send_garbage(secure->port(), seed);
    send_garbage(open->port(), seed);
  }
  Edge edge(certificates.transport("127.0.0.1:" + std::to_string(secure->port()), "NYC"), {2, 5}, "NYC",
            book);
  Edge other(plain(open->port()), {2, 5}, "NYC", book);
  ASSERT_TRUE(wait_until([&] { return edge.client->connected() && other.client->connected(); },
                         [&] {
                           edge.poll();
                           other.poll();
                         }))
      << book.all();
  EXPECT_EQ(secure->counts().streams_opened, 1u);
  EXPECT_EQ(open->counts().streams_opened, 1u);
}

class SecureStream : public testing::Test {
 protected:
  void SetUp() override { server_ = serve(certificates_.transport("127.0.0.1:0", "controller"), book_); }

  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  /// Tries three times and is never let in.
  void expect_kept_out(Edge& edge) {
    ASSERT_TRUE(wait_until([&] { return edge.client->counts().attempts > 3; }, [&] { edge.poll(); }));
    EXPECT_EQ(edge.client->counts().streams, 0u);
    EXPECT_FALSE(edge.client->connected());
    EXPECT_FALSE(edge.client->trouble().empty());
    EXPECT_TRUE(take_texts(*server_).empty());
  }

  LogBook book_;
  Certificates certificates_{"controller LON NYC"};
  std::unique_ptr<ControlServer> server_;
};

TEST_F(SecureStream, AnEdgeWithItsCertificateIsLetIn) {
  Edge edge(certificates_.transport(address(), "LON"), {1, 5}, "LON", book_);
  ASSERT_TRUE(wait_until([&] { return edge.client->connected(); }, [&] { edge.poll(); })) << book_.all();
}

TEST_F(SecureStream, ASiteCannotSpeakForAnother) {
  Edge edge(certificates_.transport(address(), "NYC"), {1, 5}, "LON", book_);
  expect_kept_out(edge);
  EXPECT_NE(edge.client->trouble().find("the certificate is not one of LON"), std::string::npos)
      << edge.client->trouble();
}

TEST_F(SecureStream, AStrangersCertificateIsRefused) {
  // Its own authority signs for the same name; it does know ours.
  const Certificates strangers("LON");
  Transport transport = strangers.transport(address(), "LON");
  transport.ca = certificates_.file("ca.pem");
  Edge edge(transport, {1, 5}, "LON", book_);
  expect_kept_out(edge);
  EXPECT_EQ(server_->counts().streams_opened, 0u);
}

TEST_F(SecureStream, NoCertificateIsRefused) {
  std::ifstream file(certificates_.file("ca.pem"));
  std::ostringstream ca;
  ca << file.rdbuf();
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride("controller");
  const auto channel =
      grpc::CreateCustomChannel(address(), grpc::SslCredentials({ca.str(), "", ""}), arguments);
  grpc::ClientContext context;
  const auto stream = v1::Control::NewStub(channel)->Attach(&context);
  v1::EdgeMessage hello;
  hello.mutable_hello()->set_site(1);
  hello.mutable_hello()->set_session(1);
  hello.mutable_hello()->set_site_name("LON");
  stream->Write(hello);
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_EQ(server_->counts().streams_opened, 0u);
}

TEST_F(SecureStream, PlainTextIsRefused) {
  Edge edge(plain(server_->port()), {1, 5}, "LON", book_);
  expect_kept_out(edge);
  EXPECT_EQ(server_->counts().streams_opened, 0u);
}

TEST_F(SecureStream, AnEdgeRefusesAControllerOfAnotherName) {
  // A site's certificate is good for a site only.
  const auto impostor = serve(certificates_.transport("127.0.0.1:0", "NYC"), book_);
  Edge edge(certificates_.transport("127.0.0.1:" + std::to_string(impostor->port()), "LON"), {1, 5}, "LON",
            book_);
  expect_kept_out(edge);
  EXPECT_EQ(impostor->counts().streams_opened, 0u);
}

TEST(ControlServer, SaysThatAnAddressIsTaken) {
  LogBook book;
  const auto first = serve(plain(0), book);
  const auto second = ControlServer::start(plain(first->port()), {"AMS"}, book.sink());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find("cannot listen on 127.0.0.1:"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::control
