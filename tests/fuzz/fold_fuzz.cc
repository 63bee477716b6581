#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "aggregation/fold/kernel.h"
#include "aggregation/fold/kind_table.h"
#include "base/check.h"
#include "tests/fuzz/fuzz_target.h"

namespace tombolo::fold {
namespace {

/// Reads an input from its beginning, and again from there where it ends.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | T{next()} << (8 * i));
    return value;
  }
  std::uint8_t next() {
    const std::uint8_t byte = bytes_[at_];
    at_ = (at_ + 1) % bytes_.size();
    return byte;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// The kinds of fold that there are.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> defined;
    for (std::size_t i = 0; i < kKinds; ++i)
      if (is_entry(i)) defined.push_back(kind_at(i));
    return defined;
  }();
  return all;
}

struct Result {
  std::vector<std::byte> payload;
  Findings findings;
};

Result run(const Kind& kind, Call call, InstructionSet set) {
  Result result;
  result.payload.resize(payload_bytes(output_format(kind), call.elements));
  call.out = result.payload.data();
  call.findings = &result.findings;
  select(kind, set)(call);
  return result;
}

/// Every instruction set of this machine gives what the reference gives.
void check_all_agree(const Kind& kind, const Call& call) {
  const Result expected = run(kind, call, InstructionSet::kScalar);
  for (const InstructionSet set : kInstructionSets) {
    if (!is_available(set)) continue;
    const Result result = run(kind, call, set);
    CHECK(result.payload == expected.payload);
    CHECK(result.findings.non_finite == expected.findings.non_finite);
    CHECK(result.findings.saturated == expected.findings.saturated);
  }
}

void fold_bytes(std::span<const std::uint8_t> bytes) {
  Reader reader(bytes);
  const Kind kind = kinds()[reader.number<std::uint16_t>() % kinds().size()];
  Call call;
  call.input_count = 1 + reader.next() % kMaxInputs;
  call.elements = reader.number<std::uint16_t>() % 300;
  call.divisor = 1 + reader.next();
  const std::uint8_t choices = reader.next();
  call.partial_inputs = choices % 2 == 0 ? 0 : reader.number<std::uint64_t>();
  call.cold = choices / 2 % 2 != 0;
  std::vector<float> weights;
  std::vector<std::vector<std::byte>> payloads;
  std::vector<const std::byte*> inputs;
  for (std::size_t i = 0; i < call.input_count; ++i) {
    std::uint32_t weight = reader.number<std::uint32_t>();
    if ((weight & 0x7f800000) == 0x7f800000) weight &= ~std::uint32_t{0x00800000};  // Weights are finite.
    weights.push_back(std::bit_cast<float>(weight));
    const bool partial = (call.partial_inputs >> i & 1) != 0;
    auto& payload =
        payloads.emplace_back(payload_bytes(partial ? partial_format(kind) : kind.input, call.elements));
    std::generate(payload.begin(), payload.end(), [&] { return std::byte{reader.next()}; });
    inputs.push_back(payload.data());
  }
  call.inputs = inputs.data();
  call.weights = weights.data();
  check_all_agree(kind, call);
}

}  // namespace
}  // namespace tombolo::fold

/// The bytes choose a kind of fold and are its inputs, over and over.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  tombolo::fold::fold_bytes({data, size});
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  // One per kind, so that each is begun with: two inputs, 100 elements, a divisor of 2, plain inputs, then a
  // mix of ordinary numbers, zeros of both signs, and the highest exponents of every format.
  std::vector<std::string> seeds;
  for (std::size_t kind = 0; kind < fold::kinds().size(); ++kind) {
    std::string seed = {static_cast<char>(kind), static_cast<char>(kind >> 8), 1, 100, 0, 1, 0};
    for (int i = 0; i < 61; ++i) seed.push_back(static_cast<char>(i * 37 + 11));
    for (const int byte :
         {0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0x80, 0x7f, 0x7f, 0x7c, 0xfc, 0xff, 0x7f})
      seed.push_back(static_cast<char>(byte));
    seeds.push_back(std::move(seed));
  }
  return seeds;
}
