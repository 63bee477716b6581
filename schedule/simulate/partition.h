#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace tombolo::schedule {

/// Which samples each island trains on: every sample is one island's, and the numbers of any two islands
/// differ by at most one, so that the mean of the islands' losses is the loss over all samples.
///
/// `skew` is the share of samples that is sorted by label and cut into as many pieces as there are islands;
/// the rest is dealt out at random (Karimireddy et al., SCAFFOLD, arXiv 1910.06378, section 7: "similarity"
/// is 1 - skew). 0: all islands' data are alike. 1: an island sees one or two of ten labels. Which island
/// gets which piece is drawn too, so that neighbours on a map need not have neighbouring labels. Errors:
/// kInvalidInput for a skew outside [0, 1], no island, or fewer samples than islands.
Result<std::vector<std::vector<std::uint32_t>>> partition_samples(std::span<const std::uint8_t> labels,
                                                                  std::size_t islands, double skew,
                                                                  Random& random);

}  // namespace tombolo::schedule
