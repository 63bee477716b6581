#pragma once

#include <Eigen/Core>
#include <span>

#include "base/result.h"
#include "schedule/message_round.h"
#include "schedule/mixing.h"

namespace tombolo::schedule {

/// measure_mixing of rounds that are not averages inside cliques: in round r, x becomes W_r x, with what was
/// held at the round's start. Directed and weighted W are welcome: rows must sum to 1, columns need not
/// (then the mean of all moves too, and D is still the variance about it). D is infinite if the cycle does
/// not contract. The work is that of n^3. Errors: kInvalidInput unless all W are square, alike in size,
/// finite, with rows that sum to 1 within 1e-9, and there is one time above 0 for each.
Result<Mixing> measure_mixing(std::span<const Eigen::MatrixXd> w, std::span<const double> seconds);

/// The same of rounds drawn independently with these probabilities.
Result<Mixing> measure_random_mixing(std::span<const Eigen::MatrixXd> w, std::span<const double> seconds,
                                     std::span<const double> probabilities);

/// W of a round of messages: a receiver's row has each message's weight at its source, summed, and keeps the
/// rest to 1 for itself.
Eigen::MatrixXd mixing_matrix(const MessageRound& round, std::size_t islands);

/// W of a round in cliques.
Eigen::MatrixXd averaging_matrix(const Round& round, std::size_t islands);

}  // namespace tombolo::schedule
