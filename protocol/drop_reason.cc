#include "protocol/drop_reason.h"

namespace tombolo {
namespace {

constexpr std::array<std::string_view, kDropReasons> kNames{"none",
                                                            "truncated",
                                                            "bad_magic",
                                                            "bad_version",
                                                            "bad_header_crc",
                                                            "bad_type",
                                                            "bad_flags",
                                                            "reserved_not_zero",
                                                            "bad_length",
                                                            "bad_field",
                                                            "bad_payload_crc",
                                                            "unknown_sender",
                                                            "unknown_session",
                                                            "old_session",
                                                            "wrong_lane",
                                                            "unknown_job",
                                                            "unknown_epoch",
                                                            "unknown_tree",
                                                            "wrong_link",
                                                            "wrong_rank",
                                                            "round_not_open",
                                                            "round_closed",
                                                            "beyond_grant",
                                                            "mismatch",
                                                            "unsupported_type",
                                                            "duplicate_sequence",
                                                            "sequence_too_far",
                                                            "duplicate_contribution",
                                                            "no_buffer",
                                                            "link_window_full",
                                                            "peer_down",
                                                            "port_full",
                                                            "hand_over_full"};
static_assert(!kNames.back().empty(), "every reason has a name");

}  // namespace

std::string_view name(DropReason reason) { return kNames[static_cast<std::size_t>(reason)]; }

}  // namespace tombolo
