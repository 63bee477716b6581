#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "aggregation/fold/kernel.h"

/// Numbers every kind of fold, so that a code path is a table of functions.
namespace tombolo::fold {

inline constexpr std::size_t kFormats = 8;
inline constexpr std::size_t kOperations = 6;
inline constexpr std::size_t kKinds = kFormats * kFormats * kOperations * 2 * 2;

using FoldTable = std::array<FoldFunction, kKinds>;

/// The same kind with its formats written out.
constexpr Kind written_out(const Kind& kind) {
  return {kind.input, output_format(kind), kind.operation, partial_format(kind), kind.finish};
}

/// Whether a fold of this kind is defined. int32 is not weighted: weights are fp32, its sums are exact.
constexpr bool is_defined(const Kind& kind) {
  const wire::Format output = output_format(kind);
  if (kind.operation < wire::Operation::kSum || kind.operation > wire::Operation::kMax) return false;
  if (kind.input == wire::Format::kInt32)
    return output == wire::Format::kInt32 && kind.operation != wire::Operation::kWeighted;
  return is_floating(kind.input) && is_floating(output) &&
         (kind.partial == wire::Format::kFp32 || kind.partial == kind.input);
}

/// Where a defined kind stands in a table.
constexpr std::size_t index_of(const Kind& kind) {
  const auto input = static_cast<std::size_t>(kind.input);
  const auto output = static_cast<std::size_t>(output_format(kind));
  const auto operation = static_cast<std::size_t>(kind.operation);
  const std::size_t own_partial = partial_format(kind) == kind.input ? 1 : 0;
  return (((input * kFormats + output) * kOperations + operation) * 2 + own_partial) * 2 +
         (kind.finish ? 1 : 0);
}

/// The kind of an index, written out; not all are defined.
constexpr Kind kind_at(std::size_t index) {
  const auto input = static_cast<wire::Format>(index / (4 * kOperations * kFormats));
  const auto output = static_cast<wire::Format>(index / (4 * kOperations) % kFormats);
  const auto operation = static_cast<wire::Operation>(index / 4 % kOperations);
  return {input, output, operation, index % 4 >= 2 ? input : wire::Format::kFp32, index % 2 != 0};
}

/// Whether an index is that of a defined kind.
constexpr bool is_entry(std::size_t index) {
  return is_defined(kind_at(index)) && index_of(kind_at(index)) == index;
}

/// The function at an index of the table of a code path.
template <typename Make, std::size_t index>
constexpr FoldFunction entry_of() {
  if constexpr (is_entry(index))
    return Make::template function<kind_at(index)>();
  else
    return nullptr;
}

/// The table of a code path: Make::function<kind>() is the function for a kind.
template <typename Make, std::size_t... Index>
constexpr FoldTable make_table(std::index_sequence<Index...>) {
  return {entry_of<Make, Index>()...};
}

}  // namespace tombolo::fold
