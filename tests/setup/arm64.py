"""The whole installation on a Pi's user land, without a Pi: Debian for arm64 under qemu, the wheel, first commands.

    sudo python tests/setup/arm64.py [--suite bookworm|trixie] [--keep]

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
BINFMT = Path("/proc/sys/fs/binfmt_misc")
BINFMT_CONF = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
PACKAGES = "ca-certificates,gcc,libc6-dev,python3-dev,python3-venv,systemd"
"""rpi-ws281x is compiled; systemd checks the unit."""
CPU = "cortex-a53"
"""The slowest core of the Pis we know, of a Pi 3 and a Zero 2 W: a wheel that needs a newer one fails here."""
PROGRAM = "/opt/moccasin-mat/bin/moccasin-mat"
IMPORTS = "lgpio, gpiod, _rpi_ws281x, adafruit_raspberry_pi5_neopixel_write, gpiozero, adafruit_pixelbuf, scipy"
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
    parser.add_argument("--suite", default="bookworm", choices=("bookworm", "trixie"))
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
            timed("debootstrap", [*command, args.suite, str(root), mirror()], quiet=True)
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


def arm64_runs(stack: ExitStack) -> None:
    """Let the kernel run arm64 programs by qemu, until `stack` is unwound where it did not before."""
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)], check=True)
        stack.callback(subprocess.run, ["umount", str(BINFMT)], check=False)
    if not (BINFMT / "qemu-aarch64").exists():
        (BINFMT / "register").write_bytes(BINFMT_CONF.read_bytes().strip())
        stack.callback((BINFMT / "qemu-aarch64").write_text, "-1")


def mirror() -> str:
    """Return where this machine's apt gets Debian's main archive."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split()[2] for line in told if line.startswith("Debian main ") and "security" not in line]
    if not found:
        sys.exit("apt knows no archive of Debian's here")
    return found[0]


def reach_registries(root: Path) -> None:
    """Give the user land this machine's way to the net: its resolver, hosts and certificates."""
    for name in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
        if (source := Path("/") / name).exists():
            (root / name).unlink(missing_ok=True)
            shutil.copy(source.resolve(), root / name)


def environment() -> dict[str, str]:
    """Return this machine's pip settings and proxies as an environment, without what names a folder of its own."""
    told = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    pairs = (line.partition("=") for line in told.splitlines())
    kept = {
        f"PIP_{name.split('.')[-1].upper().replace('-', '_')}": value.strip("'")
        for name, _, value in pairs
        if name.split(".")[-1] in {"index-url", "extra-index-url", "trusted-host", "proxy", "default-timeout"}
    }
    kept |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    local = {name for name, value in kept.items() if "file:" in value}
    shell = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "PIP_NO_CACHE_DIR": "1"}
    shell["QEMU_CPU"] = CPU
    return {name: value for name, value in kept.items() if name not in local} | shell


def inside(root: Path, command: str) -> list[str]:
    """Return the command that runs `command` in the user land, with /proc and /dev that go with it."""
    script = (
        f"mount -t proc proc {root}/proc && mount -t tmpfs tmpfs {root}/dev && mkdir {root}/dev/shm && "
        f"for d in null zero random urandom; do touch {root}/dev/$d; mount --bind /dev/$d {root}/dev/$d; done && "
        f"mkdir {root}/dev/pts && mount -t devpts -o newinstance,ptmxmode=0666 devpts {root}/dev/pts && "
        f"ln -s pts/ptmx {root}/dev/ptmx && "
        f'exec chroot {root} env -i "$@"'
    )
    settings = [f"{name}={value}" for name, value in environment().items()]
    unshared = ["unshare", "--mount", "--pid", "--fork", "sh", "-ec", script, "sh"]
    return [*unshared, *settings, "sh", "-c", command]


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
