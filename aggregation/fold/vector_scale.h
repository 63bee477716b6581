#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

/// The scales of Microscaling blocks as floats, by their code.
namespace tombolo::fold {
namespace {

struct ScaleTable {
  float value[256];
};

/// 2^power in every bit that fp32 has for it, subnormals included; power >= -149.
constexpr float power_of_two(int power) {
  if (power < -126) return std::bit_cast<float>(std::uint32_t{1} << (power + 149));
  return std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
}

/// [s]: 2^(s - 127 + shift); NaN for the code 0xff.
constexpr ScaleTable make_scales(int shift) {
  ScaleTable table{};
  for (int s = 0; s < 255; ++s) table.value[s] = power_of_two(s - 127 + shift);
  table.value[255] = std::bit_cast<float>(std::uint32_t{0x7fc00000});
  return table;
}

constexpr ScaleTable kScales = make_scales(0);
/// With the unit of an int8 element, 2^-6, in it: the product is the same, and one multiplication is saved.
constexpr ScaleTable kInt8Scales = make_scales(-6);

/// [s]: 2^(127 - s), what a value is multiplied by to be written with the scale s.
constexpr ScaleTable make_inverse_scales() {
  ScaleTable table{};
  for (int s = 0; s < 255; ++s) table.value[s] = power_of_two(127 - s);
  return table;
}
constexpr ScaleTable kInverseScales = make_inverse_scales();

}  // namespace
}  // namespace tombolo::fold
