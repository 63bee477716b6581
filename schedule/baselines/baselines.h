#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// Every baseline on one network, in a fixed order. A baseline that has no value for this network or these
/// capabilities is a row that says why, never left out. The same setting and seed give the same rows.
/// `local_steps`: one DiLoCo row for each. `tell`, if given, hears which row comes next.
/// Errors: those of Scene::make.
Result<std::vector<Baseline>> all_baselines(const Setting& setting, const std::vector<unsigned>& local_steps,
                                            const std::function<void(std::string_view)>& tell = {});

}  // namespace tombolo::schedule::baselines
