#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/testbed/netns/run_record.h"

namespace tombolo::testbed {

/// One end of a veth pair.
struct VethEnd {
  std::string network_namespace;
  std::string interface;   ///< At most 15 bytes.
  std::uint32_t ipv4 = 0;  ///< 0: none, because a program brings its own protocols.
  unsigned prefix = 30;
  bool plain_packets = false;  ///< Packets leave as they are sent: no checksum or segmentation offload.
  std::string bridge;          ///< A bridge of that namespace that it is a port of; empty: none.
};

struct Veth {
  VethEnd a;
  VethEnd b;
  std::uint32_t mtu = 1500;
};

struct Bridge {
  std::string network_namespace;
  std::string interface;
  std::uint32_t ipv4 = 0;
  unsigned prefix = 16;
};

/// What to make; the names of namespaces begin with kNamespacePrefix.
struct NamespacePlan {
  std::vector<std::string> namespaces;
  std::vector<Bridge> bridges;
  std::vector<Veth> veths;
};

/// The lines of `ip -batch` that make the namespaces, bridges and veth pairs, and those that configure what
/// is in one namespace.
std::string creation_batch(const NamespacePlan& plan);
std::string configuration_batch(const NamespacePlan& plan, const std::string& network_namespace);

/// Network namespaces joined by veth pairs, removed with this object.
class Namespaces {
 public:
  /// Recorded before they are made. IPv6 is off in all of them: the kernel would speak where a dataplane
  /// should. Errors: kUnavailable, with the words of `ip`; what had been made is removed.
  static Result<std::unique_ptr<Namespaces>> create(const NamespacePlan& plan, RunRecord& record);
  ~Namespaces();
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  const NamespacePlan& plan() const { return plan_; }

 private:
  explicit Namespaces(const NamespacePlan& plan) : plan_(plan) {}
  const NamespacePlan plan_;
};

/// Deletes those that exist; returns how many.
std::size_t delete_namespaces(const std::vector<std::string>& names);

/// Whether this process may make namespaces here. Errors: kUnavailable, saying what is missing and what to
/// do.
Status check_namespaces_possible();

/// Whether the kernel has the netem queueing discipline, tried in one of the run's own namespaces.
bool has_netem(const std::string& network_namespace);

/// One direction of a link for netem.
struct NetemRule {
  std::string network_namespace;
  std::string interface;
  double delay_ms = 0;
  std::uint64_t rate_bps = 0;
  double loss = 0;
  std::uint32_t queue_packets = 1000;
};
/// Errors: kUnavailable, with the words of `tc`.
Status set_netem(const std::vector<NetemRule>& rules);

}  // namespace tombolo::testbed
