#pragma once

#include <cstddef>
#include <string>

namespace tombolo::dataplane {

/// Lets this process's packet sockets on an interface see only what arrives there. A packet socket is shown
/// what its interface sends too, but for what it sent itself; and with a queueing discipline such as netem on
/// the interface, the kernel no longer knows who that was. The driver of af_packet has no option for it, so
/// that its sockets are found among the process's open files. Returns how many there were.
std::size_t ignore_outgoing(const std::string& interface);

}  // namespace tombolo::dataplane
