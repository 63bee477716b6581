"""Frames as they are on the wire, in a namespace of the testbed: watched, sent, and made to be wrong."""

import ctypes
import os
import socket
import struct
import threading

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_PACKET_OUTGOING = 4
_SO_RCVBUFFORCE = 33
ETH_P_ALL = 3
ETHERNET = 14
IP_UDP = 28
FRAMING = ETHERNET + IP_UDP


def socket_in(namespace, *arguments):
    """A socket in a namespace. A thread enters it for the moment; a socket stays where it was made."""
    made = []

    def enter():
        try:
            with open(f"/run/netns/{namespace}", "rb") as file:
                if _libc.setns(file.fileno(), _CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), f"setns {namespace}")
            made.append(socket.socket(*arguments))
        except OSError as error:
            made.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if isinstance(made[0], OSError):
        raise made[0]
    return made[0]


class Wire:
    """One end of a link as raw frames."""

    def __init__(self, namespace, interface):
        self.namespace, self.interface = namespace, interface
        self._socket = socket_in(namespace, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        # Beyond the system's limit, which holds some twenty jumbo frames.
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 8 << 20)
        self._socket.bind((interface, ETH_P_ALL))
        self.address = self._socket.getsockname()[4]

    def send(self, frame):
        self._socket.send(frame)

    def arrived(self):
        """Frames that came in since the last call; not those that went out."""
        frames = []
        while True:
            try:
                frame, where = self._socket.recvfrom(65536, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return frames
            if where[2] != _PACKET_OUTGOING:
                frames.append(frame)

    def receive(self, fits, patience_s=10):
        """The next frame that came in and fits; None when none does in time."""
        self._socket.settimeout(patience_s)
        try:
            while True:
                frame, where = self._socket.recvfrom(65536)
                if where[2] != _PACKET_OUTGOING and fits(frame):
                    return frame
        except TimeoutError:
            return None
        finally:
            self._socket.settimeout(None)

    def close(self):
        self._socket.close()


def interface_of(config, port):
    """The interface of a port, from the text of an edge's file."""
    return _port_line(config, port).split("iface=")[1].split(",")[0]


def address_of(config, port):
    """The IPv4 address of a port, likewise."""
    return _port_line(config, port).split("address: ")[1].split("/")[0]


def _port_line(config, port):
    return next(line for line in config.splitlines() if f'name: "{port}"' in line)


def checksum(data):
    """RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(to, source, kind, body):
    return to + source + struct.pack("!H", kind) + body


def ipv4(source, to, protocol, body, *, fragment=0, options=b"", version=4, identification=0):
    """`fragment` is the word of flags and offset."""
    words = 5 + len(options) // 4
    header = struct.pack("!BBHHHBBH4s4s", version << 4 | words, 0, 4 * words + len(body), identification, fragment, 64,
                         protocol, 0, socket.inet_aton(source), socket.inet_aton(to)) + options
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + body


def udp(source_port, to_port, body, length=None):
    return struct.pack("!HHHH", source_port, to_port, 8 + len(body) if length is None else length, 0) + body


def icmp(kind, body=b"", identifier=1, sequence=1):
    message = struct.pack("!BBHHH", kind, 0, 0, identifier, sequence) + body
    return message[:2] + struct.pack("!H", checksum(message)) + message[4:]


def arp(operation, sender, sender_ip, target, target_ip):
    return struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, operation, sender, socket.inet_aton(sender_ip), target,
                       socket.inet_aton(target_ip))


def tombolo_packet(frame):
    """The packet in a frame, or None when it carries none of ours."""
    packet = frame[FRAMING:]
    return packet if frame[12:14] == b"\x08\x00" and packet[:2] == b"TB" else None


# The protocol's header, of which tests look at these (PROTOCOL.md, Header).
def kind_of(packet):
    return packet[3]


def session_of(packet):
    return struct.unpack_from("<I", packet, 24)[0]


SEQUENCED = (1, 2, 3, 6, 7)
CONTRIBUTION, HELLO = 1, 8
