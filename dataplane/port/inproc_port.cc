#include "dataplane/port/inproc_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tombolo::dataplane {
namespace {

/// Neighbouring inputs give unrelated outputs (the finalizer of SplitMix64; Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

Status check_end(const InprocEnd& end) {
  if (end.pool == nullptr) return invalid_input(fmt::format("{}: no buffer pool", to_string(end.address)));
  if (end.rx_queues == 0) return invalid_input(fmt::format("{}: no receive queue", to_string(end.address)));
  return ok_status();
}

}  // namespace

Nanoseconds InprocPort::next_arrival_ns() const {
  Nanoseconds next_ns = kNever;
  for (std::uint32_t queue = 0; queue < rx_.rx_queues(); ++queue)
    next_ns = std::min(next_ns, rx_.next_arrival_ns(queue));
  return next_ns;
}

Result<std::pair<InprocPort*, InprocPort*>> InprocNetwork::connect(const InprocEnd& a, const InprocEnd& b,
                                                                   const LinkConfig& a_to_b,
                                                                   const LinkConfig& b_to_a) {
  for (const InprocEnd* end : {&a, &b})
    if (Status status = check_end(*end); !status.ok()) return std::move(status).error();
  const std::string a_name = to_string(a.address);
  const std::string b_name = to_string(b.address);
  if (a.address == b.address) return invalid_input(fmt::format("a wire from {} to itself", a_name));
  if (Status status = check_link(a_to_b); !status.ok())
    return std::move(status).error().within(fmt::format("wire {} to {}", a_name, b_name));
  if (Status status = check_link(b_to_a); !status.ok())
    return std::move(status).error().within(fmt::format("wire {} to {}", b_name, a_name));

  InprocWire& forth = add_wire(a, b, a_to_b);
  InprocWire& back = add_wire(b, a, b_to_a);
  ports_.push_back(std::make_unique<InprocPort>(a.address, b.address, back, forth, *a.pool));
  ports_.push_back(std::make_unique<InprocPort>(b.address, a.address, forth, back, *b.pool));
  return std::pair{ports_[ports_.size() - 2].get(), ports_.back().get()};
}

Nanoseconds InprocNetwork::next_arrival_ns() const {
  Nanoseconds next_ns = kNever;
  for (const auto& port : ports_) next_ns = std::min(next_ns, port->next_arrival_ns());
  return next_ns;
}

InprocWire& InprocNetwork::add_wire(const InprocEnd& from, const InprocEnd& to, const LinkConfig& config) {
  const std::uint64_t seed = mix(seed_ + mix(wires_.size()));
  wires_.push_back(std::make_unique<InprocWire>(from.address, to.address, to.rx_queues, config, seed));
  return *wires_.back();
}

}  // namespace tombolo::dataplane
