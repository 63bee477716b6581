#include "multicast/replicator.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace tombolo::multicast {
namespace {

/// One buffer, which knows whether it is in use.
class OneBuffer final : public BufferPool {
 public:
  Buffer* allocate() override {
    in_use_ = true;
    buffer_ = {bytes_.data(), static_cast<std::uint32_t>(bytes_.size()), 1, this};
    return &buffer_;
  }
  void recycle(Buffer*) override { in_use_ = false; }
  bool in_use() const { return in_use_; }
  std::uint32_t references() const { return buffer_.references; }

 private:
  std::array<std::byte, 256> bytes_{};
  Buffer buffer_;
  bool in_use_ = false;
};

class ReplicatorTest : public testing::Test {
 protected:
  void SetUp() override {
    header_.tree = 17;
    header_.chunk = 4711;
    header_.payload_crc = 0x12345678;
  }
  std::size_t replicate(std::uint64_t links) {
    return replicator_.replicate(header_, keep_.data() + kHeaderBytes, 100, keep_, links,
                                 [this](std::uint8_t link, Copy&& copy) {
                                   links_.push_back(link);
                                   copies_.push_back(std::move(copy));
                                 });
  }

  OneBuffer pool_;
  BufferRef keep_ = BufferRef::adopt(pool_.allocate());
  wire::Header header_;
  Replicator replicator_;
  std::vector<std::uint8_t> links_;
  std::vector<Copy> copies_;
};

TEST_F(ReplicatorTest, AHeaderPerCopyAndOnePayload) {
  EXPECT_EQ(replicate(1ULL << 63 | 1ULL << 5 | 1ULL), 3U);
  EXPECT_EQ(links_, (std::vector<std::uint8_t>{0, 5, 63}));
  EXPECT_EQ(pool_.references(), 4U);
  for (Copy& copy : copies_) {
    EXPECT_EQ(std::memcmp(&copy.header, &header_, sizeof header_), 0);
    EXPECT_EQ(copy.payload, keep_.data() + kHeaderBytes);
    EXPECT_EQ(copy.payload_bytes, 100U);
    copy.header.session = 0xff;  // What a link stamps must not show in another copy.
  }
  EXPECT_EQ(header_.round, 0U);
}

TEST_F(ReplicatorTest, ThePayloadLivesAsLongAsTheLastCopy) {
  replicate(0b11);
  keep_.reset();
  EXPECT_TRUE(pool_.in_use());
  copies_.erase(copies_.begin());
  EXPECT_TRUE(pool_.in_use());
  copies_.clear();
  EXPECT_FALSE(pool_.in_use());
}

TEST_F(ReplicatorTest, CountsCopiesAndTheBytesThatSharingSaves) {
  replicate(0);
  EXPECT_EQ(replicator_.counters().packets.get(), 0U);
  EXPECT_EQ(replicator_.counters().payload_bytes_saved.get(), 0U);
  replicate(0b1);
  EXPECT_EQ(replicator_.counters().payload_bytes_saved.get(), 0U);
  replicate(0b111);
  EXPECT_EQ(replicator_.counters().packets.get(), 2U);
  EXPECT_EQ(replicator_.counters().copies.get(), 4U);
  EXPECT_EQ(replicator_.counters().payload_bytes_saved.get(), 200U);
}

TEST_F(ReplicatorTest, WithoutABufferThePayloadIsTheCallersOwn) {
  const std::array<std::byte, 8> own{};
  replicator_.replicate(header_, own.data(), 8, BufferRef(), 0b1, [&](std::uint8_t, Copy&& copy) {
    EXPECT_EQ(copy.payload, own.data());
    EXPECT_FALSE(copy.keep);
  });
}

}  // namespace
}  // namespace tombolo::multicast
