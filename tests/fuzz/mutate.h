#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace tombolo::fuzz {

/// The longest input that mutate makes: a jumbo packet and a little more.
inline constexpr std::size_t kMaxInputBytes = 8448;

/// An input made from `seeds` by a few random changes (bits, bytes, cuts, copies, splices), or random bytes
/// when there are no seeds and now and then anyway. The generator's state alone decides what comes out.
std::string mutate(const std::vector<std::string>& seeds, Random& random);

}  // namespace tombolo::fuzz
