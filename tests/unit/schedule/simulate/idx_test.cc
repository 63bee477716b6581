#include "schedule/simulate/idx.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace tombolo::schedule {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// What gzip makes of the bytes.
Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

const Bytes kTwoImages{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 10, 11, 12, 13, 14, 255};

void expect_error(const Bytes& bytes, const std::string& said) {
  const auto idx = parse_idx(bytes, "file");
  ASSERT_FALSE(idx.ok()) << said;
  EXPECT_EQ(idx.error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(idx.error().message.starts_with("file: ")) << idx.error().message;
  EXPECT_NE(idx.error().message.find(said), std::string::npos) << idx.error().message;
}

TEST(Idx, ReadsPlainAndGzippedFiles) {
  for (const Bytes& bytes : {kTwoImages, gzip(kTwoImages)}) {
    const auto idx = parse_idx(bytes, "file");
    ASSERT_TRUE(idx.ok()) << idx.error().message;
    EXPECT_EQ(idx->dimensions, (std::vector<std::uint32_t>{2, 1, 3}));
    EXPECT_EQ(idx->values, (Bytes{10, 11, 12, 13, 14, 255}));
  }
}

TEST(Idx, ErrorsNameWhatIsWrong) {
  expect_error({}, "not an IDX file");
  expect_error({0, 0, 8}, "not an IDX file");
  expect_error({0, 1, 8, 1, 0, 0, 0, 1, 7}, "not an IDX file");
  expect_error({0, 0, 9, 1, 0, 0, 0, 1, 7}, "type 0x09");
  expect_error({0, 0, 8, 0}, "0 dimensions");
  expect_error({0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7}, "4 dimensions");
  expect_error({0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0}, "ends within its dimensions");
  expect_error({0, 0, 8, 1, 0, 0, 0, 0}, "dimension 0 is 0");
  expect_error({0, 0, 8, 1, 0, 0, 0, 2, 7}, "1 values where its dimensions say 2");
  expect_error({0, 0, 8, 1, 0, 0, 0, 1, 7, 7}, "2 values where its dimensions say 1");
}

TEST(Idx, ProductOfDimensionsCannotOverflow) {
  // (2^32 - 1)^3 wraps around to a small number in 64 bits.
  Bytes bytes{0, 0, 8, 3};
  bytes.insert(bytes.end(), 12, 255);
  expect_error(bytes, "dimension 0 is 4294967295");
}

TEST(Idx, DamagedGzipIsRefused) {
  const Bytes packed = gzip(kTwoImages);
  for (std::size_t bytes = 2; bytes < packed.size(); ++bytes)
    expect_error({packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(bytes)}, "gzip");
  Bytes changed = packed;
  changed[packed.size() - 6] ^= 1;  // The checksum.
  expect_error(changed, "gzip");
  Bytes longer = packed;
  longer.push_back(0);
  expect_error(longer, "1 bytes behind the gzip data");
}

TEST(Idx, UnpackingStopsAtTheLimit) { expect_error(gzip(Bytes(kMaxIdxBytes + 1)), "unpacks to more than"); }

TEST(Idx, MissingFileIsNamed) {
  const auto idx = load_idx("/nonexistent/images.gz");
  ASSERT_FALSE(idx.ok());
  EXPECT_EQ(idx.error().code, ErrorCode::kNotFound);
  EXPECT_NE(idx.error().message.find("/nonexistent/images.gz"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::schedule
