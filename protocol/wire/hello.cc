#include "protocol/wire/hello.h"

#include <cstring>

#include "base/check.h"
#include "base/serial.h"
#include "protocol/wire/header.h"

namespace tombolo::wire {
namespace {

struct HelloPart {
  Le32 peer_session;
  Le32 next_sequence;
  Le32 first_sequence;
  Le32 echo_timestamp_us;
  Le32 echo_delay_us;
};
static_assert(sizeof(HelloPart) == kHelloBytes && alignof(HelloPart) == 1);

bool is_sound(const Hello& hello) { return serial_distance(hello.first_sequence, hello.next_sequence) >= 0; }

}  // namespace

std::size_t encode(const Hello& hello, std::span<std::byte> out) {
  CHECK(is_sound(hello));
  CHECK(out.size() >= kHelloBytes);
  const HelloPart part{hello.peer_session, hello.next_sequence, hello.first_sequence, hello.echo_timestamp_us,
                       hello.echo_delay_us};
  std::memcpy(out.data(), &part, sizeof(part));
  return kHelloBytes;
}

bool parse(std::span<const std::byte> payload, Hello& hello) {
  if (payload.size() != kHelloBytes) return false;
  HelloPart part;
  std::memcpy(&part, payload.data(), sizeof(part));
  hello = {part.peer_session, part.next_sequence, part.first_sequence, part.echo_timestamp_us,
           part.echo_delay_us};
  return is_sound(hello);
}

}  // namespace tombolo::wire
