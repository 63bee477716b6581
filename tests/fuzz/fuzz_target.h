#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What every `*_fuzz.cc` defines. The first name is libFuzzer's: it runs the code under test on one input
/// and ends the process (CHECK) when a property does not hold; it returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tombolo::fuzz {

/// Valid inputs to start from, for formats that no file in the repository is an example of. May be empty.
std::vector<std::string> seed_inputs();

}  // namespace tombolo::fuzz
