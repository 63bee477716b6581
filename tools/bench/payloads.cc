#include "tools/bench/payloads.h"

#include <array>

#include "aggregation/fold/format.h"
#include "aggregation/fold/kernel.h"
#include "base/random.h"

namespace tombolo::bench {
namespace {

struct Name {
  wire::Format format;
  const char* name;
};
constexpr std::array kNames{
    Name{wire::Format::kFp32, "fp32"},           Name{wire::Format::kBf16, "bf16"},
    Name{wire::Format::kFp16, "fp16"},           Name{wire::Format::kInt32, "int32"},
    Name{wire::Format::kMxInt8, "mxint8"},       Name{wire::Format::kMxFp8E4M3, "mxfp8-e4m3"},
    Name{wire::Format::kMxFp8E5M2, "mxfp8-e5m2"}};

}  // namespace

std::vector<wire::Format> all_formats() {
  std::vector<wire::Format> formats;
  for (const Name& known : kNames) formats.push_back(known.format);
  return formats;
}

std::string format_name(wire::Format format) {
  for (const Name& known : kNames)
    if (known.format == format) return known.name;
  return "none";
}

Result<wire::Format> parse_format(std::string_view name) {
  std::string list;
  for (const Name& known : kNames) {
    if (name == known.name) return known.format;
    list += (list.empty() ? "" : ", ") + std::string(known.name);
  }
  return invalid_input("unknown format \"" + std::string(name) + "\": use one of " + list);
}

std::size_t elements_in(wire::Format format, std::size_t bytes) {
  constexpr std::size_t kStep = fold::kMxBlockElements;
  const std::size_t step_bytes = fold::payload_bytes(format, kStep);
  return step_bytes == 0 ? 0 : bytes / step_bytes * kStep;
}

std::vector<std::byte> make_payload(wire::Format format, std::size_t elements, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(elements);
  const double size = format == wire::Format::kInt32 ? 1e6 : 1;
  // The sum of uniform draws is nearly normal: values of different exponents, most of them near 1.
  for (float& value : values)
    value = static_cast<float>(size * (random.unit() + random.unit() + random.unit() + random.unit() - 2));
  std::vector<std::byte> payload(fold::payload_bytes(format, elements));
  fold::encode(format, values.data(), elements, payload.data());
  return payload;
}

}  // namespace tombolo::bench
