#pragma once

#include <nlohmann/json.hpp>

namespace tombolo::report {

/// A summary with every key that the page knows; no number occurs twice, so that each can be found on the
/// page.
inline nlohmann::json full_summary() {
  return nlohmann::json::parse(R"({
    "schema": 1, "command": "testbed run", "topology": "four-city", "profile": "thin", "schedule": "pairs",
    "command_line": ["tombolo", "testbed", "run", "four.yaml", "--scale", "0.00125"],
    "scale": 0.00125, "update_bytes": 1250000, "multicast": true, "aggregation": "edge", "backend": "netns",
    "chunk_elements": 2048, "workers": 3, "real_time": true, "seed": 4711, "exact": false,
    "versions": {"tombolo": "0.1.7", "dpdk": "22.11.4"}, "machine": "2 x Test CPU", "date": "2026-03-14T15:09:26Z",
    "cpu_bound": true, "cpu_bound_reason": "edge LON was stalled for 31 % of the time",
    "sites": [{"id": "LON", "city": "London", "lat": 51.51, "lon": -0.12},
              {"id": "NYC", "city": "New York", "lat": 40.78, "lon": -74.07},
              {"id": "TYO", "city": "Tokyo", "lat": 35.67, "lon": 139.77},
              {"id": "LAX", "city": "Los Angeles", "lat": 34.05, "lon": -118.26, "islands": ["LAX-1", "LAX-2"]}],
    "topology_links": [{"a": "NYC", "b": "LON", "rtt_ms": 67.296, "bps": 1e8},
                       {"a": "LAX", "b": "NYC", "rtt_ms": 68.42, "bps": 2.5e7},
                       {"a": "TYO", "b": "LAX", "rtt_ms": 98.759, "bps": 1e8},
                       {"a": "LON", "b": "TYO", "rtt_ms": 300, "bps": 1e8}],
    "rounds": [{"round": 20, "cliques": [["LON", "TYO"], ["NYC", "LAX-1"]], "model_s": 0.311, "predicted_s": 0.4,
                "measured_s": 0.5, "tx_bytes": 1361111, "rx_bytes": 1362222, "exact": true, "errors": []},
               {"round": 21, "cliques": [["LON", "NYC"]], "model_s": 0.322, "predicted_s": 0.433, "measured_s": null,
                "tx_bytes": 1363333, "rx_bytes": 1364444, "exact": false,
                "errors": ["island NYC: 12 chunks missing from LON"]}],
    "islands": [{"site": "LON", "update_bytes": 2500000, "tx_bytes": 2722222, "rx_bytes": 2755555},
                {"site": "NYC", "update_bytes": 2400000, "tx_bytes": 2633333, "rx_bytes": 2644444}],
    "links": [{"name": "NYC-LON", "target_rtt_ms": 67.296, "measured_rtt_ms": 68.1, "target_bps": 1e8,
               "measured_bps": 9.7e7},
              {"name": "LAX-NYC", "target_rtt_ms": 68.42, "measured_rtt_ms": 75.5, "target_bps": 2.5e7,
               "measured_bps": 2.11e7},
              {"name": "TYO-LAX", "target_rtt_ms": 98.759, "measured_rtt_ms": null, "target_bps": 1e8}],
    "capabilities": [{"multicast": true, "aggregation": "edge", "bytes_out_per_update": 1.09,
                      "bytes_in_per_update": 1.13, "measured": true},
                     {"multicast": false, "aggregation": "none", "bytes_out_per_update": 8.72,
                      "bytes_in_per_update": 8.84, "measured": false}],
    "worker_times": [{"site": "LON", "worker": 5, "busy_s": 1.512, "idle_s": 0.613, "asleep_s": 2.714,
                      "stalled_s": 0.815}],
    "drops": {"wire_loss": 916, "unknown_epoch": 17}, "repairs": 933, "copies": 4242424,
    "payload_bytes_saved": 135792468, "some_new_key": {"inner": [86.25, "word"]}
  })");
}

}  // namespace tombolo::report
