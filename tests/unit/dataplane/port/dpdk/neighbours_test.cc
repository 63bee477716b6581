#include "dataplane/port/dpdk/neighbours.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kOwn = 0x0a000001;
constexpr std::uint32_t kNear = 0x0a000002;
constexpr std::uint32_t kOther = 0x0a000003;
constexpr std::uint32_t kFar = 0x0a010002;
constexpr std::uint32_t kFarther = 0x0a010003;
constexpr std::uint32_t kGateway = 0x0a0000fe;
constexpr std::uint32_t kStranger = 0x0a000009;
constexpr std::uint32_t kGroup = 0xef000001;
constexpr Mac kMac = 0x020000000002;

NeighbourConfig config(std::vector<Neighbour> neighbours) {
  return {kOwn, 24, kGateway, std::move(neighbours)};
}

std::unique_ptr<NeighbourTable> table(std::vector<Neighbour> neighbours) {
  return std::move(NeighbourTable::create(config(std::move(neighbours)))).value();
}

std::vector<std::uint32_t> asked(NeighbourTable& neighbours, Nanoseconds now_ns) {
  std::array<std::uint32_t, 4> out;
  const std::size_t count = neighbours.due(now_ns, out);
  return {out.begin(), out.begin() + count};
}

TEST(Neighbours, RefusesByAddressWhatCannotBe) {
  struct Case {
    NeighbourConfig config;
    const char* says;
  };
  const Neighbour near{{kNear, 1}, {}};
  const std::vector<Case> cases{
      {{0, 24, {}, {}}, "address 0.0.0.0"},
      {{0x7f000001, 24, {}, {}}, "address 127.0.0.1"},
      {{kOwn, 33, {}, {}}, "prefix length 33"},
      {{kOwn, 24, kFar, {}}, "gateway 10.1.0.2"},
      {{kOwn, 24, kOwn, {}}, "gateway 10.0.0.1"},
      {{kOwn, 24, {}, {{{kFar, 1}, {}}}}, "neighbour 10.1.0.2: is in another network; a gateway is needed"},
      {config({{{kFar, 1}, kMac}}), "neighbour 10.1.0.2: has a mac"},
      {config({{{kOwn, 1}, {}}}), "neighbour 10.0.0.1: is this port's own"},
      {config({near, near}), "neighbour 10.0.0.2: is named twice"},
      {config({{{0, 1}, {}}}), "neighbour 0.0.0.0"},
      {config({{{kGroup, 1}, {}}}), "neighbour 239.0.0.1"},
      {config({{{kNear, 1}, kBroadcastMac}}), "mac ff:ff:ff:ff:ff:ff"},
      {config({{{kNear, 1}, Mac{0}}}), "mac 00:00:00:00:00:00"},
  };
  for (const Case& one : cases) {
    const auto result = NeighbourTable::create(one.config);
    ASSERT_FALSE(result.ok()) << one.says;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(result.error().message.find(one.says), std::string::npos) << result.error().message;
  }
}

TEST(Neighbours, RoutesDirectlyByGatewayOrToAGroup) {
  auto neighbours = table({{{kFar, 1}, {}}, {{kNear, 1}, kMac}, {{kFarther, 1}, {}}, {{kOther, 1}, {}}});
  EXPECT_EQ(neighbours->size(), 4U);
  EXPECT_EQ(neighbours->route(kNear).mac, kMac);
  EXPECT_EQ(neighbours->route(kNear).to_ipv4, kNear);
  EXPECT_EQ(neighbours->route(kFar).drop, FrameDrop::kUnresolved);
  EXPECT_EQ(neighbours->route(kStranger).drop, FrameDrop::kUnknownNeighbour);
  EXPECT_EQ(neighbours->route(kOther).drop, FrameDrop::kUnresolved);
  // A group needs nobody's Ethernet address, but a probe to the neighbour itself does.
  ASSERT_TRUE(neighbours->set_groups(kOther, {kGroup, {}}).ok());
  EXPECT_EQ(neighbours->route(kOther).to_ipv4, kGroup);
  EXPECT_EQ(neighbours->route(kOther).mac, 0x01005e000001U);
  EXPECT_EQ(neighbours->direct_route(kOther).drop, FrameDrop::kUnresolved);
  EXPECT_EQ(neighbours->set_groups(kStranger, {kGroup, {}}).error().message, "10.0.0.9 is not a neighbour");
  EXPECT_EQ(neighbours->resolved(), 1U);
  // The gateway's address serves both that are behind it.
  EXPECT_TRUE(neighbours->learn(kGateway, 0x0200000000fe, 0));
  for (const std::uint32_t ipv4 : {kFar, kFarther}) {
    EXPECT_EQ(neighbours->route(ipv4).mac, 0x0200000000feU);
    EXPECT_EQ(neighbours->route(ipv4).to_ipv4, ipv4);
  }
  EXPECT_EQ(neighbours->resolved(), 3U);
  // And back: the epoch has no group for it any more.
  ASSERT_TRUE(neighbours->set_groups(kOther, {}).ok());
  EXPECT_TRUE(neighbours->learn(kOther, kMac, 0));
  EXPECT_EQ(neighbours->route(kOther).to_ipv4, kOther);
  EXPECT_EQ(neighbours->resolved(), 4U);
}

TEST(Neighbours, AsksForEachThatIsNotFixedAFewAtATime) {
  auto neighbours = table({{{kNear, 1}, kMac}, {{kFar, 1}, {}}, {{kOther, 1}, {}}});
  EXPECT_EQ(neighbours->next_due_ns(), 0U);
  EXPECT_EQ(asked(*neighbours, 5), (std::vector<std::uint32_t>{kGateway, kOther}));
  EXPECT_EQ(neighbours->next_due_ns(), 5 + kSecond);
  EXPECT_TRUE(asked(*neighbours, 4 + kSecond).empty());
  neighbours->learn(kOther, kMac, 6);
  EXPECT_EQ(asked(*neighbours, 5 + kSecond), std::vector<std::uint32_t>{kGateway});
  neighbours->learn(kGateway, kMac, 7 + kSecond);
  EXPECT_TRUE(asked(*neighbours, 5 + 30 * kSecond).empty());
  EXPECT_EQ(asked(*neighbours, 6 + 30 * kSecond), std::vector<std::uint32_t>{kOther});
  EXPECT_EQ(asked(*neighbours, 7 + 31 * kSecond), (std::vector<std::uint32_t>{kGateway, kOther}));

  std::vector<Neighbour> many;
  for (std::uint32_t i = 0; i < 6; ++i) many.push_back({{0x0a000010 + i, 1}, {}});
  auto crowd = table(many);
  EXPECT_EQ(asked(*crowd, 0).size(), 4U);
  EXPECT_EQ(crowd->next_due_ns(), 0U);
  EXPECT_EQ(asked(*crowd, 0).size(), 2U);
  EXPECT_TRUE(asked(*crowd, 0).empty());
}

TEST(Neighbours, NeverAsksWhenAllAreFixed) {
  auto neighbours = table({{{kNear, 1}, kMac}});
  EXPECT_EQ(neighbours->next_due_ns(), kNever);
  EXPECT_TRUE(neighbours->learn(kNear, 0x0200000000cc, 0));
  EXPECT_EQ(neighbours->route(kNear).mac, kMac);
  EXPECT_FALSE(neighbours->learn(kFar, kMac, 0));
  EXPECT_FALSE(neighbours->learn(kGateway, kMac, 0));
}

TEST(Addresses, AreReadAndWritten) {
  EXPECT_EQ(parse_ipv4_address("10.0.0.254").value(), kGateway);
  EXPECT_EQ(format_ipv4(kGateway), "10.0.0.254");
  EXPECT_EQ(parse_mac("02:00:00:00:0a:Ff").value(), 0x020000000affU);
  EXPECT_EQ(format_mac(0x020000000aff), "02:00:00:00:0a:ff");
  for (const char* text : {"", "10.0.0", "10.0.0.256", "10.0.0.1 ", "a.b.c.d", "1.2.3.4.5"})
    EXPECT_FALSE(parse_ipv4_address(text).ok()) << text;
  for (const char* text :
       {"", "02:00:00:00:0a", "02:00:00:00:0a:fg", "02-00-00-00-0a-ff", "02:00:00:00:0a:ff:00"})
    EXPECT_FALSE(parse_mac(text).ok()) << text;
}

}  // namespace
}  // namespace tombolo::dataplane
