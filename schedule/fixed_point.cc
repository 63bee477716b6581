#include "schedule/fixed_point.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

namespace tombolo::schedule {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// Each doubles the number of terms. What is left after 2^40 cycles would be decided by rounding.
constexpr int kMaxDoublings = 40;
constexpr int kMaxSteps = 5'000;
/// How well a solution must fit, and how far below 0 an eigenvalue may be by rounding.
constexpr double kResidual = 1e-9;

double dot(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a.cwiseProduct(b).sum(); }

std::optional<Eigen::MatrixXd> conjugate_gradients(const SymmetricMap& map, const Eigen::MatrixXd& q) {
  Eigen::MatrixXd s = q;
  Eigen::MatrixXd residual = map(q);  // Q - (I - K) Q.
  Eigen::MatrixXd direction = residual;
  double squared = residual.squaredNorm();
  const double enough = std::pow(4 * kEpsilon, 2) * q.squaredNorm();
  for (int step = 0; step < kMaxSteps && squared > enough; ++step) {
    const Eigen::MatrixXd image = direction - map(direction);
    const double curvature = dot(direction, image);
    if (!(curvature > 0)) return std::nullopt;  // Something does not contract at all.
    const double length = squared / curvature;
    s += length * direction;
    residual -= length * image;
    const double next = residual.squaredNorm();
    // Rounding ends progress before the aim when K contracts slowly.
    if (length * direction.norm() < kEpsilon * s.norm()) break;
    direction = residual + (next / squared) * direction;
    squared = next;
  }
  return s;
}

/// The stabilised biconjugate gradients of van der Vorst (1992), for maps that are not their own adjoint.
std::optional<Eigen::MatrixXd> stabilised_gradients(const SymmetricMap& map, const Eigen::MatrixXd& q) {
  Eigen::MatrixXd s = q;
  Eigen::MatrixXd residual = map(q);
  const Eigen::MatrixXd shadow = residual;
  Eigen::MatrixXd direction = residual;
  double rho = dot(shadow, residual);
  const double enough = 4 * kEpsilon * q.norm();
  for (int step = 0; step < kMaxSteps && residual.norm() > enough; ++step) {
    const Eigen::MatrixXd image = direction - map(direction);
    const double alpha = rho / dot(shadow, image);
    const Eigen::MatrixXd half = residual - alpha * image;
    const Eigen::MatrixXd half_image = half - map(half);
    const double size = half_image.squaredNorm();
    const double omega = size > 0 ? dot(half_image, half) / size : 0;
    s += alpha * direction + omega * half;
    residual = half - omega * half_image;
    const double next = dot(shadow, residual);
    // It ends where it breaks down; the caller looks at how well the solution fits.
    if (!std::isfinite(alpha) || !(std::abs(omega) > 0) || !(std::abs(next) > 0)) break;
    direction = (residual + (next / rho) * (alpha / omega) * (direction - omega * image)).eval();
    rho = next;
  }
  return s;
}

}  // namespace

std::optional<Eigen::MatrixXd> cycle_fixed_point(Eigen::MatrixXd m, Eigen::MatrixXd q) {
  for (int step = 0; step < kMaxDoublings; ++step) {
    const double norm = m.norm();
    if (norm < kEpsilon * 1e-3) return q;
    if (!std::isfinite(norm)) return std::nullopt;
    const Eigen::MatrixXd image = m * q;
    q.noalias() += image * m.transpose();
    m = (m * m).eval();
  }
  return std::nullopt;
}

std::optional<Eigen::MatrixXd> map_fixed_point(const SymmetricMap& map, const Eigen::MatrixXd& q,
                                               bool symmetric) {
  const std::optional<Eigen::MatrixXd> s =
      symmetric ? conjugate_gradients(map, q) : stabilised_gradients(map, q);
  if (!s || !s->allFinite() || !((q + map(*s) - *s).norm() <= kResidual * q.norm())) return std::nullopt;
  // A solution is a sum of covariances only if it is at least Q; and a map that keeps matrices at least 0 and
  // has such a solution contracts.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(*s - q, Eigen::EigenvaluesOnly);
  if (solver.eigenvalues()(0) < -kResidual * s->norm()) return std::nullopt;
  return s;
}

Eigen::MatrixXd identity_without_mean(Eigen::Index n) {
  return Eigen::MatrixXd::Identity(n, n) - Eigen::MatrixXd::Constant(n, n, 1 / static_cast<double>(n));
}

double squared_norm(const Eigen::MatrixXd& m) {
  if (m.size() == 0) return 0;
  const bool wide = m.cols() > m.rows();
  const Eigen::MatrixXd gram = wide ? Eigen::MatrixXd(m * m.transpose()) : Eigen::MatrixXd(m.transpose() * m);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  return std::max(0.0, solver.eigenvalues().tail(1)(0));
}

}  // namespace tombolo::schedule
