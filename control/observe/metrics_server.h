#pragma once

#include <prometheus/collectable.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace prometheus {
class Exposer;
}

namespace tombolo::control {

/// Answers GET /metrics over HTTP. There is no encryption and no password: bind it to an address that only
/// the monitoring reaches.
class MetricsServer {
 public:
  /// `address` is HOST:PORT, HOST an IPv4 address or "localhost"; port 0 takes a free one. Errors:
  /// kInvalidInput when that is not what it is; kUnavailable when the address cannot be had.
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address);
  /// Ends the threads; a scrape under way is answered first.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// What is collected from now on, on a thread of the server. The server keeps no reference.
  void add(const std::shared_ptr<prometheus::Collectable>& collectable);

  std::uint16_t port() const { return port_; }
  /// "http://127.0.0.1:9464/metrics".
  std::string url() const;

 private:
  MetricsServer(std::unique_ptr<prometheus::Exposer> exposer, std::string host, std::uint16_t port);

  std::unique_ptr<prometheus::Exposer> exposer_;
  std::string host_;
  std::uint16_t port_;
};

}  // namespace tombolo::control
