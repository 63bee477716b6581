#include "protocol/mapped_memory.h"

#include <sys/mman.h>

namespace tombolo {

MappedMemory MappedMemory::map(std::size_t bytes) {
  MappedMemory memory;
  void* start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return memory;
  memory.data_ = static_cast<std::byte*>(start);
  memory.bytes_ = bytes;
  return memory;
}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace tombolo
