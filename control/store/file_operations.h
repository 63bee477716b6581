#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

namespace tombolo::control {

/// The system calls by which a file is replaced, one by one, so that a test can let each of them fail. They
/// return what the calls return and set errno.
class FileOperations {
 public:
  virtual ~FileOperations() = default;
  virtual int open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
  virtual ssize_t write(int file, const void* data, std::size_t bytes) { return ::write(file, data, bytes); }
  virtual int fsync(int file) { return ::fsync(file); }
  virtual int close(int file) { return ::close(file); }
  virtual int rename(const char* from, const char* to) { return ::rename(from, to); }
};

}  // namespace tombolo::control
