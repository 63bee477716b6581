#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace tombolo::control {

/// The newest of something, handed from the one thread that makes it to any that look at it.
template <typename T>
class Latest {
 public:
  void put(T value) {
    auto next = std::make_shared<const T>(std::move(value));
    const std::lock_guard lock(mutex_);
    value_.swap(next);
  }
  /// nullptr before the first put(); stays as it is while it is held.
  std::shared_ptr<const T> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace tombolo::control
