"""The emulated board as a serial port for mpremote and `moccasin-mat`: a pseudo-terminal, at most in real time.

    python tests/tools/emulated_port.py PORT          # in one terminal; PORT is a path to make, ^C ends it
    moccasin-mat mat flash --port PORT                    # in another

The board begins without files, or with `--firmware` on it. A reset keeps the terminal, where a real board's port
vanishes and comes back.
"""

import argparse
import os
import select
import sys
import time
import tty
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in ("support", "support/real"))

from emulated_board import EmulatedBoard, NotHereError, firmware

STEP_US = 5000
LATE_US = 50_000
"""What the emulator could not do in time, and more than this, is left out and not made up for."""


def serve(board: EmulatedBoard, port: Path) -> None:
    """Make the pseudo-terminal `port` and pass bytes on, for ever."""
    master, slave = os.openpty()
    tty.setraw(slave)
    port.unlink(missing_ok=True)
    port.symlink_to(os.ttyname(slave))
    print(f"{port} is the board", file=sys.stderr)
    board.change("open", True)
    began = time.monotonic()
    try:
        while True:
            behind_us = (time.monotonic() - began) * 1e6 - board.us
            ready, _, _ = select.select([master], [], [], max(0.0, -behind_us * 1e-6))
            began += max(0.0, behind_us - LATE_US) * 1e-6
            came = board.run(STEP_US, os.read(master, 4096) if ready else b"")
            if came:
                os.write(master, came)
    finally:
        port.unlink(missing_ok=True)


def main() -> None:
    """Do as the arguments say."""
    parser = argparse.ArgumentParser(description="An emulated board as a serial port.")
    parser.add_argument("port", type=Path, help="the path to make")
    parser.add_argument("--firmware", action="store_true", help="begin with this project's firmware on it")
    args = parser.parse_args()
    try:
        board = EmulatedBoard()
    except NotHereError as error:
        sys.exit(str(error))
    board.power_on(firmware() if args.firmware else {})
    try:
        serve(board, args.port)
    except KeyboardInterrupt:
        pass
    finally:
        board.close()


if __name__ == "__main__":
    main()
