"""The whole installation on a Pi's user land, without a Pi: Debian for arm64 under qemu, the wheel, first commands.

    sudo python tests/tools/arm64.py [--suite trixie|bookworm] [--keep]

For root on a Debian machine with debootstrap and qemu-user-static; it takes some minutes and 1.5 GB below `--folder`,
which it gives back. The packages come from wherever this machine's own apt and pip get theirs. What this cannot show:
pins, SPI, USB, and how fast a Pi is.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "hardware/image"))

from arm64_root import archives, arm64_runs, inside, reach_registries  # noqa: E402

PACKAGES = "ca-certificates,gcc,libc6-dev,python3-dev,python3-venv,systemd"
"""rpi-ws281x is compiled; systemd checks the unit."""
PROGRAM = "/opt/moccasin-mat/bin/moccasin-mat"
IMPORTS = "lgpio, gpiod, _rpi_ws281x, adafruit_raspberry_pi5_neopixel_write, gpiozero, adafruit_pixelbuf, numpy"
STEPS = {  # name -> (command, exit statuses that are right)
    "version": (f"{PROGRAM} --version", {0}),
    "imports": (f"/opt/moccasin-mat/bin/python -c 'import {IMPORTS}; print({IMPORTS})'", {0}),
    "doctor": (f"{PROGRAM} doctor", {0, 1}),
    "doctor on a simulated mat": (f"{PROGRAM} doctor --sim", {0, 1}),
    "demo": (f"{PROGRAM} demo --set points=1 --no-web", {0}),
    "setup, dry run": (f"{PROGRAM} setup --dry-run", {0}),
    "setup below a root": (f"mkdir -p /srv/image && {PROGRAM} setup --yes --root /srv/image", {0}),
    "setup": (f"{PROGRAM} setup --yes", {0}),
    "the unit's check": ("systemd-analyze verify moccasin-mat.service", {0}),
    "setup, status": (f"{PROGRAM} setup --status", {0}),
    "setup, undone": (f"{PROGRAM} setup --undo --yes", {0}),
}


def main() -> int:
    """Build the user land, install, run the steps, tell the seconds of each; returns 1 when one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suite", default="trixie", choices=("trixie", "bookworm"))
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/var/tmp"), help="where there are 1.5 GB")
    parser.add_argument("--keep", action="store_true", help="leave the user land there, and say where")
    parser.add_argument("--again", metavar="DIR", help="use the user land that --keep left")
    args = parser.parse_args()
    if missing := [name for name in ("debootstrap", "qemu-aarch64-static") if shutil.which(name) is None]:
        print(f"needs {' and '.join(missing)}: apt install debootstrap qemu-user-static")
        return 2
    if os.geteuid() != 0:
        print("needs root: debootstrap makes a whole system")
        return 2
    with ExitStack() as stack:
        arm64_runs(stack)
        root = Path(args.again or tempfile.mkdtemp(prefix="moccasin-arm64-", dir=args.folder))
        root.chmod(0o755)  # or nobody but root could run anything in it
        if args.keep or args.again:
            print(f"user land: {root}")
        else:
            stack.callback(shutil.rmtree, root, ignore_errors=True)
        if not args.again:
            command = ["debootstrap", "--arch=arm64", "--variant=minbase", f"--include={PACKAGES}"]
            timed("debootstrap", [*command, args.suite, str(root), archives()[0].url], quiet=True)
        return steps(root)


def steps(root: Path) -> int:
    """Install the wheel of this tree in `root` and take all steps; returns 1 when one fails."""
    reach_registries(root)
    wheels = root / "tmp/wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", str(wheels), str(ROOT)]
    timed("wheel", build, quiet=True)
    (wheel,) = wheels.glob("*.whl")
    pip = f"/opt/moccasin-mat/bin/pip install -q '/tmp/wheels/{wheel.name}"
    timed(
        "pip install with [pi-lights]",
        inside(root, f"python3 -m venv /opt/moccasin-mat && {pip}[pi-lights]'"),
        quiet=True,
    )
    # pip leaves a wheel of the same version that is there already, as with --again
    timed("the wheel once more", inside(root, f"{pip}' --force-reinstall --no-deps"), quiet=True)
    failed = [name for name, (command, right) in STEPS.items() if timed(name, inside(root, command), right) is False]
    print(f"{len(STEPS) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def timed(name: str, command: list[str], right: Collection[int] = (0,), quiet: bool = False) -> bool:
    """Run a step, tell its seconds and what it printed; a step of the preparation (`quiet`) must succeed."""
    began = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    good = done.returncode in right and "Traceback" not in done.stdout + done.stderr
    print(f"== {name}: {took:.1f} s, status {done.returncode}{'' if good else ' FAILED'}", flush=True)
    if not quiet or not good:
        print("".join(f"   {line}\n" for line in (done.stdout + done.stderr).splitlines()[-80:]), end="", flush=True)
    if quiet and not good:
        sys.exit(1)
    return good


if __name__ == "__main__":
    sys.exit(main())
