#include "tools/testbed/netns/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <thread>

#include "tools/testbed/netns/addresses.h"
#include "tools/testbed/netns/subprocess.h"

namespace tombolo::testbed {
namespace {

std::string netns_path(const std::string& name) { return "/run/netns/" + name; }

/// Runs `act` on a thread in the namespace: the rest of the process stays where it is.
Status inside(const std::string& network_namespace, const std::function<Status()>& act) {
  const int fd = ::open(netns_path(network_namespace).c_str(), O_RDONLY | O_CLOEXEC);
  Status done = ok_status();
  std::thread thread([&] {
    if (fd < 0 || ::setns(fd, CLONE_NEWNET) != 0)
      done = Error{ErrorCode::kUnavailable, fmt::format("namespace {}: {}", network_namespace,
                                                        std::generic_category().message(errno))};
    else
      done = act();
  });
  thread.join();
  if (fd >= 0) ::close(fd);
  return done;
}

Status write_setting(const std::string& path, const char* value) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  const bool written = file != nullptr && std::fputs(value, file) >= 0;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return ok_status();
  return Error{ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::generic_category().message(errno))};
}

/// In the namespace: no IPv6, for what is there and for what comes.
Status turn_ipv6_off() {
  const std::string folder = "/proc/sys/net/ipv6/conf/";
  if (::access(folder.c_str(), F_OK) != 0) return ok_status();  // A kernel without IPv6.
  for (const char* const which : {"all", "default"})
    if (Status done = write_setting(folder + which + "/disable_ipv6", "1"); !done) return done;
  return ok_status();
}

/// In the namespace: what a socket sends leaves as one packet with its checksum filled in, because a
/// dataplane that reads raw frames at the other end expects what a wire would carry.
Status make_plain(const std::string& interface) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (const std::uint32_t command : {ETHTOOL_STXCSUM, ETHTOOL_SGSO, ETHTOOL_STSO, ETHTOOL_SGRO}) {
    ethtool_value value{command, 0};
    ifreq request{};
    std::strncpy(request.ifr_name, interface.c_str(), IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    const bool done = fd >= 0 && ::ioctl(fd, SIOCETHTOOL, &request) == 0;
    if (done || errno == EOPNOTSUPP) continue;  // Without TSO there is none to turn off.
    const int code = errno;
    if (fd >= 0) ::close(fd);
    return Error{ErrorCode::kUnavailable, fmt::format("{}: cannot turn offloads off: {}", interface,
                                                      std::generic_category().message(code))};
  }
  ::close(fd);
  return ok_status();
}

Status ip_batch(const std::vector<std::string>& options, const std::string& batch) {
  std::vector<std::string> command{"ip"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-batch", "-"});
  return run_with_input(command, batch);
}

/// Everything of one namespace that is not made by `ip` from outside.
Status configure(const NamespacePlan& plan, const std::string& name) {
  const auto of_sockets = [&]() -> Status {
    if (Status done = turn_ipv6_off(); !done) return done;
    for (const Veth& veth : plan.veths)
      for (const VethEnd* const end : {&veth.a, &veth.b})
        if (end->network_namespace == name && end->plain_packets)
          if (Status done = make_plain(end->interface); !done) return done;
    return ok_status();
  };
  // IPv6 goes first: an interface that comes up with it speaks.
  if (Status done = inside(name, of_sockets); !done) return done;
  return ip_batch({"-n", name}, configuration_batch(plan, name));
}

}  // namespace

std::string creation_batch(const NamespacePlan& plan) {
  std::string batch;
  for (const std::string& name : plan.namespaces) batch += "netns add " + name + "\n";
  for (const Bridge& bridge : plan.bridges)
    batch +=
        fmt::format("link add name {} netns {} type bridge\n", bridge.interface, bridge.network_namespace);
  for (const Veth& veth : plan.veths)
    batch += fmt::format("link add name {} mtu {} netns {} type veth peer name {} mtu {} netns {}\n",
                         veth.a.interface, veth.mtu, veth.a.network_namespace, veth.b.interface, veth.mtu,
                         veth.b.network_namespace);
  return batch;
}

std::string configuration_batch(const NamespacePlan& plan, const std::string& network_namespace) {
  std::string batch = "link set dev lo up\n";
  for (const Bridge& bridge : plan.bridges) {
    if (bridge.network_namespace != network_namespace) continue;
    if (bridge.ipv4 != 0)
      batch +=
          fmt::format("addr add {}/{} dev {}\n", ipv4_text(bridge.ipv4), bridge.prefix, bridge.interface);
    batch += fmt::format("link set dev {} up\n", bridge.interface);
  }
  for (const Veth& veth : plan.veths)
    for (const VethEnd* const end : {&veth.a, &veth.b}) {
      if (end->network_namespace != network_namespace) continue;
      if (end->ipv4 != 0)
        batch += fmt::format("addr add {}/{} dev {}\n", ipv4_text(end->ipv4), end->prefix, end->interface);
      if (!end->bridge.empty())
        batch += fmt::format("link set dev {} master {}\n", end->interface, end->bridge);
      batch += fmt::format("link set dev {} up\n", end->interface);
    }
  return batch;
}

Result<std::unique_ptr<Namespaces>> Namespaces::create(const NamespacePlan& plan, RunRecord& record) {
  if (Status recorded = record.add_namespaces(plan.namespaces); !recorded) return std::move(recorded).error();
  std::unique_ptr<Namespaces> namespaces(new Namespaces(plan));
  if (Status made = ip_batch({}, creation_batch(plan)); !made)
    return std::move(made).error().within("making the testbed's namespaces");
  for (const std::string& name : plan.namespaces)
    if (Status done = configure(plan, name); !done)
      return std::move(done).error().within("namespace " + name);
  return namespaces;
}

Namespaces::~Namespaces() { delete_namespaces(plan_.namespaces); }

std::size_t delete_namespaces(const std::vector<std::string>& names) {
  std::string batch;
  std::size_t count = 0;
  std::error_code code;
  for (const std::string& name : names) {
    if (!std::filesystem::exists(netns_path(name), code)) continue;
    batch += "netns del " + name + "\n";
    ++count;
  }
  // With -force it goes on behind one that is gone by now.
  if (count > 0) [[maybe_unused]]
    const Status done = run_with_input({"ip", "-force", "-batch", "-"}, batch);
  return count;
}

Status check_namespaces_possible() {
  if (::geteuid() != 0)
    return Error{ErrorCode::kUnavailable,
                 "network namespaces need root: run it with sudo, or take --backend inproc"};
  const std::string name = fmt::format("{}{}-try", kNamespacePrefix, ::getpid());
  if (Status made = run_with_input({"ip", "netns", "add", name}, ""); !made)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("no network namespaces here ({}): take --backend inproc", made.error().message)};
  const Status usable = inside(name, [] { return ok_status(); });
  delete_namespaces({name});
  return usable;
}

bool has_netem(const std::string& network_namespace) {
  const std::string batch = "qdisc add dev lo root netem delay 1ms\nqdisc del dev lo root\n";
  return run_with_input({"tc", "-n", network_namespace, "-batch", "-"}, batch).ok();
}

Status set_netem(const std::vector<NetemRule>& rules) {
  std::map<std::string, std::string> batches;
  for (const NetemRule& rule : rules) {
    std::string& batch = batches[rule.network_namespace];
    batch += fmt::format("qdisc add dev {} root netem delay {:.3f}ms limit {}", rule.interface, rule.delay_ms,
                         rule.queue_packets);
    if (rule.rate_bps != 0) batch += fmt::format(" rate {}bit", rule.rate_bps);
    if (rule.loss > 0) batch += fmt::format(" loss {:.6f}%", rule.loss * 100);
    batch += "\n";
  }
  for (const auto& [name, batch] : batches)
    if (Status done = run_with_input({"tc", "-n", name, "-batch", "-"}, batch); !done)
      return std::move(done).error().within("netem in " + name);
  return ok_status();
}

}  // namespace tombolo::testbed
