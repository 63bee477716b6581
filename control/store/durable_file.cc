#include "control/store/durable_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "base/check.h"
#include "protocol/wire/crc.h"

namespace tombolo::control {
namespace {

// Layout: magic (8), kind (8, filled with spaces), content length (8, little-endian), content, CRC32C (4,
// little-endian) of everything before it.
constexpr std::string_view kMagic = "TOMBOLO1";
constexpr std::size_t kKindBytes = 8;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kHeaderBytes = kMagic.size() + kKindBytes + kLengthBytes;
constexpr std::size_t kCrcBytes = 4;
/// More than the largest plan; a larger file is none of ours.
constexpr std::size_t kMaxFileBytes = 128U << 20;
constexpr mode_t kFileMode = 0600;

void append_number(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

std::uint32_t crc_of(std::string_view bytes) {
  return wire::crc32c(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

FileOperations& system_operations() {
  static FileOperations operations;
  return operations;
}

std::string padded_kind(std::string_view name) {
  std::string padded(name);
  padded.resize(kKindBytes, ' ');
  return padded;
}

}  // namespace

DurableFile::DurableFile(std::string path, FileKind kind, FileOperations* operations)
    : path_(std::move(path)),
      kind_(kind),
      operations_(operations != nullptr ? operations : &system_operations()) {
  CHECK(kind_.name.size() <= kKindBytes);
}

Error DurableFile::failure(std::string_view step) const {
  return Error{ErrorCode::kUnavailable, fmt::format("{}: cannot {}: {}", path_, step, std::strerror(errno))};
}

Error DurableFile::damaged(std::string_view what) const {
  return Error{ErrorCode::kFailed, fmt::format("{}: {}; {}", path_, what, kind_.advice)};
}

Status DurableFile::write(std::string_view content) {
  std::string framed;
  framed.reserve(kHeaderBytes + content.size() + kCrcBytes);
  framed.append(kMagic).append(padded_kind(kind_.name));
  append_number(framed, content.size(), kLengthBytes);
  framed.append(content);
  append_number(framed, crc_of(framed), kCrcBytes);

  const std::string new_path = path_ + ".new";
  if (Status written = write_new(new_path, framed); !written) return written;
  if (operations_->rename(new_path.c_str(), path_.c_str()) != 0) return failure("replace the file");
  return sync_folder();
}

/// A left-over of a crash is overwritten; a failure leaves it for the next attempt.
Status DurableFile::write_new(const std::string& new_path, std::string_view framed) {
  const int file = operations_->open(new_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
  if (file < 0) return failure("create its successor");
  Status status = ok_status();
  while (status && !framed.empty()) {
    const ssize_t written = operations_->write(file, framed.data(), framed.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      status = failure("write its successor");
    else
      framed.remove_prefix(static_cast<std::size_t>(written));
  }
  if (status && operations_->fsync(file) != 0) status = failure("flush its successor");
  if (operations_->close(file) != 0 && status) status = failure("close its successor");
  return status;
}

/// The new name itself is on the disk only once the folder is.
Status DurableFile::sync_folder() {
  const std::size_t slash = path_.rfind('/');
  const std::string folder_path = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const int folder = operations_->open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) return failure("open its folder");
  Status status = ok_status();
  if (operations_->fsync(folder) != 0) status = failure("flush its folder");
  operations_->close(folder);
  return status;
}

Result<std::optional<std::string>> DurableFile::read() const {
  const auto close_file = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close_file)> file(std::fopen(path_.c_str(), "rbe"), close_file);
  if (!file) {
    if (errno == ENOENT) return std::optional<std::string>();
    return failure("open the file");
  }
  std::string bytes;
  std::array<char, 65536> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get())) {
    bytes.append(part.data(), count);
    if (bytes.size() > kMaxFileBytes) return damaged("is too large to be a state file");
  }
  if (std::ferror(file.get()) != 0) return failure("read the file");

  if (!std::string_view(bytes).starts_with(kMagic))
    return damaged("is damaged or of another version (its first bytes are wrong)");
  if (bytes.size() < kHeaderBytes + kCrcBytes) return damaged("is damaged (cut off)");
  const std::size_t crc_at = bytes.size() - kCrcBytes;
  if (number_at(bytes, kMagic.size() + kKindBytes, kLengthBytes) != crc_at - kHeaderBytes)
    return damaged("is damaged (its length is wrong)");
  if (number_at(bytes, crc_at, kCrcBytes) != crc_of(std::string_view(bytes).substr(0, crc_at)))
    return damaged("is damaged (its checksum is wrong)");
  if (bytes.compare(kMagic.size(), kKindBytes, padded_kind(kind_.name)) != 0)
    return damaged(fmt::format("holds no {} state", kind_.name));
  return std::optional<std::string>(bytes.substr(kHeaderBytes, crc_at - kHeaderBytes));
}

}  // namespace tombolo::control
