#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace tombolo {

class BufferPool;

/// Room for one packet: its header at `data`, its payload 64 bytes behind and so 64-byte aligned.
/// Reference counts are plain integers: all holders of a buffer run on one worker at any time; a hand-over
/// to another worker goes through a queue and takes every reference along.
struct Buffer {
  std::byte* data = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t references = 0;
  BufferPool* pool = nullptr;
};

/// Where buffers come from and return to. Sized at start; empty is a counted outcome, never an abort.
/// A pool may be shared by an edge's workers: both calls are thread-safe.
class BufferPool {
 public:
  virtual ~BufferPool() = default;
  /// A buffer with one reference, or nullptr when none is left.
  virtual Buffer* allocate() = 0;
  /// Takes back a buffer that has no reference left.
  virtual void recycle(Buffer* buffer) = 0;
};

/// One reference to a Buffer; empty when default constructed. Payloads travel through the pipeline as
/// these handles: the logic shares and drops them and never copies bytes.
class BufferRef {
 public:
  BufferRef() = default;
  /// Adopts the reference that allocate() returned; nullptr gives an empty handle.
  static BufferRef adopt(Buffer* buffer) { return BufferRef(buffer); }

  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef&& other) noexcept {
    if (this != &other) {
      reset();
      buffer_ = std::exchange(other.buffer_, nullptr);
    }
    return *this;
  }
  BufferRef(const BufferRef&) = delete;
  BufferRef& operator=(const BufferRef&) = delete;
  ~BufferRef() { reset(); }

  /// A second handle to the same buffer.
  [[nodiscard]] BufferRef share() const {
    if (buffer_ != nullptr) ++buffer_->references;
    return BufferRef(buffer_);
  }
  /// Gives the reference up without dropping it, for a queue between workers; adopt() takes it again.
  [[nodiscard]] Buffer* detach() { return std::exchange(buffer_, nullptr); }
  void reset() {
    if (buffer_ == nullptr) return;
    CHECK(buffer_->references > 0);
    if (--buffer_->references == 0) buffer_->pool->recycle(buffer_);
    buffer_ = nullptr;
  }

  explicit operator bool() const { return buffer_ != nullptr; }
  std::byte* data() const { return buffer_->data; }
  std::uint32_t capacity() const { return buffer_->capacity; }
  /// Whether somebody else holds a reference too.
  bool is_shared() const { return buffer_->references > 1; }
  /// For ports, which need to know what memory a payload lies in; nullptr when empty.
  const Buffer* get() const { return buffer_; }

 private:
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) {}
  Buffer* buffer_ = nullptr;
};

}  // namespace tombolo
