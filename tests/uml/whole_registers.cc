// Preloaded into user-mode Linux, so that it starts on processors whose register state is larger than it
// knows.
//
// User-mode Linux 6.1 saves and restores a process's vector registers by ptrace(), in a buffer of fixed size.
// A host reads into less than the whole, but writes only the whole: on a processor with AMX (11,008 bytes)
// every restore would fail. Here the missing end is filled in with what the process has there, which its
// programs do not use.
#include <dlfcn.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

/// More than any processor's XSAVE area.
constexpr std::size_t kMostBytes = 65536;

using Ptrace = long (*)(int request, pid_t process, void* address, void* data);

long set_whole(Ptrace ptrace_of_libc, pid_t process, void* kind, const iovec& given) {
  alignas(64) static std::array<std::byte, kMostBytes> state;
  iovec whole{state.data(), state.size()};
  const long read = ptrace_of_libc(PTRACE_GETREGSET, process, kind, &whole);
  if (read != 0) return read;
  // The kernel has set whole.iov_len to the length of all there is.
  std::memcpy(state.data(), given.iov_base, std::min(given.iov_len, whole.iov_len));
  return ptrace_of_libc(PTRACE_SETREGSET, process, kind, &whole);
}

}  // namespace

extern "C" long ptrace(__ptrace_request request, ...) noexcept {
  static const auto ptrace_of_libc = reinterpret_cast<Ptrace>(::dlsym(RTLD_NEXT, "ptrace"));
  std::va_list arguments;
  va_start(arguments, request);
  const auto process = va_arg(arguments, pid_t);
  void* const address = va_arg(arguments, void*);
  void* const data = va_arg(arguments, void*);
  va_end(arguments);
  if (request == PTRACE_SETREGSET && reinterpret_cast<std::uintptr_t>(address) == NT_X86_XSTATE)
    return set_whole(ptrace_of_libc, process, address, *static_cast<const iovec*>(data));
  return ptrace_of_libc(request, process, address, data);
}
