#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tombolo::schedule {

/// An IDX file of bytes, the format of MNIST and its successors (http://yann.lecun.com/exdb/mnist): images
/// have three dimensions (count, rows, columns), labels one.
struct Idx {
  std::vector<std::uint32_t> dimensions;  ///< 1 to 3, each above 0.
  std::vector<std::uint8_t> values;  ///< As many as the product of the dimensions; the last runs fastest.
};

/// What a file may unpack to: the largest of Fashion-MNIST has 47 MB.
inline constexpr std::size_t kMaxIdxBytes = std::size_t{64} << 20;

/// Reads an IDX file, gzipped or not. Any bytes may be given.
/// Errors: kInvalidInput, exactly one, "file: what is wrong"; a truncated or damaged file is an error, and so
/// are bytes behind the end.
Result<Idx> parse_idx(std::span<const std::uint8_t> bytes, const std::string& file_name);

/// Errors: kNotFound if the file cannot be read; otherwise those of parse_idx.
Result<Idx> load_idx(const std::string& path);

}  // namespace tombolo::schedule
