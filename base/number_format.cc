#include "base/number_format.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace tombolo {
namespace {

/// By NumberFormat.
constexpr std::array<std::string_view, kNumberFormats> kFormatNames{
    "none", "fp32", "bf16", "fp16", "int32", "mxint8", "mxfp8_e4m3", "mxfp8_e5m2"};

/// By NonFinitePolicy.
constexpr std::array<std::string_view, kNonFinitePolicies> kPolicyNames{"propagate", "zero", "reject"};

}  // namespace

std::uint32_t chunk_elements_for(std::span<const NumberFormat> formats, std::uint32_t payload) {
  CHECK(!formats.empty());
  std::uint64_t elements = payload;  // No format has less than a byte for each.
  for (const NumberFormat format : formats) elements = std::min(elements, elements_within(format, payload));
  return static_cast<std::uint32_t>(elements / kChunkElementStep * kChunkElementStep);
}

std::string_view name(NumberFormat format) { return kFormatNames[static_cast<std::size_t>(format)]; }

std::optional<NumberFormat> number_format(std::string_view name) {
  for (std::size_t i = 1; i < kFormatNames.size(); ++i)
    if (kFormatNames[i] == name) return static_cast<NumberFormat>(i);
  return std::nullopt;
}

std::string_view number_format_names() { return "fp32, bf16, fp16, int32, mxint8, mxfp8_e4m3, mxfp8_e5m2"; }

std::string_view name(NonFinitePolicy policy) { return kPolicyNames[static_cast<std::size_t>(policy)]; }

std::optional<NonFinitePolicy> non_finite_policy(std::string_view name) {
  for (std::size_t i = 0; i < kPolicyNames.size(); ++i)
    if (kPolicyNames[i] == name) return static_cast<NonFinitePolicy>(i);
  return std::nullopt;
}

}  // namespace tombolo
