"""How much of a processor the host's end of the link takes: one minute of a board's bytes, decoded and understood.

OMP_NUM_THREADS=1 python tests/benchmarks/link_cpu.py [--seconds 60] [--rounds 5]

The simulated mat's firmware talks with a session in virtual time; what went to the host is kept with its times, a read
every 8 ms as blocks of samples come. Then new sessions are fed the same, once through the decoder alone, once through
decoder and session, and once through a pseudo-terminal, pyserial and the listener. Printed is the processor time for a
second of the board's (the best of the rounds: other programs only add to it).
"""

import argparse
import os
import time
import tty
from contextlib import suppress

from pi_controller.board import wire
from pi_controller.board.connection import BoardConnection
from pi_controller.board.messages import Piezo
from pi_controller.board.serial_port import SerialPort
from pi_controller.board.session import Session
from pi_controller.simulation.mat import SimMat

READ_S = 0.008


class Kept:
    """A port that keeps every read with its time."""

    def __init__(self, device, reads):
        self.port = SerialPort(device)
        self.name = device
        self.reads = reads

    def read(self, at_least=0):
        self.reads.append(self.port.read(at_least))
        return self.reads[-1]

    def __getattr__(self, name):
        return getattr(self.port, name)


def record(seconds):
    """Return what a board sends in `seconds`: a read for each 8 ms."""
    reads, t, sent = [], 0.0, 0
    with SimMat(1) as mat:
        listener = BoardConnection(lambda: Kept(mat.device, reads))
        listener.step(t)
        for _ in range(round(seconds / READ_S)):
            n = mat.advance(READ_S, listener.sent - sent)
            sent = listener.sent
            t += READ_S
            listener.step(t, n)
        listener.close()
    return reads


def decoded(reads):
    """Decode `reads`; return (processor seconds, frames)."""
    ears = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    began = time.process_time()
    for data in reads:
        ears.feed(data)
    return time.process_time() - began, ears.frames


def understood(reads):
    """Decode and understand `reads`; return (processor seconds, samples of each pad)."""
    session = Session(lambda data: None)
    samples = 0
    began = time.process_time()
    session.start(0.0)
    for n, data in enumerate(reads):
        t = n * READ_S
        for message in session.feed(data, t):
            if isinstance(message, Piezo):
                samples += len(message.samples)
        session.tick(t)
    return time.process_time() - began, samples


def listened(reads):
    """Do the same through a terminal and pyserial; return (processor seconds, samples of each pad)."""
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    listener = BoardConnection(lambda: SerialPort(os.ttyname(slave)))
    listener.step(0.0)
    samples = 0
    took = 0.0
    for n, data in enumerate(reads):
        os.write(master, data)
        began = time.process_time()
        for message in listener.step(n * READ_S, len(data)):
            if isinstance(message, Piezo):
                samples += len(message.samples)
        took += time.process_time() - began
        with suppress(BlockingIOError):
            os.read(master, 4096)  # what the host says
    listener.close()
    os.close(slave)
    os.close(master)
    return took, samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    reads = record(args.seconds)
    size = sum(map(len, reads))
    print(f"{args.seconds} s of a board: {len(reads)} reads, {size} bytes, {size / args.seconds / 1000:.1f} kB/s")
    for what, do in (
        ("decoder", decoded),
        ("decoder and session", understood),
        ("terminal, pyserial, decoder, session", listened),
    ):
        rounds = [do(reads) for _ in range(args.rounds)]
        took, count = min(rounds)
        unit = "frames" if do is decoded else "samples of each pad"
        print(f"{what:<38}{1000 * took / args.seconds:6.2f} ms of processor a second ({count} {unit})", flush=True)


if __name__ == "__main__":
    main()
