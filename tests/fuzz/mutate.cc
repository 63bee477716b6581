#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>

namespace tombolo::fuzz {
namespace {

char random_byte(Random& random) {
  // The values at which comparisons change are drawn more often than chance would.
  constexpr std::array<int, 8> kEdges{0, 1, 0x20, 0x3f, 0x40, 0x7f, 0x80, 0xff};
  return static_cast<char>(random.chance(0.3) ? kEdges[random.below(kEdges.size())]
                                              : static_cast<int>(random.below(256)));
}

std::string random_bytes(Random& random) {
  std::string bytes(random.below(200), '\0');
  for (char& byte : bytes) byte = random_byte(random);
  return bytes;
}

/// A part of `text`, of at most `limit` bytes.
std::string some_part(const std::string& text, std::size_t limit, Random& random) {
  const std::size_t start = random.below(text.size() + 1);
  return text.substr(start, random.below(std::min(limit, text.size() - start) + 1));
}

void change(std::string& input, const std::vector<std::string>& seeds, Random& random) {
  const std::size_t at = random.below(input.size() + 1);
  switch (random.below(8)) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random.below(8)));
      break;
    case 1:
    case 2:
      if (at < input.size()) input[at] = random_byte(random);
      break;
    case 3:
      input.insert(at, 1 + random.below(4), random_byte(random));
      break;
    case 4:
      input.erase(at, 1 + random.below(8));
      break;
    case 5:
      input.insert(at, some_part(input, 64, random));
      break;
    case 6:
      input.resize(at);
      break;
    case 7:
      input.replace(at, 16, some_part(seeds[random.below(seeds.size())], 64, random));
      break;
  }
}

}  // namespace

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
  if (seeds.empty() || random.chance(0.02)) return random_bytes(random);
  std::string input = seeds[random.below(seeds.size())];
  const std::uint64_t changes = 1 + random.below(5);
  for (std::uint64_t i = 0; i < changes; ++i) change(input, seeds, random);
  if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
  return input;
}

}  // namespace tombolo::fuzz
