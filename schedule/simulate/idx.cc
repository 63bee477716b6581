#include "schedule/simulate/idx.h"

#include <fmt/format.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <utility>

namespace tombolo::schedule {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::uint8_t kUnsignedBytes = 0x08;  ///< The type of the values.
constexpr std::uint8_t kMaxDimensions = 3;
/// zlib: the largest window, and a gzip header is expected (zlib.h, inflateInit2).
constexpr int kGzipWindow = 15 + 16;

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/// Unpacks one gzip member that is the whole input. The output grows as it is needed: the header's own claim
/// about its size is not believed.
Result<std::vector<std::uint8_t>> unpack(std::span<const std::uint8_t> bytes, const std::string& file_name) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK)
    return Error{ErrorCode::kUnavailable, file_name + ": no memory to unpack it"};
  std::vector<std::uint8_t> out;
  std::vector<std::uint8_t> piece(std::size_t{1} << 16);
  stream.next_in = const_cast<Bytef*>(bytes.data());  // zlib reads only.
  stream.avail_in = static_cast<uInt>(bytes.size());
  int state = Z_OK;
  while (state == Z_OK && out.size() <= kMaxIdxBytes) {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.insert(out.end(), piece.begin(), piece.end() - stream.avail_out);
  }
  const std::size_t behind = stream.avail_in;
  inflateEnd(&stream);
  if (out.size() > kMaxIdxBytes)
    return invalid_input(fmt::format("{}: unpacks to more than {} bytes", file_name, kMaxIdxBytes));
  if (state != Z_STREAM_END) return invalid_input(file_name + ": the gzip data are damaged or end early");
  if (behind != 0) return invalid_input(fmt::format("{}: {} bytes behind the gzip data", file_name, behind));
  return out;
}

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         std::uint32_t{bytes[3]};
}

Result<Idx> parse_plain(std::span<const std::uint8_t> bytes, const std::string& file_name) {
  if (bytes.size() < kHeaderBytes || bytes[0] != 0 || bytes[1] != 0)
    return invalid_input(file_name + ": not an IDX file");
  if (bytes[2] != kUnsignedBytes)
    return invalid_input(fmt::format("{}: values of type {:#04x}; only bytes ({:#04x}) are read", file_name,
                                     bytes[2], kUnsignedBytes));
  const std::size_t count = bytes[3];
  if (count < 1 || count > kMaxDimensions)
    return invalid_input(fmt::format("{}: {} dimensions; must be 1 to {}", file_name, count, kMaxDimensions));
  bytes = bytes.subspan(kHeaderBytes);
  if (bytes.size() < count * sizeof(std::uint32_t))
    return invalid_input(file_name + ": ends within its dimensions");
  Idx idx;
  std::uint64_t values = 1;
  for (std::size_t d = 0; d < count; ++d) {
    idx.dimensions.push_back(big_endian(bytes));
    bytes = bytes.subspan(sizeof(std::uint32_t));
    values *= idx.dimensions.back();
    // Checked at each step, so that the product cannot overflow.
    if (values == 0 || values > kMaxIdxBytes)
      return invalid_input(fmt::format("{}: dimension {} is {}; a file holds 1 to {} values", file_name, d,
                                       idx.dimensions.back(), kMaxIdxBytes));
  }
  if (bytes.size() != values)
    return invalid_input(
        fmt::format("{}: {} values where its dimensions say {}", file_name, bytes.size(), values));
  idx.values.assign(bytes.begin(), bytes.end());
  return idx;
}

}  // namespace

Result<Idx> parse_idx(std::span<const std::uint8_t> bytes, const std::string& file_name) {
  if (bytes.size() > kMaxIdxBytes)
    return invalid_input(fmt::format("{}: more than {} bytes", file_name, kMaxIdxBytes));
  if (!is_gzip(bytes)) return parse_plain(bytes, file_name);
  const auto unpacked = unpack(bytes, file_name);
  if (!unpacked) return unpacked.error();
  return parse_plain(*unpacked, file_name);
}

Result<Idx> load_idx(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kNotFound, path + ": cannot be read"};
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return Error{ErrorCode::kNotFound, path + ": cannot be read"};
  return parse_idx(bytes, path);
}

}  // namespace tombolo::schedule
