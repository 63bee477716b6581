#include "schedule/simulate/classifier.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tombolo::schedule {
namespace {

/// The four parts of a parameter vector, to read or to write.
template <typename MatrixMap, typename VectorMap, typename Pointer>
struct Parts {
  Parts(Pointer data, Eigen::Index inputs, Eigen::Index hidden, Eigen::Index classes)
      : first(data, hidden, inputs),
        first_offset(first.data() + first.size(), hidden),
        second(first_offset.data() + hidden, classes, hidden),
        second_offset(second.data() + second.size(), classes) {}
  MatrixMap first;
  VectorMap first_offset;
  MatrixMap second;
  VectorMap second_offset;
};

template <typename Scalar>
using ReadParts = Parts<Eigen::Map<const typename Classifier<Scalar>::Matrix>,
                        Eigen::Map<const typename Classifier<Scalar>::Vector>, const Scalar*>;
template <typename Scalar>
using WriteParts = Parts<Eigen::Map<typename Classifier<Scalar>::Matrix>,
                         Eigen::Map<typename Classifier<Scalar>::Vector>, Scalar*>;

}  // namespace

template <typename Scalar>
Classifier<Scalar>::Classifier(std::size_t inputs, std::size_t hidden, std::size_t classes)
    : inputs_(static_cast<Eigen::Index>(inputs)),
      hidden_(static_cast<Eigen::Index>(hidden)),
      classes_(static_cast<Eigen::Index>(classes)) {
  CHECK(inputs > 0 && hidden > 0 && classes > 0);
}

template <typename Scalar>
Eigen::Index Classifier<Scalar>::parameters() const {
  return hidden_ * (inputs_ + 1) + classes_ * (hidden_ + 1);
}

template <typename Scalar>
typename Classifier<Scalar>::Vector Classifier<Scalar>::initial_parameters(Random& random) const {
  Vector result = Vector::Zero(parameters());
  WriteParts<Scalar> parts(result.data(), inputs_, hidden_, classes_);
  const auto fill = [&random](auto& matrix) {
    const double bound = std::sqrt(6.0 / static_cast<double>(matrix.cols()));
    for (Scalar& value : matrix.reshaped()) value = static_cast<Scalar>((2 * random.unit() - 1) * bound);
  };
  fill(parts.first);
  fill(parts.second);
  return result;
}

template <typename Scalar>
Score Classifier<Scalar>::forward(Eigen::Ref<const Vector> parameters, Eigen::Ref<const Matrix> inputs,
                                  std::span<const std::uint8_t> labels) {
  CHECK(parameters.size() == this->parameters() && inputs.rows() == inputs_ && !labels.empty());
  CHECK(static_cast<std::size_t>(inputs.cols()) == labels.size());
  const ReadParts<Scalar> parts(parameters.data(), inputs_, hidden_, classes_);
  activation_.noalias() = parts.first * inputs;
  activation_.colwise() += parts.first_offset;
  activation_ = activation_.cwiseMax(Scalar{0});
  probability_.noalias() = parts.second * activation_;
  probability_.colwise() += parts.second_offset;

  Score score;
  for (Eigen::Index sample = 0; sample < probability_.cols(); ++sample) {
    auto column = probability_.col(sample);
    Eigen::Index best = 0;
    const Scalar largest = column.maxCoeff(&best);  // Taken away, so that no exponential overflows.
    const Eigen::Index label = labels[static_cast<std::size_t>(sample)];
    CHECK(label < classes_);
    const double margin = static_cast<double>(column(label) - largest);
    column = (column.array() - largest).exp();
    const Scalar sum = column.sum();
    score.loss += std::log(static_cast<double>(sum)) - margin;
    score.accuracy += best == label ? 1 : 0;
    column /= sum;
  }
  score.loss /= static_cast<double>(labels.size());
  score.accuracy /= static_cast<double>(labels.size());
  return score;
}

template <typename Scalar>
Score Classifier<Scalar>::gradient(Eigen::Ref<const Vector> parameters, Eigen::Ref<const Matrix> inputs,
                                   std::span<const std::uint8_t> labels, Eigen::Ref<Vector> gradient) {
  CHECK(gradient.size() == this->parameters());
  const Score score = forward(parameters, inputs, labels);
  // The derivative of the loss by what goes into the softmax: probability minus one at the label.
  for (Eigen::Index sample = 0; sample < probability_.cols(); ++sample)
    probability_(labels[static_cast<std::size_t>(sample)], sample) -= Scalar{1};
  probability_ /= static_cast<Scalar>(labels.size());

  const ReadParts<Scalar> parts(parameters.data(), inputs_, hidden_, classes_);
  WriteParts<Scalar> out(gradient.data(), inputs_, hidden_, classes_);
  out.second.noalias() = probability_ * activation_.transpose();
  out.second_offset = probability_.rowwise().sum();
  back_.noalias() = parts.second.transpose() * probability_;
  back_ = (activation_.array() > Scalar{0}).select(back_, Scalar{0});
  out.first.noalias() = back_ * inputs.transpose();
  out.first_offset = back_.rowwise().sum();
  return score;
}

template <typename Scalar>
Score Classifier<Scalar>::score(Eigen::Ref<const Vector> parameters, Eigen::Ref<const Matrix> inputs,
                                std::span<const std::uint8_t> labels) {
  return forward(parameters, inputs, labels);
}

template class Classifier<float>;
template class Classifier<double>;

}  // namespace tombolo::schedule
