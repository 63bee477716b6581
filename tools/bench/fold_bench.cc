#include "tools/bench/fold_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "aggregation/fold/kernel.h"
#include "base/clock.h"
#include "tools/bench/arena.h"
#include "tools/bench/limit_kernel.h"
#include "tools/bench/payloads.h"

namespace tombolo::bench {
namespace {

using Payloads = std::vector<std::vector<std::byte>>;
using Inputs = std::array<const std::byte*, fold::kMaxInputs>;

/// Different payloads per format; members and chunks take them in turn.
constexpr std::size_t kPayloads = 17;
/// Chunks whose results are compared before anything is timed.
constexpr std::size_t kCheckedChunks = 3;

/// One row of the table of cases, and its chunks.
struct Case {
  fold::Kind kind;
  wire::Operation operation;
  std::uint32_t k = 0;
  std::uint32_t chunk_bytes = 0;
  std::size_t elements = 0;
  std::size_t input_bytes = 0;
  std::size_t result_bytes = 0;
  bool cold = false;
  Arena* arena = nullptr;
  std::size_t* cursor = nullptr;  ///< The next chunk; all sides go on from where the last one stopped.
};

/// Calls body(inputs, out) for so many chunks, one behind the other; returns the seconds.
template <typename Body>
double walk(const Case& c, std::uint64_t iterations, Body&& body) {
  const MonotonicClock clock;
  Inputs inputs;
  std::size_t chunk = *c.cursor;
  const Nanoseconds begin = clock.now_ns();
  for (std::uint64_t n = 0; n < iterations; ++n) {
    for (std::size_t i = 0; i < c.k; ++i) inputs[i] = c.arena->input(i, chunk);
    body(inputs.data(), c.arena->result(chunk));
    if (++chunk == c.arena->chunks()) chunk = 0;
  }
  const Nanoseconds end = clock.now_ns();
  *c.cursor = chunk;
  return static_cast<double>(std::max<Nanoseconds>(end - begin, 1)) * 1e-9;
}

fold::Call call_of(const Case& c, const std::byte* const* inputs, std::byte* out) {
  fold::Call call;
  call.inputs = inputs;
  call.input_count = c.k;
  call.elements = c.elements;
  call.divisor = c.k;
  call.out = out;
  call.cold = c.cold;
  return call;
}

/// A rival's fold: what its add() takes to make one result of k inputs.
void fold_by(const Rival& rival, const Case& c, const std::byte* const* inputs, std::byte* out) {
  std::memcpy(out, inputs[0], c.input_bytes);
  for (std::size_t i = 1; i < c.k; ++i) rival.add(out, inputs[i], c.elements);
}

/// How a fold's result of a chunk compares with the reference's.
template <typename Fold>
bool is_exact(const Case& c, std::size_t chunk, Fold&& fold_chunk) {
  Inputs inputs;
  for (std::size_t i = 0; i < c.k; ++i) inputs[i] = c.arena->input(i, chunk);
  std::vector<std::byte> expected(c.result_bytes), got(c.result_bytes);
  fold::select(c.kind, fold::InstructionSet::kScalar)(call_of(c, inputs.data(), expected.data()));
  fold_chunk(inputs.data(), got.data());
  return expected == got;
}

Row row_of(const Case& c, const char* impl, const std::string& isa, const std::string& resident) {
  Row row;
  row.bench = "fold";
  row.impl = impl;
  row.format = format_name(c.kind.input);
  row.result_format = format_name(fold::output_format(c.kind));
  row.k = c.k;
  row.chunk_bytes = c.chunk_bytes;
  row.resident = resident;
  row.isa = isa;
  return row;
}

Side side_of(const Case& c, Row row, std::function<double(std::uint64_t)> run) {
  Side side;
  side.row = std::move(row);
  side.bytes = static_cast<double>(c.k * c.input_bytes);
  side.run = std::move(run);
  return side;
}

Status add_ours(const Case& c, const std::string& isa, const std::string& resident,
                std::vector<Side>& sides) {
  const auto set = fold::choose_instruction_set(isa);
  if (!set) return Error(set.error());
  const fold::FoldFunction function = fold::select(c.kind, *set);
  if (function == nullptr)
    return invalid_input(fmt::format("{} to {}: no fold", format_name(c.kind.input),
                                     format_name(fold::output_format(c.kind))));
  for (std::size_t chunk = 0; chunk < std::min(kCheckedChunks, c.arena->chunks()); ++chunk)
    if (!is_exact(c, chunk,
                  [&](const std::byte* const* in, std::byte* out) { function(call_of(c, in, out)); }))
      return Error{ErrorCode::kFailed,
                   fmt::format("{} by {}, k = {}: not the bits of the reference; nothing is timed",
                               format_name(c.kind.input), isa, c.k)};
  Row row = row_of(c, "tombolo", isa, resident);
  row.exact = true;
  sides.push_back(side_of(c, std::move(row), [&c, function](std::uint64_t iterations) {
    return walk(c, iterations,
                [&](const std::byte* const* in, std::byte* out) { function(call_of(c, in, out)); });
  }));
  return ok_status();
}

void add_rivals(const Case& c, const Rivals& rivals, const std::string& resident, std::vector<Side>& sides) {
  if (c.operation != wire::Operation::kSum || fold::output_format(c.kind) != c.kind.input) return;
  for (const Rival& rival : rivals.present()) {
    if (rival.format != c.kind.input) continue;
    Row row = row_of(c, rival.impl.c_str(), rival.isa, resident);
    row.exact =
        is_exact(c, 0, [&](const std::byte* const* in, std::byte* out) { fold_by(rival, c, in, out); });
    sides.push_back(side_of(c, std::move(row), [&c, &rival](std::uint64_t iterations) {
      return walk(c, iterations,
                  [&](const std::byte* const* in, std::byte* out) { fold_by(rival, c, in, out); });
    }));
  }
}

void add_limit(const Case& c, const std::string& resident, std::vector<Side>& sides) {
  const Limit limit = choose_limit(c.k);
  if (limit.kernel == nullptr) return;
  sides.push_back(side_of(c, row_of(c, "limit", limit.isa, resident), [&c, limit](std::uint64_t iterations) {
    return walk(c, iterations, [&](const std::byte* const* in, std::byte* out) {
      limit.kernel(in, c.input_bytes, out, c.result_bytes);
    });
  }));
}

std::vector<std::string> machine_sets() {
  std::vector<std::string> sets;
  for (const fold::InstructionSet set : fold::kInstructionSets)
    if (fold::is_available(set)) sets.emplace_back(fold::name_of(set));
  return sets;
}

wire::Format result_of(const FoldOptions& options, wire::Format format) {
  if (options.result) return *options.result;
  return fold::is_mx(format) ? wire::Format::kBf16 : format;
}

Result<std::vector<Row>> run_case(const Case& c, const std::string& resident, const FoldOptions& options,
                                  const Rivals& rivals, const Progress& progress) {
  std::vector<Side> sides;
  for (const std::string& isa : options.isa.empty() ? machine_sets() : options.isa)
    if (Status added = add_ours(c, isa, resident, sides); !added) return std::move(added).error();
  add_rivals(c, rivals, resident, sides);
  add_limit(c, resident, sides);
  return measure(sides, options.measure, [&](std::uint32_t repetition) {
    progress(fmt::format("fold {} k {} {} B {}: {}/{}", format_name(c.kind.input), c.k, c.chunk_bytes,
                         resident, repetition, options.measure.repeat));
  });
}

Result<Case> make_case(const FoldOptions& options, wire::Format format, std::uint32_t k,
                       std::uint32_t chunk_bytes, Arena& arena, std::size_t& cursor) {
  Case c;
  c.kind.input = format;
  c.kind.output = result_of(options, format);
  c.kind.operation = c.operation = options.operation;
  c.k = k;
  c.chunk_bytes = chunk_bytes;
  c.elements = elements_in(format, chunk_bytes);
  c.input_bytes = fold::payload_bytes(format, c.elements);
  c.result_bytes = fold::payload_bytes(c.kind.output, c.elements);
  c.arena = &arena;
  c.cursor = &cursor;
  if (c.elements == 0) return invalid_input(fmt::format("--chunk-bytes {}: not 32 elements", chunk_bytes));
  if (!fold::is_supported(c.kind))
    return invalid_input(fmt::format("{} to {}: no fold", format_name(format), format_name(c.kind.output)));
  return c;
}

}  // namespace

Result<std::vector<Row>> run_fold(const FoldOptions& options, const Rivals& rivals,
                                  const Progress& progress) {
  std::vector<Row> rows;
  auto arena = Arena::create(options.memory_bytes);
  if (!arena) return std::move(arena).error();
  for (const wire::Format format : options.formats)
    for (const std::uint32_t chunk_bytes : options.chunk_bytes) {
      Payloads payloads;
      for (std::size_t i = 0; i < kPayloads; ++i)
        payloads.push_back(make_payload(format, elements_in(format, chunk_bytes), i + 1));
      for (const std::uint32_t k : options.k)
        for (const std::string& resident : options.resident) {
          std::size_t cursor = 0;
          auto c = make_case(options, format, k, chunk_bytes, *arena, cursor);
          if (!c) return std::move(c).error();
          c->cold = resident == "memory";
          const std::uint64_t total = resident == "cache" ? 0 : options.memory_bytes;
          if (Status filled = arena->fill({k, c->input_bytes, c->result_bytes, total}, payloads); !filled)
            return std::move(filled).error();
          auto measured = run_case(*c, resident, options, rivals, progress);
          if (!measured) return std::move(measured).error();
          std::move(measured->begin(), measured->end(), std::back_inserter(rows));
        }
    }
  return rows;
}

}  // namespace tombolo::bench
