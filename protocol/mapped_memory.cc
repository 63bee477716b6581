#include "protocol/mapped_memory.h"

#include <sys/mman.h>

namespace tombolo {
namespace {

constexpr std::size_t kHugePageBytes = 2 << 20;

}  // namespace

MappedMemory MappedMemory::map(std::size_t bytes) {
  MappedMemory memory;
  void* start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return memory;
  // What is gone through chunk by chunk would miss its address translations as often as its bytes. A kernel
  // that has no huge pages refuses, and nothing is lost.
  if (bytes >= kHugePageBytes) ::madvise(start, bytes, MADV_HUGEPAGE);
  memory.data_ = static_cast<std::byte*>(start);
  memory.bytes_ = bytes;
  return memory;
}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace tombolo
