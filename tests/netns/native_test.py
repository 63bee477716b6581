"""Links between edges by native IPv4 multicast: rounds are exact, frames go to the groups that the epoch says and to no
other address, a group is heard from its source only, and a change of all groups loses no round.

Arguments: the folder of the programs. Exit code 77, with a reason, where there are no namespaces.
"""

import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case  # noqa: E402
import frames  # noqa: E402
import testbed  # noqa: E402

# 100 kB at 10 Mbit/s.
SCALE = ("--bytes", "100M", "--scale", "0.001")
FIRST, SECOND = "239.192.0.0/16", "239.193.0.0/16"
STRANGERS = 20


def group(prefix, index):
    """The group of a directed link: A to B is 0, B to A is 1, B to C is 2, C to B is 3."""
    return f"{prefix.removesuffix('.0/16')}.{index}"


def group_mac(address):
    """RFC 1112: the low 23 bits."""
    octets = socket.inet_aton(address)
    return b"\x01\x00\x5e" + bytes([octets[1] & 0x7F]) + octets[2:]


class Native(case.Case):
    def wire(self, site, port):
        edge = self.network.edge(site)
        text = pathlib.Path(edge["config"]).read_text()
        wire = frames.Wire(edge["namespace"], frames.interface_of(text, port))
        self.addCleanup(wire.close)
        return wire, frames.address_of(text, port)

    def expect_frames_go_to(self, wire, source, to):
        """Two rounds' packets at this end of a link, contributions among them, are all from `source` to `to`."""
        wire.arrived()
        self.runner.wait_for(2)
        packets = [frame for frame in wire.arrived() if frames.tombolo_packet(frame)]
        ends = {(frame[:6], socket.inet_ntoa(frame[26:30]), socket.inet_ntoa(frame[30:34])) for frame in packets}
        self.assertEqual(ends, {(group_mac(to), source, to)})
        self.assertTrue(any(frames.kind_of(frames.tombolo_packet(frame)) == frames.CONTRIBUTION for frame in packets))

    def groups(self, site):
        """By neighbour's name and kind."""
        return {(peer["name"], peer["kind"]): peer["group"] for peer in self.network.status(self.network.edge(site))["jobs"][0]["peers"]}

    def drops(self, site, reason):
        return sum(port["drops"].get(reason, 0) for port in self.network.status(self.network.edge(site))["ports"])

    def expect_strangers_counted(self, wire, port_address):
        """Sends to A's group from an address that is not the source's, and to a group that is nobody's."""
        before = {reason: self.drops("A", reason) for reason in ("other_source", "other_address")}
        body = frames.udp(4700, 4700, bytes(64))
        stranger = socket.inet_ntoa(socket.inet_aton(port_address)[:3] + b"\xfe")
        for to, source in ((group(FIRST, 1), stranger), (group(FIRST, 9), port_address)):
            for _ in range(STRANGERS):
                wire.send(frames.ethernet(group_mac(to), wire.address, 0x0800, frames.ipv4(source, to, 17, body)))
        for reason, count in before.items():
            testbed.wait_for(lambda: self.drops("A", reason) == count + STRANGERS, f"{STRANGERS} more {reason}")

    def test_frames_go_to_groups_and_a_change_of_groups_loses_no_round(self):
        self.bring_up(case.LINE, "--delivery", "multicast", "--schedule", "full", *SCALE, "--deadline", "20")
        self.network.start_islands()
        self.runner = case.Runner(self.network.islands, self.network.wait_ready())
        self.addCleanup(self.runner.stop)
        self.runner.wait_for(1)
        at_a, _ = self.wire("A", "to-B")
        at_b, address = self.wire("B", "to-A")
        self.expect_frames_go_to(at_a, address, group(FIRST, 1))
        self.assertEqual(self.groups("B"), {("A", "edge"): group(FIRST, 1), ("C", "edge"): group(FIRST, 2),
                                            ("B", "island"): None})
        self.expect_strangers_counted(at_b, address)

        # Another range, and with it other groups for all links, while rounds go on.
        controller = self.network.info["controller"]
        config = pathlib.Path(controller["config"])
        config.write_text(config.read_text().replace(FIRST, SECOND))
        self.network.kill_program(controller)
        self.network.start_program(controller)
        status = self.wait_for_epoch(2, "with the new groups",
                                     lambda now: all(edge["running_epoch"] == now["epoch"] for edge in now["edges"]))
        # What was on its way to the old group when the edge changed arrives during these rounds.
        self.runner.wait_for(3)
        self.expect_frames_go_to(at_a, address, group(SECOND, 1))
        self.assertEqual(self.groups("C"), {("B", "edge"): group(SECOND, 3), ("C", "island"): None})
        self.runner.stop()
        self.assertEqual(status["epoch"], 2, "one change, and no other because of it")
        case.expect_whole(self, self.runner, lambda number, epoch, events: None)


if __name__ == "__main__":
    case.main()
