"""python tests/benchmarks/start.py [--starts 5]: processor and memory of `run` from its start to the first page.

A table without a board is started in an empty folder and its page asked for until it comes; then the process is looked
at (/proc) and stopped. The same for a bare interpreter that imports numpy and uvicorn: less no table of ours can take.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

FLOOR = "import sys, numpy, uvicorn; print(flush=True); sys.stdin.read()"


def spent(pid: int) -> tuple[float, float]:
    """Seconds of processor and MB resident of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    resident = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(resident.split()[1]) / 1024


def start(folder: Path) -> tuple[float, float]:
    """What one start of a table took."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "table.toml"
    settings.write_text(f'[web]\nhost = "127.0.0.1"\nport = {port}\n[table]\njournal = "{folder}/j.sqlite"\n')
    command = [sys.executable, "-m", "pi_controller", "run", "--settings", settings]
    table = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(URLError, ConnectionError), urlopen(f"http://127.0.0.1:{port}/", timeout=60):
                return spent(table.pid)
            if table.poll() is not None:
                raise SystemExit("the table ended")
            time.sleep(0.02)
    finally:
        table.terminate()
        table.communicate()


def floor() -> tuple[float, float]:
    """What the bare interpreter took."""
    command = [sys.executable, "-c", FLOOR]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as bare:
        assert bare.stdout is not None
        bare.stdout.readline()
        return spent(bare.pid)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=5)
    args = parser.parse_args()
    tables, floors = [], []
    with tempfile.TemporaryDirectory() as name:
        for k in range(args.starts):
            folder = Path(name) / str(k)
            folder.mkdir()
            tables.append(start(folder))
            floors.append(floor())
    for what, each in (("run, to its first page", tables), ("numpy and uvicorn alone", floors)):
        cpu, mb = (sorted(values) for values in zip(*each, strict=True))
        half = len(cpu) // 2
        print(f"{what}: {cpu[half]:.2f} s of processor ({cpu[0]:.2f} to {cpu[-1]:.2f}), {mb[half]:.1f} MB resident")


if __name__ == "__main__":
    main()
