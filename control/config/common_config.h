#pragma once

#include <string>

#include "schedule/yaml_value.h"

namespace tombolo::control {

/// The TLS files of one side; all of them or none.
struct TlsFiles {
  std::string ca;
  std::string certificate;
  std::string key;

  bool empty() const { return ca.empty(); }
};

/// Where and how a program logs.
struct LogSettings {
  bool json = false;
  std::string level = "info";  ///< debug, info, warning or error.
  std::string file;            ///< Empty: standard error.
};

/// The keys `ca`, `certificate` and `key` of a mapping. Fails unless all or none are there.
TlsFiles read_tls(const schedule::YamlMap& map, const std::string& file);

LogSettings read_log(const schedule::YamlValue& value, const std::string& file);

}  // namespace tombolo::control
