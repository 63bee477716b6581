#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

#include "base/random.h"

namespace tombolo::schedule {

/// How well parameters do on samples.
struct Score {
  double loss = 0;      ///< Mean cross entropy, nats.
  double accuracy = 0;  ///< Share of samples whose label got the highest probability.
};

/// A network of one hidden layer: affine, ReLU, affine, softmax; cross entropy as loss. Its parameters are
/// one vector: the first matrix (hidden x inputs, column by column), its offsets, the second matrix, its
/// offsets.
///
/// The same parameters and samples give the same bits on every machine that runs this build: one thread, no
/// contraction, the order of sums set by the compiler. (Eigen splits a sum only where the inner dimension
/// outgrows the processor's first cache, some 600 floats; layers here are smaller.)
/// `Scalar` is float; tests of the gradient use double.
template <typename Scalar>
class Classifier {
 public:
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// Each at least 1.
  Classifier(std::size_t inputs, std::size_t hidden, std::size_t classes);

  Eigen::Index parameters() const;

  /// Matrices uniform in +-sqrt(6 / inputs of the layer) (He et al., arXiv 1502.01852), offsets 0.
  Vector initial_parameters(Random& random) const;

  /// The mean loss of the samples (`inputs`: one a column) and its gradient, which is overwritten.
  /// At least one sample; each label below `classes`.
  Score gradient(Eigen::Ref<const Vector> parameters, Eigen::Ref<const Matrix> inputs,
                 std::span<const std::uint8_t> labels, Eigen::Ref<Vector> gradient);

  Score score(Eigen::Ref<const Vector> parameters, Eigen::Ref<const Matrix> inputs,
              std::span<const std::uint8_t> labels);

 private:
  Score forward(Eigen::Ref<const Vector> parameters, Eigen::Ref<const Matrix> inputs,
                std::span<const std::uint8_t> labels);

  Eigen::Index inputs_;
  Eigen::Index hidden_;
  Eigen::Index classes_;
  Matrix activation_;   ///< Of the hidden layer, hidden x samples, as `forward` left it.
  Matrix probability_;  ///< classes x samples, likewise.
  Matrix back_;         ///< What the loss asks of the hidden layer.
};

extern template class Classifier<float>;
extern template class Classifier<double>;

}  // namespace tombolo::schedule
