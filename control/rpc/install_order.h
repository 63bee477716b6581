#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/contingency.h"

namespace tombolo::control::v1 {
class InstallRequest;
}

namespace tombolo::control {

/// What an operator asks a controller to install.
struct InstallOrder {
  std::string schedule_name;  ///< "full" or "grid"; or
  std::string schedule_yaml;  ///< the text of a schedule file; both empty: the schedule that is installed.
  std::optional<bool> multicast;  ///< Nothing: as it is.
  std::optional<bool> edge_aggregation;
  std::optional<bool> tree_aggregation{};  ///< Given together with edge_aggregation.

  friend bool operator==(const InstallOrder&, const InstallOrder&) = default;
};

void write_order(const InstallOrder& order, v1::InstallRequest& request);
InstallOrder read_order(const v1::InstallRequest& request);

/// `nominal` with what the order asks for instead. Its `order` is the two of them as one, in stored form.
/// Errors: kInvalidInput for a schedule that is none, or for an `order` of `nominal` that is none.
Result<Nominal> apply_order(const Nominal& nominal, const InstallOrder& order, const Nominal& configured,
                            const schedule::Network& network);

/// What a restarted controller wants: `configured` with the stored order applied; or `configured` alone when
/// there is no order, or when the configuration has asked for something else since: then it is the newer
/// word. Any bytes may be given. Errors: kInvalidInput, "stored order: what is wrong".
Result<Nominal> resume_order(std::string_view stored, const Nominal& configured,
                             const schedule::Network& network);

}  // namespace tombolo::control
