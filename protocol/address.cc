#include "protocol/address.h"

#include <fmt/format.h>

namespace tombolo {

std::string to_string(const Address& address) {
  return fmt::format("{}.{}.{}.{}:{}", address.ipv4 >> 24, (address.ipv4 >> 16) & 255,
                     (address.ipv4 >> 8) & 255, address.ipv4 & 255, address.base_port);
}

}  // namespace tombolo
