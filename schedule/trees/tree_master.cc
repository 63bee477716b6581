#include "schedule/trees/tree_master.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tombolo::schedule {

TreeMaster::TreeMaster(std::span<const double> update_s, std::size_t cliques, double time_s)
    : update_s_(update_s), time_s_(time_s) {
  const int resources = static_cast<int>(update_s.size());
  lp_.setLogLevel(0);
  // Row e: what is sent over e - fullness <= 0. Then a row for each clique: its shares sum to 1.
  lp_.resize(resources + static_cast<int>(cliques), 0);
  for (int e = 0; e < resources; ++e) lp_.setRowBounds(e, -COIN_DBL_MAX, 0);
  for (int c = 0; c < static_cast<int>(cliques); ++c) lp_.setRowBounds(resources + c, 1, 1);
  std::vector<int> rows(update_s.size());
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<double> minus(update_s.size(), -1.0);
  lp_.addColumn(resources, rows.data(), minus.data(), 0, COIN_DBL_MAX, 1);
}

void TreeMaster::add(const TreeBundle& bundle) {
  const double sending_s = time_s_ - bundle.load.latency_s;
  CHECK(sending_s > 0);
  std::vector<int> rows;
  std::vector<double> values;
  for (const ResourceLoad& asked : bundle.load.loads) {
    rows.push_back(static_cast<int>(asked.resource));
    values.push_back(asked.updates * update_s_[asked.resource] / sending_s);
  }
  rows.push_back(static_cast<int>(update_s_.size() + bundle.clique));
  values.push_back(1);
  lp_.addColumn(static_cast<int>(rows.size()), rows.data(), values.data(), 0, COIN_DBL_MAX, 0);
}

bool TreeMaster::solve() {
  lp_.primal();
  return lp_.status() == 0;
}

std::vector<double> TreeMaster::prices() const {
  std::vector<double> price(update_s_.size());
  double all = 0;
  for (std::size_t e = 0; e < price.size(); ++e) all += price[e] = std::max(0.0, -lp_.dualRowSolution()[e]);
  // Rounding apart they sum to 1 already, as the fullness costs 1.
  for (double& one : price) one = all > 0 ? one / all : 1 / static_cast<double>(price.size());
  return price;
}

}  // namespace tombolo::schedule
