#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>

namespace tombolo::schedule {

/// The solution of S = M S M' + Q; none if the powers of M do not vanish.
std::optional<Eigen::MatrixXd> cycle_fixed_point(Eigen::MatrixXd m, Eigen::MatrixXd q);

/// A linear map K of symmetric matrices that takes those at least 0 to such.
using SymmetricMap = std::function<Eigen::MatrixXd(const Eigen::MatrixXd&)>;

/// The solution of S = K(S) + Q, Q at least 0; none if K does not contract, or so slowly that rounding hides
/// it. `symmetric` says that K is its own adjoint, as E[W S W'] is for symmetric W: cheaper steps.
std::optional<Eigen::MatrixXd> map_fixed_point(const SymmetricMap& map, const Eigen::MatrixXd& q,
                                               bool symmetric);

/// I - J: what is left of the identity when the mean of all is taken away.
Eigen::MatrixXd identity_without_mean(Eigen::Index n);

/// ||M||^2, the largest eigenvalue of M'M; 0 of an empty matrix.
double squared_norm(const Eigen::MatrixXd& m);

}  // namespace tombolo::schedule
