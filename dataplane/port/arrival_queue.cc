#include "dataplane/port/arrival_queue.h"

#include <algorithm>

namespace tombolo::dataplane {
namespace {

bool later(const Frame* a, const Frame* b) {
  return a->arrival_ns != b->arrival_ns ? a->arrival_ns > b->arrival_ns : a->order > b->order;
}

}  // namespace

void ArrivalQueue::push(Frame* frame) {
  frame->order = pushed_++;
  frame->next = nullptr;
  if (first_ == nullptr) {
    first_ = last_ = frame;
  } else if (frame->arrival_ns >= last_->arrival_ns) {
    last_->next = frame;
    last_ = frame;
  } else {
    if (overtakers_.size() == overtakers_.capacity()) growths_.add();
    overtakers_.push_back(frame);
    std::push_heap(overtakers_.begin(), overtakers_.end(), later);
  }
  if (frame->arrival_ns < next_arrival_ns())
    next_arrival_ns_.store(frame->arrival_ns, std::memory_order_relaxed);
}

Frame* ArrivalQueue::pop(Nanoseconds now_ns) {
  if (next_arrival_ns() > now_ns) return nullptr;
  Frame* frame = first_;
  if (!overtakers_.empty() && (frame == nullptr || later(frame, overtakers_.front()))) {
    frame = overtakers_.front();
    std::pop_heap(overtakers_.begin(), overtakers_.end(), later);
    overtakers_.pop_back();
  } else if (frame != nullptr) {
    first_ = frame->next;
  }
  publish_next();
  return frame;
}

void ArrivalQueue::publish_next() {
  Nanoseconds next_ns = first_ != nullptr ? first_->arrival_ns : kNever;
  if (!overtakers_.empty()) next_ns = std::min(next_ns, overtakers_.front()->arrival_ns);
  next_arrival_ns_.store(next_ns, std::memory_order_relaxed);
}

}  // namespace tombolo::dataplane
