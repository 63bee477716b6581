#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/number_format.h"
#include "base/result.h"
#include "control/config/common_config.h"
#include "control/native_groups.h"
#include "schedule/compile.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::control {

/// A controller's configuration file, validated whole.
struct ControllerFile {
  std::string path;
  std::string listen;  ///< HOST:PORT.
  TlsFiles tls;
  schedule::Topology topology;
  schedule::Network network;    ///< The topology under the profile and scale, and the job's share of it.
  schedule::Schedule schedule;  ///< The nominal one, with every island.
  std::uint16_t job = 1;
  std::uint16_t lanes = 4;
  std::uint32_t chunk_elements = 320;
  std::uint64_t update_bytes = 0;  ///< Scaled; in `format`.
  NumberFormat format = NumberFormat::kFp32;
  NumberFormat result_format = NumberFormat::kFp32;
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  bool multicast = true;
  bool edge_aggregation = true;
  bool tree_aggregation = false;
  schedule::PartialFormat partial_format = schedule::PartialFormat::kFp32;
  GroupRange native_multicast{};  ///< Count 0: no link has a group.
  Nanoseconds deadline_ns = 10 * kSecond;
  Nanoseconds settle_ns = 300 * kMillisecond;  ///< How long a loss must last before a new epoch is made.
  std::string state;                           ///< A folder.
  std::string local_socket;                    ///< A path; empty: none.
  std::string metrics;                         ///< HOST:PORT; empty: none.
  LogSettings log;

  /// What the file says an epoch is compiled with.
  schedule::CompileOptions compile_options() const;
};

/// Reads the text of a controller's file, and the topology and schedule that it names. Errors: kInvalidInput,
/// exactly one, "file:line: key: what is wrong".
Result<ControllerFile> parse_controller_config(std::string_view text, const std::string& path);

/// Errors: kNotFound if the file cannot be read; otherwise those of parse_controller_config.
Result<ControllerFile> load_controller_config(const std::string& path);

}  // namespace tombolo::control
