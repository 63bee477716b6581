#include "control/observe/metrics_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <prometheus/exposer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

namespace tombolo::control {
namespace {

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

Result<HostPort> parse(const std::string& address) {
  const Error wrong = invalid_input(fmt::format(
      "metrics address '{}' is not HOST:PORT with an IPv4 address, such as 127.0.0.1:9464", address));
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return wrong;
  HostPort parsed;
  parsed.host = address.substr(0, colon) == "localhost" ? "127.0.0.1" : address.substr(0, colon);
  in_addr ipv4{};
  if (inet_pton(AF_INET, parsed.host.c_str(), &ipv4) != 1) return wrong;
  const char* const end = address.data() + address.size();
  const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, parsed.port);
  if (error != std::errc() || rest != end) return wrong;
  return parsed;
}

/// Whether the address can be listened on: the HTTP library says only that it could not, never why.
Status probe(const HostPort& address) {
  const auto failed = [&address] {
    const bool taken = errno == EADDRINUSE;
    return Error{ErrorCode::kUnavailable,
                 fmt::format("metrics address {}:{}: {}{}", address.host, address.port, std::strerror(errno),
                             taken ? "; stop the program that has it, or choose another port" : "")};
  };
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return failed();
  const int on = 1;
  ::setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(address.port);
  inet_pton(AF_INET, address.host.c_str(), &name.sin_addr);
  sockaddr generic{};
  std::memcpy(&generic, &name, sizeof name);
  Status status = ok_status();
  if (::bind(probe, &generic, sizeof name) != 0 || ::listen(probe, 1) != 0) status = failed();
  ::close(probe);
  return status;
}

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address) {
  auto parsed = parse(address);
  if (!parsed) return std::move(parsed).error();
  if (Status free = probe(*parsed); !free) return std::move(free).error();
  const std::string bound = fmt::format("{}:{}", parsed->host, parsed->port);
  try {  // The library throws when somebody was quicker; nothing of ours does.
    auto exposer = std::make_unique<prometheus::Exposer>(std::vector<std::string>{
        "listening_ports", bound, "num_threads", "2", "request_timeout_ms", "10000"});
    const std::vector<int> ports = exposer->GetListeningPorts();
    if (ports.empty())
      return Error{ErrorCode::kUnavailable, fmt::format("metrics address {}: no port", bound)};
    return std::unique_ptr<MetricsServer>(
        new MetricsServer(std::move(exposer), parsed->host, static_cast<std::uint16_t>(ports.front())));
  } catch (const std::exception& error) {
    return Error{ErrorCode::kUnavailable, fmt::format("metrics address {}: {}", bound, error.what())};
  }
}

MetricsServer::MetricsServer(std::unique_ptr<prometheus::Exposer> exposer, std::string host,
                             std::uint16_t port)
    : exposer_(std::move(exposer)), host_(std::move(host)), port_(port) {}

MetricsServer::~MetricsServer() = default;

void MetricsServer::add(const std::shared_ptr<prometheus::Collectable>& collectable) {
  exposer_->RegisterCollectable(collectable);
}

std::string MetricsServer::url() const { return fmt::format("http://{}:{}/metrics", host_, port_); }

}  // namespace tombolo::control
