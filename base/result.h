#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace tombolo {

/// What kind of failure an Error is. A program maps these to its exit codes.
enum class ErrorCode {
  kInvalidInput,  ///< A file, option or message from outside is wrong.
  kNotFound,      ///< A named thing does not exist.
  kNotSupported,  ///< Valid, but this version cannot do it yet.
  kUnavailable,   ///< A resource (memory, port, peer) is missing or full.
  kDeadline,      ///< Time ran out.
  kFailed,        ///< An operation ran and did not hold.
};

/// A failure with its whole story: what, where, what to do.
struct Error {
  ErrorCode code = ErrorCode::kFailed;
  std::string message;

  /// Puts `where` before the message; used as an error rises through layers.
  [[nodiscard]] Error within(const std::string& where) && {
    return Error{code, where + ": " + std::move(message)};
  }
};

[[nodiscard]] inline Error invalid_input(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message)};
}

/// A value or an Error (g++ 12 has no std::expected). For code off the hot path.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    CHECK(ok());
    return std::get<T>(state_);
  }
  T& value() & {
    CHECK(ok());
    return std::get<T>(state_);
  }
  T&& value() && {
    CHECK(ok());
    return std::get<T>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const& {
    CHECK(!ok());
    return std::get<Error>(state_);
  }
  Error&& error() && {
    CHECK(!ok());
    return std::get<Error>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
struct Unit {};
using Status = Result<Unit>;
[[nodiscard]] inline Status ok_status() { return Unit{}; }

}  // namespace tombolo
