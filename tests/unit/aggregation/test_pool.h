#pragma once

#include <cstddef>
#include <set>

#include "protocol/buffer.h"

namespace tombolo::aggregation {

/// Makes a buffer per request and knows which are in use, so that a test can see a leak or a double return.
class TestPool final : public BufferPool {
 public:
  ~TestPool() override {
    for (Buffer* buffer : in_use_) delete_buffer(buffer);
  }
  Buffer* allocate() override {
    auto* buffer = new Buffer{new std::byte[kBytes], kBytes, 1, this};
    in_use_.insert(buffer);
    return buffer;
  }
  void recycle(Buffer* buffer) override {
    CHECK(in_use_.erase(buffer) == 1);
    delete_buffer(buffer);
  }
  std::size_t in_use() const { return in_use_.size(); }

 private:
  static constexpr std::size_t kBytes = 64;
  static void delete_buffer(Buffer* buffer) {
    delete[] buffer->data;
    delete buffer;
  }
  std::set<Buffer*> in_use_;
};

}  // namespace tombolo::aggregation
