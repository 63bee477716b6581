#pragma once

#include <cstdio>
#include <cstdlib>

namespace tombolo {

/// Ends the process because an invariant of the program itself is broken.
/// Input from outside never leads here: it is refused with an Error or a counted drop.
[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
  std::abort();
}

}  // namespace tombolo

/// Holds in release builds too.
#define CHECK(expression)                                       \
  do {                                                          \
    if (!(expression)) [[unlikely]]                             \
      ::tombolo::check_failed(#expression, __FILE__, __LINE__); \
  } while (false)
