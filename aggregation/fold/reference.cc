#include "aggregation/fold/reference.h"

#include <bit>

#include "base/check.h"

namespace tombolo::fold {

void reference_fold(std::span<const float* const> inputs, std::size_t elements, wire::Operation operation,
                    float* out) {
  CHECK(!inputs.empty());
  CHECK(operation == wire::Operation::kSum || operation == wire::Operation::kMean);
  for (std::size_t element = 0; element < elements; ++element) {
    float value = inputs[0][element];
    for (std::size_t input = 1; input < inputs.size(); ++input) value += inputs[input][element];
    if (operation == wire::Operation::kMean) value /= static_cast<float>(inputs.size());
    // Which NaN an addition returns depends on the order of its operands, which compilers are free to swap.
    if (value != value) value = std::bit_cast<float>(kCanonicalNan);
    out[element] = value;
  }
}

}  // namespace tombolo::fold
