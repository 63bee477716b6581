#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/baselines/graphs.h"

namespace tombolo::schedule::baselines {
namespace {

using Nodes = std::vector<std::size_t>;

Matrix identity(std::size_t n) {
  return Matrix::Identity(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
}

/// Puts the mean of `nodes` into their rows.
void average(Matrix& w, const Nodes& nodes) {
  for (const std::size_t a : nodes)
    for (const std::size_t b : nodes)
      w(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) = 1.0 / static_cast<double>(nodes.size());
}

/// The fewest factors of at most `largest` whose product is n; empty for n = 1 or if there are none.
Nodes fewest_factors(std::size_t n, std::size_t largest) {
  Nodes best;
  for (std::size_t factor = std::min(n, largest); factor >= 2; --factor) {
    if (n % factor != 0) continue;
    Nodes factors{factor};
    if (factor < n) {
      const Nodes rest = fewest_factors(n / factor, factor);
      if (rest.empty()) continue;
      factors.insert(factors.end(), rest.begin(), rest.end());
    }
    if (best.empty() || factors.size() < best.size()) best = std::move(factors);
  }
  return best;
}

/// Algorithm 1, the k-peer hyper-hypercube: round l averages the nodes that differ in digit l only. Each
/// round is a list of sets.
std::vector<std::vector<Nodes>> hyper_hypercube(const Nodes& nodes, std::size_t peers) {
  std::vector<std::vector<Nodes>> rounds;
  std::size_t stride = 1;
  for (const std::size_t factor : fewest_factors(nodes.size(), peers + 1)) {
    std::vector<Nodes> sets;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i / stride % factor != 0) continue;
      Nodes set;
      for (std::size_t digit = 0; digit < factor; ++digit) set.push_back(nodes[i + digit * stride]);
      sets.push_back(std::move(set));
    }
    rounds.push_back(std::move(sets));
    stride *= factor;
  }
  return rounds;
}

/// Plays round `index` (mod its length) of a hyper-hypercube.
void play(Matrix& w, const std::vector<std::vector<Nodes>>& rounds, std::size_t index) {
  if (rounds.empty()) return;
  for (const Nodes& set : rounds[index % rounds.size()]) average(w, set);
}

/// A part of the nodes, of a (k+1)^p nodes, in a pieces of (k+1)^p.
struct Part {
  Nodes nodes;
  std::vector<Nodes> pieces;
};

std::vector<Part> split(const Nodes& nodes, std::size_t peers) {
  const std::size_t base = peers + 1;
  std::size_t power = 1;
  while (power * base <= nodes.size()) power *= base;
  std::vector<Part> parts;
  auto next = nodes.begin();
  for (std::size_t left = nodes.size(); left > 0; power /= base) {
    const std::size_t pieces = left / power;
    if (pieces == 0) continue;
    Part part;
    for (std::size_t i = 0; i < pieces; ++i) {
      const auto end = next + static_cast<std::ptrdiff_t>(power);
      part.pieces.emplace_back(next, end);
      part.nodes.insert(part.nodes.end(), next, end);
      next = end;
    }
    left -= pieces * power;
    parts.push_back(std::move(part));
  }
  return parts;
}

/// The step in which part `giver` gives every later node a share: afterwards each of its pieces, and each of
/// the later parts, can reach the mean of all on its own.
void exchange(Matrix& w, std::vector<Part>& parts, std::size_t giver, std::size_t peers, bool fill) {
  std::size_t later = 0;
  for (std::size_t l = giver; l < parts.size(); ++l) later += parts[l].nodes.size();
  const double share = static_cast<double>(parts[giver].nodes.size()) / static_cast<double>(later);
  std::vector<Nodes> free = parts[giver].pieces;
  const double weight = share / static_cast<double>(free.size());
  for (std::size_t l = giver + 1; l < parts.size(); ++l)
    for (const std::size_t node : parts[l].nodes) {
      const auto i = static_cast<Eigen::Index>(node);
      for (Nodes& piece : free) {
        const auto j = static_cast<Eigen::Index>(piece.back());
        piece.pop_back();
        w(i, j) = w(j, i) = weight;
        w(j, j) = 1 - weight;
      }
      w(i, i) = 1 - share;
    }
  if (!fill) return;
  Nodes rest;
  for (const Nodes& piece : free) rest.insert(rest.end(), piece.begin(), piece.end());
  for (std::size_t i = 0; i < rest.size(); i += peers + 1)
    average(w, Nodes(rest.begin() + static_cast<std::ptrdiff_t>(i),
                     rest.begin() + static_cast<std::ptrdiff_t>(std::min(rest.size(), i + peers + 1))));
}

/// Algorithm 2, the simple Base-(k+1) graph on `nodes` of n in all.
std::vector<Matrix> simple_base(const Nodes& nodes, std::size_t peers, bool fill, std::size_t n) {
  std::vector<Matrix> rounds;
  const auto whole = hyper_hypercube(nodes, peers);
  if (nodes.size() == 1 || !whole.empty()) {
    for (std::size_t m = 0; m < whole.size(); ++m) {
      rounds.push_back(identity(n));
      play(rounds.back(), whole, m);
    }
    return rounds;
  }
  std::vector<Part> parts = split(nodes, peers);
  std::vector<std::vector<std::vector<Nodes>>> cubes;
  for (const Part& part : parts) cubes.push_back(hyper_hypercube(part.nodes, peers));
  const std::size_t first = cubes.front().size();
  const std::size_t last = hyper_hypercube(parts.front().pieces.front(), peers).size();
  for (std::size_t m = 0; m < first + 1 + last; ++m) {
    Matrix w = identity(n);
    for (std::size_t l = 0; l < parts.size(); ++l) {
      if (m < first) {  // Every part agrees within itself.
        play(w, cubes[l], m);
      } else if (m == first + l && l + 1 < parts.size()) {
        exchange(w, parts, l, peers, fill);
      } else if (m > first + l || l + 1 == parts.size()) {
        if (m < first + l) continue;  // The last part still takes what is given.
        const std::size_t step = m - first - std::min(l + 1, parts.size() - 1);
        if (parts[l].nodes.size() <= peers) {
          play(w, cubes[l], step);
        } else {
          for (const Nodes& piece : parts[l].pieces) play(w, hyper_hypercube(piece, peers), step);
        }
      }
    }
    rounds.push_back(std::move(w));
  }
  return rounds;
}

}  // namespace

/// Algorithm 3: n = p q with p the part of n made of factors up to k + 1. q nodes agree in each of p groups,
/// then a hyper-hypercube joins the groups; or algorithm 2 on all if that is shorter.
std::vector<Matrix> base_graph_rounds(std::size_t islands, std::size_t peers, bool fill) {
  Nodes nodes(islands);
  std::iota(nodes.begin(), nodes.end(), std::size_t{0});
  std::vector<Matrix> simple = simple_base(nodes, peers, fill, islands);
  std::size_t rest = islands;
  for (std::size_t factor = 2; factor <= peers + 1; ++factor)
    while (rest % factor == 0) rest /= factor;
  const std::size_t groups = islands / rest;
  if (groups == 1 || rest == 1) return simple;

  std::vector<Matrix> rounds;
  for (std::size_t g = 0; g < groups; ++g) {
    const Nodes group(nodes.begin() + static_cast<std::ptrdiff_t>(g * rest),
                      nodes.begin() + static_cast<std::ptrdiff_t>((g + 1) * rest));
    const std::vector<Matrix> inside = simple_base(group, peers, fill, islands);
    if (rounds.empty()) rounds = inside;
    // The groups do not touch: a product of their matrices plays both.
    if (g > 0)
      for (std::size_t m = 0; m < inside.size(); ++m) rounds[m] = (rounds[m] * inside[m]).eval();
  }
  std::vector<Matrix> across;
  for (std::size_t j = 0; j < rest; ++j) {
    Nodes column;
    for (std::size_t g = 0; g < groups; ++g) column.push_back(g * rest + j);
    const auto cube = hyper_hypercube(column, peers);
    if (across.empty()) across.assign(cube.size(), identity(islands));
    for (std::size_t m = 0; m < cube.size(); ++m) play(across[m], cube, m);
  }
  rounds.insert(rounds.end(), across.begin(), across.end());
  return simple.size() < rounds.size() ? simple : rounds;
}

}  // namespace tombolo::schedule::baselines
