#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <deque>
#include <utility>

namespace tombolo::control {

/// What one stream has to write: gRPC takes one message at a time, and needs it until it is written. Its
/// stream's lock guards it.
class WriteQueue {
 public:
  explicit WriteQueue(std::size_t most_waiting) : most_waiting_(most_waiting) {}

  /// False if too much waits already.
  bool push(grpc::ByteBuffer bytes) {
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(bytes));
    return true;
  }

  /// The message that is to be written now; nullptr while another is, or when none waits.
  const grpc::ByteBuffer* begin() {
    if (writing_ || waiting_.empty()) return nullptr;
    writing_ = true;
    outgoing_ = std::move(waiting_.front());
    waiting_.pop_front();
    return &outgoing_;
  }
  /// What begin() gave is written.
  void end() { writing_ = false; }

  bool writing() const { return writing_; }

 private:
  const std::size_t most_waiting_;
  std::deque<grpc::ByteBuffer> waiting_;
  grpc::ByteBuffer outgoing_;
  bool writing_ = false;
};

}  // namespace tombolo::control
