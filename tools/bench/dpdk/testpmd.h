#pragma once

#include <string>

#include "base/result.h"

namespace tombolo::bench {

/// Packets per second, in millions, that DPDK's own program `dpdk-testpmd` forwards between two ring devices
/// on processor `cpu` in its mode io, which looks at no byte of them; it wants a second processor for its
/// command line. Takes four seconds. Errors: kNotFound without the program; kUnavailable without a second
/// processor, or when it says no rate.
Result<double> testpmd_io_mpps(int cpu);

/// The sum over the ports of the last "Rx-pps" that each reported; 0 when there is none.
double last_rates(const std::string& output, unsigned ports);

}  // namespace tombolo::bench
