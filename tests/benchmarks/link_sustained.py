"""How many frames a second the firmware keeps up under a real MicroPython, and what is lost of 4 kHz from four piezos.

python tests/benchmarks/link_sustained.py [--seconds 30]

Twice the same work (piezos, touch strips, 24 magnetometers, pings): paced by the clock as on the board, where a pass
that comes more than 128 ms late loses samples; and as fast as it goes. The bytes are then decoded here, and what is
missing is counted by the samples' own numbers, or by the board's if that is more. MicroPython is the machine's, or its
WebAssembly build under node: the speed is that of this machine, not of an RP2040.
"""

import argparse
import importlib.util
import json
import random
import struct
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from pi_controller.board import wire
from pi_controller.pinmap import pinmap

ROOT = Path(__file__).parents[2]
CODE = """
import json, sampler, paced_board
paced_board.run(sampler, json.loads(open("recording.json").read()), {seconds}, {paced})
"""


def micropython():
    """Return the module that runs MicroPython for the tests."""
    path = ROOT / "tests" / "firmware" / "micropython.py"
    spec = importlib.util.spec_from_file_location("mat_micropython", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recording(seconds):
    """Return readings to be played over and over, and what the host says twice a second, as JSON."""
    rng = random.Random(1)
    said = [wire.seal(wire.hello_body(), 0) + wire.seal(wire.ping_body(0), 1)]
    said += [wire.seal(wire.ping_body(n), n + 1) for n in range(1, 2 * seconds)]
    piezo = [struct.pack("<128H", *(round(rng.gauss(wire.REST, 5)) for _ in range(128))).hex() for _ in range(50)]
    return json.dumps(
        {
            "touch": [struct.pack("<12H", *(rng.randint(600, 720) for _ in range(12))).hex() for _ in range(50)],
            "magnet": [struct.pack("<3h", *(rng.randint(-900, 900) for _ in range(3))).hex() for _ in range(241)],
            "piezo": piezo,
            "said": [frame.hex() for frame in said],
        }
    ).encode()


def measure(run, files, seconds, paced):
    """Run the firmware; return (interpreter, seconds taken, frames, bad frames, samples sent, samples lost, bytes)."""
    with tempfile.TemporaryDirectory() as folder:
        version, numbers, *sent = run(CODE.format(seconds=seconds, paced=paced), files, folder).splitlines()
    took, overflows = map(int, numbers.split())
    data = b"".join(map(bytes.fromhex, sent))
    ears = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    indices = [wire.piezo(payload)[0] for kind, _, payload in ears.feed(data) if kind == wire.PIEZO]
    block = pinmap().board.block_samples
    lost = max(sum(after - before - block for before, after in pairwise(indices)), overflows * block)
    return version, took / 1e6, ears.frames, ears.bad + ears.lost, len(indices) * block, lost, len(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=30)
    args = parser.parse_args()
    host = micropython()
    paced_board = Path(__file__).with_name("paced_board.py").read_bytes()
    files = {**host.firmware_files(), "paced_board.py": paced_board, "recording.json": recording(args.seconds)}
    pads = pinmap().pads.count
    for paced in (True, False):
        try:
            began = time.monotonic()
            version, took, frames, bad, samples, lost, size = measure(host.run, files, args.seconds, paced)
        except host.NoMicroPythonError as error:
            sys.exit(f"no MicroPython: {error}")
        if paced:
            print(version)
        how = "paced by the clock" if paced else "as fast as it goes"
        print(
            f"{how}: {frames} frames in {took:.2f} s, {frames / took:.0f} frames/s, {size / took / 1000:.1f} kB/s, "
            f"{samples / took:.0f} samples/s on each of {pads} pads; {lost} samples lost, {bad} frames bad or lost "
            f"({time.monotonic() - began:.0f} s with starting and decoding)",
            flush=True,
        )


if __name__ == "__main__":
    main()
