#pragma once

#include "dataplane/port/dpdk/device_check.h"

namespace tombolo::dataplane {

/// Whether the device is the end of a memif that joins the other: its client, which the driver starts only
/// while the server listens.
bool is_memif_client(const DeviceName& device);

/// Removes the socket that a server's killed predecessor left, where the driver would refuse to listen. One
/// that somebody listens at stays, and so does what is no socket. For any device; does nothing for others.
void remove_dead_memif_socket(const DeviceName& device);

}  // namespace tombolo::dataplane
