"""Builds the guest: a Debian disk with the project as INSTALL.md has it, and modules for hardware that is pretended.

    sudo python tests/process/machine/build_guest.py FOLDER [--sources FILE] [--again STEP]

For root on a Debian 12 machine; 2.5 GB below FOLDER. Debian's packages come from where this machine's own apt gets
them, or from where `--sources` says (a file as /etc/apt/sources.list is); Python's from where its pip does. A step that
was done is not done again, but that of the project's wheel and the disk, which always are.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]
SUITE = "bookworm"
PACKAGES = (
    "systemd-sysv,udev,dbus,kmod,initramfs-tools,linux-image-amd64,python3,python3-venv,procps,i2c-tools,iproute2"
)
TOOLS = {"mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs", "depmod": "kmod", "gcc-12": "gcc-12", "make": "make"}
LINUX = Path("/usr/src/linux-source-6.1.tar.xz")
TAKEN = ("drivers/gpio/gpio-sim.c", "drivers/gpio/gpiolib.h", "kernel/irq/irq_sim.c")
"""What Debian's kernel was not built with: pins without hardware."""
ALSO = ("lgpio", "gpiod")
"""The extra [pi] asks for them on a Pi alone; there are wheels of them for a PC. Blinka opens a Pi's pins by gpiod."""
XZ = b"\xfd7zXZ\0"
"""Where the kernel begins in Debian's vmlinuz."""
DISK_MB = 3072
FILES = {
    "etc/hostname": "mat\n",
    "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 mat\n",
    "etc/fstab": "/dev/vda / ext4 defaults,noatime 0 1\n",
    "etc/systemd/network/10-qemu.network": (
        "[Match]\nName=en* eth*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n"
        "LinkLocalAddressing=no\nIPv6AcceptRA=no\n"
    ),
    # root on the serial console, without a password: this machine is reached by nobody else
    "etc/systemd/system/serial-getty@ttyS0.service.d/root.conf": (
        '[Service]\nExecStart=\nExecStart=-/sbin/agetty -o "-p -f root" -a root --keep-baud 115200 %I dumb\n'
    ),
    "etc/systemd/system/pretended-hardware.service": (
        "[Unit]\nDescription=Pretended pins, buses and a board on USB\nDefaultDependencies=no\n"
        "After=systemd-modules-load.service systemd-udevd.service local-fs.target sys-kernel-config.mount\n"
        "Before=moccasin-mat.service multi-user.target\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh /opt/tests/hardware.sh\n"
        "[Install]\nWantedBy=multi-user.target\n"
    ),
}
_begun = time.monotonic()


def main() -> None:
    """Take all steps, each told with the time since the start."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sources", type=Path, help="where apt shall take Debian's packages from")
    parser.add_argument("--again", choices=("root", "modules", "packages"), help="do this step anew, too")
    args = parser.parse_args()
    out: Path = args.folder.absolute()
    out.mkdir(parents=True, exist_ok=True)
    missing = sorted({package for name, package in TOOLS.items() if shutil.which(name) is None})
    if not LINUX.exists():
        missing.append("linux-source-6.1")
    if missing:
        sys.exit(f"missing: apt install {' '.join(missing)}")
    if os.geteuid():
        sys.exit("needs root: it makes a whole system")
    root = out / "root"
    if args.again == "root" or not (root / "usr").exists():
        show("a Debian root folder (some minutes)")
        make_root(root, args.sources)
    release = next((root / "lib/modules").iterdir()).name
    headers = Path("/usr/src") / f"linux-headers-{release}"
    if not headers.is_dir():
        sys.exit(f"missing: apt install linux-headers-{release}")
    if args.again in {"root", "modules"} or not (root / f"lib/modules/{release}/extra").exists():
        show(f"kernel modules for {release}")
        make_modules(out / "modules", headers)
        install_modules(root, out / "modules", release)
    show("the project and what it needs")
    install_project(root, out / "wheels", again=args.again in {"root", "packages"})
    show("the machine's own files")
    configure(root)
    show("the disk")
    make_disk(out, root)
    show(f"done: boot it with {out}/vmlinux, {out}/initrd and {out}/disk.img")


def show(step: str) -> None:
    """Write what is being done."""
    print(f"{time.monotonic() - _begun:6.1f} s  {step}", flush=True)


def run(*command: str | Path) -> None:
    """Run a command; end with what it wrote where it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-3000:]}")


def make_root(root: Path, sources: Path | None) -> None:
    """Make the folder of a Debian with its stock kernel, systemd and Python."""
    shutil.rmtree(root, ignore_errors=True)
    leave = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "doc", "locale")]
    languages = '--aptopt=Acquire::Languages "none"'
    where = [str(sources)] if sources else _own_sources()
    run(
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        f"--include={PACKAGES}",
        languages,
        *leave,
        SUITE,
        root,
        *where,
    )
    # a start file with what this machine has: 6.5 MB in place of 35, which an emulated processor feels
    tools = root / "etc/initramfs-tools"
    (tools / "conf.d/small").write_text("MODULES=list\nCOMPRESS=gzip\n")
    (tools / "modules").write_text("virtio_pci\nvirtio_blk\next4\n")
    run("chroot", root, "update-initramfs", "-u")


def _own_sources() -> list[str]:
    """Return where this machine's apt gets Debian's main archives of the suite, as lines of a sources.list."""
    fields = "$(ORIGIN)|$(COMPONENT)|$(REPO_URI)|$(CODENAME)"
    command = ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = dict.fromkeys(tuple(line.split("|")) for line in lines)
    wanted = [(address, code) for origin, part, address, code in found if origin == "Debian" and part == "main"]
    return [f"deb {address} {code} main" for address, code in wanted if code.startswith(SUITE)]


def make_modules(folder: Path, headers: Path) -> None:
    """Build gpio-sim, from the kernel's own source, and the buses with a touch chip and a converter on them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = [f"{LINUX.name.removesuffix('.tar.xz')}/{name}" for name in TAKEN]
    run("tar", "-xJf", LINUX, "-C", folder, "--transform", "s,.*/,,", *names)
    (folder / "gpio-sim.c").rename(folder / "gpio-sim-main.c")
    # the one function that a module may not call, by the two that it may
    source = folder / "irq_sim.c"
    text = source.read_text().replace("irq_to_desc(irqnum)", "irq_data_to_desc(irq_get_irq_data(irqnum))")
    source.write_text(text.replace("#include <linux/irq.h>", "#include <linux/irq.h>\n#include <linux/irqdesc.h>", 1))
    shutil.copy(HERE / "modules/matbus.c", folder)
    (folder / "Makefile").write_text("obj-m := gpio-sim.o matbus.o\ngpio-sim-y := gpio-sim-main.o irq_sim.o\n")
    run("make", "-C", headers, f"M={folder}", "modules")


def install_modules(root: Path, folder: Path, release: str) -> None:
    """Put the modules where the guest's modprobe finds them."""
    extra = root / f"lib/modules/{release}/extra"
    extra.mkdir(exist_ok=True)
    for path in folder.glob("*.ko"):
        shutil.copy(path, extra)
    run("depmod", "-b", root, release)


def install_project(root: Path, wheels: Path, *, again: bool) -> None:
    """Install the wheel of this tree with its extra for a Pi in a venv in /opt, as a person does by INSTALL.md.

    The guest has no net: what pip takes is fetched here first, for the same Python.
    """
    wheels.mkdir(exist_ok=True)
    for path in wheels.glob("moccasin_mat-*.whl"):
        path.unlink()
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", wheels, PROJECT)
    (wheel,) = wheels.glob("moccasin_mat-*.whl")
    inside = "/opt/moccasin-mat/bin"
    if again or not (root / inside[1:] / "pip").exists():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        if not (root / f"usr/bin/python{version}").exists():
            sys.exit(f"the guest's Python is not {version}: run this with the Python of Debian {SUITE}")
        show(f"  {wheel.name}[pi] and {', '.join(ALSO)}, with pip")
        run(*pip, "wheel", "-q", "-w", wheels, "--find-links", wheels, f"{wheel}[pi]", *ALSO)
        shutil.rmtree(root / "opt/moccasin-mat", ignore_errors=True)
        run("chroot", root, "python3", "-m", "venv", "/opt/moccasin-mat")
    there = root / "srv/wheels"
    shutil.copytree(wheels, there, dirs_exist_ok=True)
    install = ("chroot", root, f"{inside}/pip", "install", "-q", "--no-index", "--find-links", "/srv/wheels")
    run(*install, f"/srv/wheels/{wheel.name}[pi]", *ALSO)
    run(*install, "--force-reinstall", "--no-deps", f"/srv/wheels/{wheel.name}")
    shutil.rmtree(there)


def configure(root: Path) -> None:
    """Give the machine a name, an address behind qemu's network, a console and its pretended hardware."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copytree(HERE / "guest", root / "opt/tests", dirs_exist_ok=True)
    shutil.copy(HERE.parents[1] / "support/pty_mat.py", root / "opt/tests")
    (root / "var/log/journal").mkdir(exist_ok=True)
    run("chroot", root, "passwd", "-d", "root")
    run("chroot", root, "systemctl", "enable", "-q", "systemd-networkd", "pretended-hardware")
    run("chroot", root, "systemctl", "mask", "-q", "systemd-networkd-wait-online.service", "apt-daily.timer")


def make_disk(out: Path, root: Path) -> None:
    """Make the disk's image; beside it the kernel and its start file, unpacked: a guest would take long for that."""
    (packed,) = (path.read_bytes() for path in (root / "boot").glob("vmlinuz-*"))
    kernel = lzma.LZMADecompressor().decompress(packed[packed.index(XZ) :])
    (out / "vmlinux").write_bytes(kernel)
    (packed,) = (path.read_bytes() for path in (root / "boot").glob("initrd.img-*"))
    (out / "initrd").write_bytes(gzip.decompress(packed))
    disk = out / "disk.img"
    disk.unlink(missing_ok=True)
    run("truncate", "-s", f"{DISK_MB}M", disk)
    run("mke2fs", "-q", "-t", "ext4", "-L", "root", "-d", root, disk)


if __name__ == "__main__":
    main()
