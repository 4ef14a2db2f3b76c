"""A display in the network, for what is sent to it by DDP."""

import socket
import struct


class DdpReceiver:
    """A display that speaks DDP, after its specification: packets fill a buffer, the push flag shows it."""

    def __init__(self, pixels=1000):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.address = self.socket.getsockname()
        self.buffer, self.shown = bytearray(b"\x09" * 3 * pixels), b""
        self.packets, self.pushes = [], 0

    def read(self):
        """Take what has come; return the pixels shown."""
        while True:
            try:
                packet = self.socket.recv(2048)
            except BlockingIOError:
                break
            self._take(packet)
        return [tuple(self.shown[i : i + 3]) for i in range(0, len(self.shown), 3)]

    def _take(self, packet):
        flags, sequence, kind, output, offset, length = struct.unpack(">BBBBLH", packet[:10])
        assert flags & 0b1100_0000 == 0b0100_0000, "version 1"
        assert not flags & 0b0011_1110, "no time code, storage, reply or query"
        assert 1 <= sequence <= 15
        assert kind == 0b0000_1011, "RGB, 8 bits a channel"
        assert output == 1
        assert length == len(packet) - 10 <= 1440
        self.packets.append(sequence)
        self.buffer[offset : offset + length] = packet[10:]
        if flags & 1:
            self.pushes += 1
            self.shown = bytes(self.buffer[: offset + length])
