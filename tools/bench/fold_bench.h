#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/wire/header.h"
#include "tools/bench/measure.h"
#include "tools/bench/progress.h"
#include "tools/bench/rivals.h"
#include "tools/bench/row.h"

namespace tombolo::bench {

struct FoldOptions {
  std::vector<wire::Format> formats;
  std::optional<wire::Format> result;  ///< Nothing: bf16 for the Microscaling formats, else the input's.
  wire::Operation operation = wire::Operation::kSum;
  std::vector<std::uint32_t> k{2, 4, 8, 16};
  std::vector<std::uint32_t> chunk_bytes{1280, 8192};
  std::vector<std::string> resident{"cache", "memory"};
  std::vector<std::string> isa;             ///< Empty: all that this machine has.
  std::uint64_t memory_bytes = 1ULL << 30;  ///< What chunks in memory fill: much more than the last cache.
  MeasureOptions measure;
};

/// Folds k payloads to one, over and over: by every instruction set, by every rival that has the format
/// (which adds pair-wise: a copy of the first input, then k - 1 sums into it), and by the limit's kernel.
/// "cache": one chunk's buffers, again and again; "memory": chunk after chunk of an arena that no cache
/// holds. Bytes are those of the inputs.
///
/// Before anything is timed, results are compared with those of the reference. Errors: kFailed when one of
/// our own is not equal to the bit; kInvalidInput for what cannot be folded; kUnavailable without memory.
Result<std::vector<Row>> run_fold(const FoldOptions& options, const Rivals& rivals, const Progress& progress);

}  // namespace tombolo::bench
