#pragma once

#include <cstddef>
#include <utility>

namespace tombolo {

/// A page-aligned, zeroed region from the kernel, of huge pages where there are some. Address space is
/// reserved at once; a page costs memory only when it is first touched, so a generous region is free until it
/// is needed.
class MappedMemory {
 public:
  MappedMemory() = default;
  /// An empty region (data() is nullptr) when the kernel refuses; errno says why.
  static MappedMemory map(std::size_t bytes);

  MappedMemory(MappedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tombolo
