"""Traffic that is none of Tombolo's at an edge that works: every frame is counted by reason, and rounds stay exact.

Arguments: the folder of the programs. Exit code 77, with a reason, where there are no namespaces.
"""

import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case  # noqa: E402
import frames  # noqa: E402
import testbed  # noqa: E402

# 1 MB at 100 Mbit/s: 0.1 s on the wire.
SCALE = ("--bytes", "100M", "--scale", "0.01")
SEED = 20260731
EACH = 50
STORM = 3000
MALFORMED = 100_000
BASE_PORT = 4700
LANES = 4
IPV4, ARP = 0x0800, 0x0806
BROADCAST = b"\xff" * 6
# Room that was short, by the frames' number and not by what is in them.
CONGESTION = ("no_buffer", "control_limit", "device_missed", "device_no_buffer", "emulated_receive_queue_full")


class Attacker:
    """One who sits at the other end of a port of an edge, with the neighbour's addresses."""

    def __init__(self, edge_wire, wire, edge_ip, own_ip, port):
        self.edge_wire, self.wire = edge_wire, wire
        self.port = port
        self.mac, self.own_mac = edge_wire.address, wire.address
        self.ip, self.own_ip = edge_ip, own_ip

    def packet(self, protocol, body, **options):
        return frames.ethernet(self.mac, self.own_mac, IPV4, frames.ipv4(self.own_ip, self.ip, protocol, body, **options))

    def datagram(self, body, lane=0, **options):
        return self.packet(17, frames.udp(BASE_PORT + lane, BASE_PORT + lane, body), **options)

    def kinds(self):
        """Frames that have one reason each to be refused by the port."""
        udp = frames.udp(BASE_PORT, BASE_PORT, bytes(64))
        sound = self.datagram(bytes(64))
        header = 14
        arp = frames.arp(1, self.own_mac, self.own_ip, bytes(6), self.ip)
        return {
            "DNS": ("other_port", self.packet(17, frames.udp(53, 53, bytes(40)))),
            "a port above the lanes": ("other_port", self.packet(17, frames.udp(BASE_PORT, BASE_PORT + LANES, bytes(64)))),
            "timestamp request": ("icmp_other", self.packet(1, frames.icmp(13, bytes(12)))),
            "port unreachable": ("icmp_other", self.packet(1, frames.icmp(3, bytes(28)))),
            "echo with a wrong checksum": ("icmp_other", self.packet(1, frames.icmp(8)[:-1] + b"\x7f")),
            "802.1Q": ("vlan", sound[:12] + b"\x81\x00\x00\x05" + sound[12:]),
            "802.1ad": ("vlan", sound[:12] + b"\x88\xa8\x00\x05\x81\x00\x00\x06" + sound[12:]),
            "IPv6": ("ipv6", frames.ethernet(self.mac, self.own_mac, 0x86DD, b"\x60" + bytes(59))),
            "LLDP": ("not_ipv4", frames.ethernet(bytes.fromhex("0180c200000e"), self.own_mac, 0x88CC, bytes(50))),
            "MPLS": ("not_ipv4", frames.ethernet(self.mac, self.own_mac, 0x8847, bytes(50))),
            "IP options": ("ip_options", self.packet(17, udp, options=b"\x94\x04\0\0")),
            "IP version 5": ("bad_ip_header", self.packet(17, udp, version=5)),
            "a damaged IP header": ("bad_ip_header", sound[:header + 8] + b"\x11" + sound[header + 9:]),
            "less than its length": ("truncated", sound[:-1]),
            "nothing behind Ethernet": ("truncated", sound[:header]),
            "for another address": ("other_address", frames.ethernet(
                self.mac, self.own_mac, IPV4, frames.ipv4(self.own_ip, "10.200.0.1", 17, udp))),
            "for another machine": ("other_address", b"\x02\0\0\0\0\x77" + sound[6:]),
            "from the edge itself": ("bad_source", frames.ethernet(self.mac, self.own_mac, IPV4,
                                                                   frames.ipv4(self.ip, self.ip, 17, udp))),
            "from everybody": ("bad_source", frames.ethernet(self.mac, self.own_mac, IPV4,
                                                             frames.ipv4("255.255.255.255", self.ip, 17, udp))),
            "TCP": ("not_udp", self.packet(6, bytes(40))),
            "GRE": ("not_udp", self.packet(47, bytes(40))),
            "a UDP length too large": ("bad_udp", self.packet(17, frames.udp(BASE_PORT, BASE_PORT, bytes(64), length=100))),
            "a UDP length too small": ("bad_udp", self.packet(17, frames.udp(BASE_PORT, BASE_PORT, bytes(64), length=8))),
            "ARP of another protocol": ("arp_other", frames.ethernet(self.mac, self.own_mac, ARP, b"\0\6" + arp[2:])),
            "ARP that is cut off": ("arp_other", frames.ethernet(self.mac, self.own_mac, ARP, arp[:20])),
        }

    def fragments(self, body, most, identification):
        """A datagram in pieces of at most so many bytes, a multiple of eight."""
        pieces = [body[at:at + most] for at in range(0, len(body), most)]
        more_to_come = 0x2000
        return [self.packet(17, piece, identification=identification,
                            fragment=i * most // 8 | (more_to_come if i + 1 < len(pieces) else 0))
                for i, piece in enumerate(pieces)]

    def malformed(self, chance, models):
        """One frame that cannot be a packet of ours, or of nobody's session. `models`: sound packets."""
        kind = chance.randrange(6)
        lane = chance.randrange(LANES)
        if kind == 0:
            return self.datagram(chance.randbytes(chance.randrange(0, 400)), lane)
        if kind == 1:
            return self.datagram(b"TB\x01" + chance.randbytes(chance.randrange(61, 400)), lane)
        if kind == 2:
            return self.datagram(chance.choice(models)[:chance.randrange(0, 64)], lane)
        if kind == 3:
            return self.packet(chance.choice((2, 6, 50, 132)), chance.randbytes(chance.randrange(0, 200)))
        packet = bytearray(chance.choice(models))
        for _ in range(chance.randrange(1, 4)):
            bit = chance.randrange(8 * len(packet))
            packet[bit // 8] ^= 1 << bit % 8
        if kind == 4:
            return self.datagram(bytes(packet), lane)
        frame = self.datagram(chance.choice(models), lane)
        return frame[:chance.randrange(15, len(frame))]


class Foreign(case.Case):
    def bring_up_and_run(self, *options):
        self.bring_up(case.LINE, "--schedule", "full", "--deadline", "20", *SCALE, *options)
        self.network.start_islands()
        self.runner = case.Runner(self.network.islands, self.network.wait_ready())
        self.addCleanup(self.runner.stop)
        self.runner.wait_for(2)
        self.edge = self.network.edge("A")

    def wire(self, namespace, interface):
        wire = frames.Wire(namespace, interface)
        self.addCleanup(wire.close)
        return wire

    def island(self):
        """At the island's end of A's access link."""
        entry = next(entry for entry in self.network.info["islands"] if entry["island"] == "A")
        return Attacker(self.wire(self.edge["namespace"], entry["edge_interface"]),
                        self.wire(entry["namespace"], entry["interface"]), entry["edge_address"], entry["address"],
                        "access-A")

    def neighbour(self):
        """At B's end of the link between A and B."""
        other = self.network.edge("B")
        here, there = (pathlib.Path(edge["config"]).read_text() for edge in (self.edge, other))
        return Attacker(self.wire(self.edge["namespace"], frames.interface_of(here, "to-B")),
                        self.wire(other["namespace"], frames.interface_of(there, "to-A")),
                        frames.address_of(here, "to-B"), frames.address_of(there, "to-A"), "to-B")

    def drops(self, port):
        status = self.network.status(self.edge)
        return next(one["drops"] for one in status["ports"] if one["name"] == port), status["drops"]

    def refused(self):
        """Frames and packets that A refused for what is in them, all in all."""
        status = self.network.status(self.edge)
        return sum(count for drops in (*(port["drops"] for port in status["ports"]), status["drops"])
                   for reason, count in drops.items() if reason not in CONGESTION)

    def expect_unharmed(self):
        """Rounds went on all the time, and go on: none failed, all are exact, in one epoch."""
        self.runner.wait_for(3)
        self.runner.stop()

        def all_of_epoch_1(number, epoch, of_round):
            self.assertEqual(epoch, 1, number)
            for event in of_round.values():
                self.assertEqual(event["clique"], [0, 1, 2])

        case.expect_whole(self, self.runner, all_of_epoch_1)


class Kinds(Foreign):
    def test_every_kind_is_counted_under_its_reason(self):
        self.bring_up_and_run()
        for attacker in (self.island(), self.neighbour()):
            kinds = attacker.kinds()
            before, _ = self.drops(attacker.port)
            expected = dict.fromkeys(before, 0)
            for reason, frame in kinds.values():
                expected[reason] += EACH
                for _ in range(EACH):
                    attacker.wire.send(frame)
                time.sleep(0.002)  # Not all at once: the edge's ring is finite.

            def moved(port=attacker.port, then=before):
                return {reason: count - then[reason] for reason, count in self.drops(port)[0].items()}

            testbed.wait_for(lambda: all(moved()[reason] >= count for reason, count in expected.items()),
                             f"{expected}, not {moved()}")
            now = moved()
            self.assertEqual({reason: now[reason] for _, (reason, _) in kinds.items()},
                             {reason: expected[reason] for _, (reason, _) in kinds.items()})
        self.expect_unharmed()

    def test_fragments_get_no_further_than_the_kernel(self):
        # The driver has the kernel put fragments together for a packet socket: lone ones stay there and are counted
        # there, whole datagrams come as one frame.
        self.bring_up_and_run()
        for attacker in (self.island(), self.neighbour()):
            asked, (before, _) = self.reassemblies(), self.drops(attacker.port)
            for number in range(EACH):
                ours = attacker.fragments(frames.udp(BASE_PORT, BASE_PORT, bytes(1000)), 504, 2 * number)
                for frame in (ours[0], ours[0], ours[-1][:34 + 8]):
                    attacker.wire.send(frame)
                for frame in attacker.fragments(frames.udp(53, 53, bytes(1000)), 504, 2 * number + 1):
                    attacker.wire.send(frame)
                time.sleep(0.001)
            # Larger than any frame that the port has room for.
            large = attacker.fragments(frames.udp(BASE_PORT, BASE_PORT, bytes(60000)), 1480, 9999)
            for frame in large:
                attacker.wire.send(frame)

            def moved(reason, port=attacker.port, then=before):
                return self.drops(port)[0][reason] - then[reason]

            testbed.wait_for(lambda: moved("other_port") >= EACH and moved("truncated") >= EACH + 1,
                             "whole datagrams, and fragments that are cut off")
            self.assertGreaterEqual(self.reassemblies() - asked, 4 * EACH + len(large))
        self.expect_unharmed()

    def reassemblies(self):
        """Fragments that the kernel of A's namespace has seen."""
        text = subprocess.run(["ip", "netns", "exec", self.edge["namespace"], "cat", "/proc/net/snmp"], check=True,
                              capture_output=True, text=True).stdout
        names, values = (line.split() for line in text.splitlines() if line.startswith("Ip:"))
        return int(values[names.index("ReasmReqds")])

    def test_echoes_are_answered_and_arp_storms_are_weathered(self):
        self.bring_up_and_run()
        chance = random.Random(SEED)
        for attacker in (self.island(), self.neighbour()):
            for sequence in range(20):
                body = chance.randbytes(chance.randrange(0, 1400))
                echo = frames.icmp(8, body, 77, sequence)
                attacker.wire.send(attacker.packet(1, echo))
                answer = frames.icmp(0, body, 77, sequence)
                self.assertIsNotNone(attacker.wire.receive(lambda frame: frame[34:] == answer), sequence)
            before, _ = self.drops(attacker.port)
            sent = 0
            while (more := self.drops(attacker.port)[0]["arp_other"] - before["arp_other"]) < STORM:
                self.assertLess(sent, 10 * STORM, f"{more} of {sent} were counted")
                for _ in range(100):
                    mac = bytes([2]) + chance.randbytes(5)
                    ip = f"10.9.{chance.randrange(256)}.{chance.randrange(1, 255)}"
                    # One asks for the edge, one for somebody else.
                    for target in (attacker.ip, "10.8.0.1"):
                        attacker.wire.send(frames.ethernet(BROADCAST, mac, ARP, frames.arp(1, mac, ip, bytes(6), target)))
                    sent += 1
                time.sleep(0.01)
        self.expect_unharmed()


class Floods(Foreign):
    def test_a_hundred_thousand_malformed_packets(self):
        self.bring_up_and_run()
        print(f"seed {SEED} ", end="", flush=True)
        chance = random.Random(SEED)
        attackers = [self.island(), self.neighbour()]
        # What is sound comes from the wire itself: packets that A sends, of every size but the largest.
        self.runner.wait_for(1)
        models = [packet for attacker in attackers for frame in attacker.wire.arrived()
                  if (packet := frames.tombolo_packet(frame)) is not None and len(packet) < 1000]
        self.assertGreater(len({frames.kind_of(packet) for packet in models}), 2)
        before, sent = self.refused(), 0
        # What finds no room is not counted by what it was: more is sent instead.
        while (counted := self.refused() - before) < MALFORMED:
            self.assertLess(sent, 4 * MALFORMED, f"{counted} of {sent} were counted")
            for _ in range(max(1, min(MALFORMED - counted, 10_000) // 100)):
                for i in range(100):
                    attackers[i % 2].wire.send(attackers[i % 2].malformed(chance, models))
                time.sleep(0.002)
                sent += 100
        # Every one is counted once; the rounds' own late packets are few.
        self.assertLess(self.refused() - before, sent + 1000)
        reasons = [reason for reason, count in self.drops("to-B")[1].items() if count]
        for reason in ("truncated", "bad_magic", "bad_header_crc"):
            self.assertIn(reason, reasons)
        self.expect_unharmed()


class Standard(Foreign):
    def test_jumbo_frames_at_a_standard_port(self):
        self.bring_up_and_run("--chunk", "standard")
        for attacker in (self.island(), self.neighbour()):
            self.let_jumbo_pass(attacker)
            before, _ = self.drops(attacker.port)
            for _ in range(EACH):
                attacker.wire.send(attacker.datagram(b"TB\x01\x01" + bytes(8252)))
            testbed.wait_for(lambda: self.drops(attacker.port)[0]["truncated"] >= before["truncated"] + EACH,
                             "jumbo frames to be counted")
        self.expect_unharmed()

    def let_jumbo_pass(self, attacker):
        for wire in (attacker.edge_wire, attacker.wire):
            subprocess.run(["ip", "-n", wire.namespace, "link", "set", wire.interface, "mtu", "9018"], check=True)


if __name__ == "__main__":
    case.main()
