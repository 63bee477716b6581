// lint-file: figures for a page and for benchmarks; no packet is near.
#include "aggregation/fold/numerics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "aggregation/fold/kernel.h"
#include "base/check.h"
#include "base/random.h"

namespace tombolo::fold {
namespace {

using wire::Format;

constexpr std::size_t kMostInputs = 64;
constexpr std::uint64_t kPageSeed = 1;
constexpr std::size_t kPageElements = 16384;
constexpr std::array kFormats = {Format::kFp32,   Format::kBf16,      Format::kFp16,
                                 Format::kMxInt8, Format::kMxFp8E4M3, Format::kMxFp8E5M2};

using Values = std::vector<float>;

const char* name_of(Format format) {
  constexpr std::array<const char*, 8> kNames = {"-",     "fp32",   "bf16",       "fp16",
                                                 "int32", "MXINT8", "MXFP8 E4M3", "MXFP8 E5M2"};
  return kNames[static_cast<std::size_t>(format)];
}

/// Standard normal values (Box and Muller).
std::vector<Values> normal_inputs(std::uint64_t seed, std::size_t elements) {
  Random random(seed);
  std::vector<Values> inputs(kMostInputs, Values(elements));
  for (Values& input : inputs)
    for (float& value : input)
      value = static_cast<float>(std::sqrt(-2 * std::log(1 - random.unit())) *
                                 std::cos(2 * std::numbers::pi * random.unit()));
  return inputs;
}

Values rounded(Format format, const Values& values) {
  std::vector<std::byte> payload(payload_bytes(format, values.size()));
  encode(format, values.data(), values.size(), payload.data());
  Values result(values.size());
  decode(format, payload.data(), values.size(), result.data());
  return result;
}

/// Sums in fp64, whose own error is 2^-29 of what fp32 does.
std::vector<double> exact_sum(const std::vector<Values>& inputs, std::size_t count) {
  std::vector<double> sum(inputs[0].size(), 0.0);
  for (std::size_t input = 0; input < count; ++input)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(inputs[input][i]);
  return sum;
}

/// The sum of `count` inputs as the kernels fold it, from `format` to `output`.
Values folded(const std::vector<Values>& inputs, std::size_t count, Format format, Format output) {
  const std::size_t elements = inputs[0].size();
  std::vector<std::vector<std::byte>> payloads;
  std::vector<const std::byte*> pointers;
  for (std::size_t input = 0; input < count; ++input) {
    auto& payload = payloads.emplace_back(payload_bytes(format, elements));
    encode(format, inputs[input].data(), elements, payload.data());
    pointers.push_back(payload.data());
  }
  std::vector<std::byte> out(payload_bytes(output, elements));
  const FoldFunction fold = select({.input = format, .output = output, .operation = wire::Operation::kSum},
                                   *choose_instruction_set(""));
  CHECK(fold != nullptr);
  fold({.inputs = pointers.data(), .input_count = count, .elements = elements, .out = out.data()});
  Values result(elements);
  decode(output, out.data(), elements, result.data());
  return result;
}

template <typename T>
double relative_error(const std::vector<T>& values, const std::vector<double>& exact) {
  double errors = 0;
  double squares = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = static_cast<double>(values[i]) - exact[i];
    errors += error * error;
    squares += exact[i] * exact[i];
  }
  return std::sqrt(errors / squares);
}

std::vector<Values> all_rounded(Format format, const std::vector<Values>& inputs) {
  std::vector<Values> result;
  for (const Values& input : inputs) result.push_back(rounded(format, input));
  return result;
}

/// The sum after its way round a ring: rounded by every member that passes it on, and once more at the end.
Values ring_sum(const std::vector<Values>& inputs, std::size_t count, Format format) {
  Values partial = rounded(format, inputs[0]);
  for (std::size_t member = 1; member < count; ++member) {
    for (std::size_t i = 0; i < partial.size(); ++i) partial[i] += inputs[member][i];
    partial = rounded(format, partial);
  }
  return partial;
}

/// Appends a line made like printf does.
template <typename... Arguments>
void append(std::string& text, const char* pattern, Arguments... arguments) {
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), pattern, arguments...);
  text += line.data();
}

std::string table_head(const char* first) {
  std::string text = std::string("| ") + first + " | error |";
  std::string rule = "\n| --- | --- |";
  for (std::size_t count = 2; count <= kMostInputs; count *= 2) {
    append(text, " k = %zu |", count);
    rule += " --- |";
  }
  return text + rule + "\n";
}

/// One line of a table: what `cell` appends for each row of a format.
template <typename Row, typename Cell>
void append_row(std::string& text, const std::vector<Row>& rows, Format format, const char* label,
                Cell cell) {
  append(text, "| %s | %s |", name_of(format), label);
  for (const Row& row : rows)
    if (row.format == format) cell(row);
  text += "\n";
}

}  // namespace

std::vector<ErrorRow> measure_errors(std::uint64_t seed, std::size_t elements) {
  const std::vector<Values> inputs = normal_inputs(seed, elements);
  std::vector<ErrorRow> rows;
  for (const Format format : kFormats) {
    const std::vector<Values> received = all_rounded(format, inputs);
    for (std::size_t count = 2; count <= kMostInputs; count *= 2) {
      const std::vector<double> exact = exact_sum(inputs, count);
      const std::vector<double> exact_received = exact_sum(received, count);
      rows.push_back({format, count, relative_error(exact_received, exact),
                      relative_error(folded(inputs, count, format, Format::kFp32), exact_received),
                      relative_error(folded(inputs, count, format, format), exact),
                      relative_error(folded(inputs, count, format, Format::kBf16), exact)});
    }
  }
  return rows;
}

std::vector<RingRow> compare_with_ring(std::uint64_t seed, std::size_t elements) {
  const std::vector<Values> inputs = normal_inputs(seed, elements);
  std::vector<RingRow> rows;
  for (const Format format : kFormats) {
    if (format == Format::kFp32) continue;
    for (std::size_t count = 2; count <= kMostInputs; count *= 2) {
      const std::vector<double> exact = exact_sum(inputs, count);
      rows.push_back({format, count, relative_error(folded(inputs, count, format, format), exact),
                      relative_error(ring_sum(inputs, count, format), exact)});
    }
  }
  return rows;
}

std::string error_table(const std::vector<ErrorRow>& rows) {
  std::string text = table_head("inputs");
  const auto line = [&](Format format, const char* label, double ErrorRow::*error) {
    append_row(text, rows, format, label, [&](const ErrorRow& row) { append(text, " %.1e |", row.*error); });
  };
  for (const Format format : kFormats) {
    line(format, "rounded inputs", &ErrorRow::rounded_inputs);
    line(format, "fold in fp32", &ErrorRow::fold);
    line(format, "result in the same", &ErrorRow::own_result);
    line(format, "result in bf16", &ErrorRow::bf16_result);
  }
  return text;
}

std::string ring_table(const std::vector<RingRow>& rows) {
  std::string text = table_head("format");
  for (const Format format : kFormats) {
    if (format == Format::kFp32) continue;
    append_row(text, rows, format, "once", [&](const RingRow& row) { append(text, " %.1e |", row.once); });
    append_row(text, rows, format, "ring", [&](const RingRow& row) { append(text, " %.1e |", row.ring); });
    append_row(text, rows, format, "ring / once",
               [&](const RingRow& row) { append(text, " %.1f |", row.ring / row.once); });
  }
  return text;
}

std::string ring_figure(const std::vector<RingRow>& rows, Format format) {
  constexpr double kWidth = 60;
  double most = 0;
  for (const RingRow& row : rows)
    if (row.format == format) most = std::max({most, row.once, row.ring});
  std::string text;
  append(text, "    error of %s, k inputs\n", name_of(format));
  const auto bar = [&](const char* label, double error) {
    append(text, "    %-9s %s %.1e\n", label,
           std::string(static_cast<std::size_t>(std::lround(error / most * kWidth)), '#').c_str(), error);
  };
  for (const RingRow& row : rows) {
    if (row.format != format) continue;
    bar(("k=" + std::to_string(row.inputs) + (row.inputs < 10 ? " " : "") + " once").c_str(), row.once);
    bar("     ring", row.ring);
  }
  return text;
}

std::string numerics_figures() {
  const std::vector<RingRow> ring = compare_with_ring(kPageSeed, kPageElements);
  return error_table(measure_errors(kPageSeed, kPageElements)) + "\n" + ring_table(ring) + "\n" +
         ring_figure(ring, Format::kMxInt8);
}

}  // namespace tombolo::fold
