#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/wire/header.h"

/// How far results are from exact sums: the figures of NUMERICS.md, computed by the folds themselves.
namespace tombolo::fold {

/// Root mean square of the error over that of the exact sum, for inputs that are normally distributed.
struct ErrorRow {
  wire::Format format = wire::Format::kNone;  ///< Of the inputs.
  std::size_t inputs = 0;
  double rounded_inputs = 0;  ///< What writing the inputs in the format costs, before anything is added.
  double fold = 0;            ///< What the fp32 accumulator adds to that, against fp64.
  double own_result = 0;      ///< All of it, with the result in the inputs' format.
  double bf16_result = 0;     ///< All of it, with the result in bf16.
};

/// Every floating format with 2, 4, 8, ... 64 inputs of `elements` elements. Deterministic for a seed.
std::vector<ErrorRow> measure_errors(std::uint64_t seed, std::size_t elements);

struct RingRow {
  wire::Format format = wire::Format::kNone;
  std::size_t inputs = 0;
  /// Each input is rounded once, where it is sent; the edge adds them up in fp32 and rounds the result once.
  double once = 0;
  /// A ring: each member adds its own exact values to what it received, and rounds what it passes on.
  double ring = 0;
};

/// The narrow formats with 2, 4, 8, ... 64 inputs: the same error, by the same measure.
std::vector<RingRow> compare_with_ring(std::uint64_t seed, std::size_t elements);

/// The tables as Markdown, and a figure in plain text.
std::string error_table(const std::vector<ErrorRow>& rows);
std::string ring_table(const std::vector<RingRow>& rows);
std::string ring_figure(const std::vector<RingRow>& rows, wire::Format format);

/// What NUMERICS.md shows between its two marks; a test holds the page to it.
std::string numerics_figures();

}  // namespace tombolo::fold
