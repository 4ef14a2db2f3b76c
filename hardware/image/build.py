"""Builds the SD card for a table on a Raspberry Pi, out of Debian's packages and this tree.

    sudo .venv/bin/python hardware/image/build.py table.img --versions hardware/image/versions-13.txt

For root on a Debian machine; the program names the packages of apt that it misses. Debian's packages come from
wherever this machine's apt gets its own, or from the snapshot of a date; Python's from wherever its pip does.
README.md beside this file says what is on the card.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import uuid
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arm64_root import archives, arm64_runs, inside, reach_registries
from versions import Versions, VersionsError, check_snapshot, parse_versions, read_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

sys.path.insert(0, str(Path(__file__).parents[2]))
from pi_controller.card import boot_config

HERE = Path(__file__).parent
TREE = HERE.parents[1]

PACKAGES = {
    "starts the Pi": ["raspi-firmware", "linux-image-arm64", "initramfs-tools", "zstd", "e2fsprogs", "fdisk"],
    "the system": ["systemd", "systemd-sysv", "udev", "dbus", "kmod", "tzdata", "busybox"],
    "the network": [
        *("iproute2", "systemd-resolved", "systemd-timesyncd", "avahi-daemon", "libnss-mdns", "openssh-server"),
    ],
    "Wi-Fi": ["wpasupplicant", "dnsmasq-base", "firmware-brcm80211", "wireless-regdb"],
    "the table": ["python3", "python3-venv", "ca-certificates"],
    "sound": ["alsa-utils", "espeak-ng"],
    "a clock with a battery": ["util-linux-extra"],
}
NEWER = ("linux-image-arm64", "firmware-brcm80211")
"""Taken from the suite's backports with --backports: Debian 13's own kernel has no driver for a Pi 5's card reader."""
KIOSK = ["cage", "chromium", "seatd", "xwayland", "libgl1-mesa-dri", "fonts-dejavu-core"]
"""For the visitors' screen of an installation (--kiosk)."""
COMPILES = ["gcc", "libc6-dev", "python3-dev"]
"""For the light strips' library, which is compiled in a second Debian; nothing of it gets on the card."""
LEFT_OUT = [
    "/usr/share/doc/*/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/man/*",
    *(
        f"*/lib/modules/*/kernel/{path}/*"
        for path in (
            "drivers/gpu/drm/amd",
            "drivers/gpu/drm/etnaviv",
            "drivers/gpu/drm/lima",
            "drivers/gpu/drm/msm",
            "drivers/gpu/drm/nouveau",
            "drivers/gpu/drm/panfrost",
            "drivers/gpu/drm/radeon",
            "drivers/gpu/drm/rockchip",
            "drivers/gpu/drm/tegra",
            "drivers/infiniband",
            "drivers/iio",
            "drivers/isdn",
            "drivers/media",
            "drivers/net/ethernet/mellanox",
            "drivers/net/ethernet/chelsio",
            "drivers/net/ethernet/intel",
            "drivers/net/ethernet/qlogic",
            "drivers/net/ethernet/broadcom/bnx2x",
            "drivers/scsi/*",
            "drivers/staging",
            "drivers/target",
            "fs/btrfs",
            "fs/ceph",
            "fs/gfs2",
            "fs/ocfs2",
            "fs/xfs",
        )
    ),
]
"""Of the packages: pages nobody reads there, translations of Debian's programs, drivers of what hangs on no Pi."""
KEPT = [
    "/usr/share/doc/*/copyright",
    "*/lib/modules/*/kernel/drivers/staging/vc04_services/*",
]
"""Of what is left out: licences, and the driver of the Pi's analogue sound output."""
INITRAMFS = "files/etc/initramfs-tools"
MODELS = ("Raspberry Pi 3", "Raspberry Pi 4", "Raspberry Pi Zero 2")
"""Models with light strips on their own pins; Debian's kernel has no SPI on the pins of a Pi 5."""
PI_5 = ["[pi5]", "os_check=0", "[pi500]", "device_tree=bcm2712-d-rpi-5-b.dtb"]
"""For config.txt: the firmware of a Pi 5 starts this kernel too; Debian has no device tree of a Pi 500."""
PI_5_NAMES = {
    "boot/firmware/bcm2712d0-rpi-5-b.dtb": "bcm2712-d-rpi-5-b.dtb",
    "usr/lib/firmware/brcm/brcmfmac43455-sdio.raspberrypi,5-model-b.txt": (
        "brcmfmac43455-sdio.raspberrypi,4-model-b.txt"
    ),
}
"""Names under which a Pi 5 looks for files that Debian calls otherwise: its later chip's tree; the Wi-Fi of a Pi 4."""
ON = [
    "moccasin-mat-card",
    "moccasin-mat-grow",
    "moccasin-mat-hub",
    "moccasin-mat-own-network",
    "moccasin-mat-portal.socket",
    "moccasin-mat-screen",
    "moccasin-mat-settle",
    "moccasin-mat-warnings.path",
    "moccasin-mat-warnings.timer",
    "systemd-networkd",
    "ssh",
]
OFF = [
    *(
        "getty@.service",
        "getty-static.service",
        "autovt@.service",
        "serial-getty@.service",
        "console-getty.service",
        "container-getty@.service",
    ),
    *("systemd-networkd-wait-online.service", "systemd-firstboot.service", "systemd-machine-id-commit.service"),
    *("wpa_supplicant.service", "debug-shell.service", "ssh.socket"),
    *(
        "apt-daily.timer",
        "apt-daily-upgrade.timer",
        "dpkg-db-backup.timer",
        "e2scrub_all.timer",
        "e2scrub_reap.service",
    ),
]
"""Logins at a screen or a cable, what writes to the root, and what holds up the start."""
TOOLS = {
    "arch-test": "arch-test",
    "dtc": "device-tree-compiler",
    "mcopy": "mtools",
    "mke2fs": "e2fsprogs",
    "mkfs.vfat": "dosfstools",
    "mmdebstrap": "mmdebstrap",
    "qemu-aarch64-static": "qemu-user-static",
    "sfdisk": "fdisk",
    "xz": "xz-utils",
}
OWN = "usr/local/lib/moccasin-mat"
"""The card's own programs."""
PROGRAM = "/opt/moccasin-mat/bin/moccasin-mat"
PIP = "/opt/moccasin-mat/bin/pip install -q --no-warn-script-location --no-compile"
REPORT = "opt/moccasin-mat/pip-report.json"
"""What pip chose; it is not on the card."""
VENV = f"python3 -m venv /opt/moccasin-mat && CFLAGS=-g0 {PIP}"
"""-g0: what is compiled does not name the folder, another each time, in which pip compiled it."""
COMPILE = "PYTHONHASHSEED=0 /opt/moccasin-mat/bin/python -m compileall -qf /opt/moccasin-mat/lib/python*/site-packages"
"""In one process and by the card's own Python, so that each build gives the same bytes."""
SUITE = "trixie"
SNAPSHOTS = ("Origin::Debian", "Override::Label::Debian-Security")
"""Names in apt's settings of the archives of old states: Debian's own, and that of its security updates."""
MIB = 1 << 20
BOOT_MIB, STATE_MIB, ROOM_MIB = 256, 128, 192
"""The boot partition holds two kernels during an update; the last one grows at the first start; room on the root."""
FIRST_SETTINGS = """
from pathlib import Path
from pi_controller.host.place import make_place
from pi_controller.card.plan import first_settings
from pi_controller.config import format_example
made = first_settings("", make_place(), lit=False)
web = made.web.model_copy(update={"host": "0.0.0.0", "judges": True})
head = "Every line may be changed, on any laptop; it is checked when the Pi starts, and its screen tells what is wrong."
text = format_example(made.model_copy(update={"web": web}), head)
for path in ("/boot/firmware/table.toml", "/etc/moccasin-mat/table.toml"):
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text, "utf-8")
"""
"""Lights and buttons are off until the host turns them on: a table starts with what every Pi has."""


def parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("image", type=Path, help="the file to make; beside it a list of all versions, .versions.txt")
    parser.add_argument("--suite", default=SUITE, help="Debian's (%(default)s, which is 13; bookworm is 12)")
    parser.add_argument("--sources", type=Path, help="a file of apt's sources, in place of this machine's own")
    parser.add_argument("--versions", type=Path, help="install Python's packages of exactly the versions in this file")
    parser.add_argument("--write-versions", type=Path, metavar="FILE", help="write the versions that pip has chosen")
    parser.add_argument(
        "--snapshot",
        metavar="DATE",
        help='of Debian, 20261124T000000Z, or "none" (the date in --versions, if it has one)',
    )
    parser.add_argument("--extras", default="pi-lights,flash,voice,hub", help="of the project's packages (%(default)s)")
    parser.add_argument("--packages", nargs="+", default=[], metavar="NAME", help="further packages of Debian")
    parser.add_argument("--work", type=Path, help="keep Debian's and Python's packages there for the next build")
    parser.add_argument(
        "--kiosk", action="store_true", help="the installation in place of a table, in a browser on the Pi's own screen"
    )
    parser.add_argument(
        "--backports", action="store_true", help="with the kernel of Debian's backports, for a Pi 5 too (not tried yet)"
    )
    parser.add_argument("--xz", action="store_true", help="also pack it, as image.xz")
    return parser


def main() -> int:
    """Build it; return 0, or 2 where this machine lacks something."""
    args = parser().parse_args()
    try:
        versions = parse_versions(args.versions.read_text("utf-8")) if args.versions else None
        date = args.snapshot or (versions.snapshot if versions else "") or "none"
        snapshot = "" if date == "none" else check_snapshot(date)
    except (VersionsError, OSError) as error:
        print(f"{args.versions or '--snapshot'}: {error}")
        return 2
    if missing := sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None}):
        print(f"needs: apt install {' '.join(missing)}")
        return 2
    if os.geteuid() != 0:
        print("needs root: the files of a whole system belong to root")
        return 2
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch := commit_time())
    os.umask(0o022)
    with ExitStack() as stack:
        arm64_runs(stack)
        work = Path(args.work or stack.enter_context(tempfile.TemporaryDirectory(prefix="card-", dir="/var/tmp")))
        work.mkdir(parents=True, exist_ok=True)
        if args.sources:
            sources = args.sources.read_text("utf-8")
        else:
            suites = [args.suite, *([f"{args.suite}-backports"] if args.backports else [])]
            sources = "".join(snapshot_sources(suites, snapshot) if snapshot else own_sources(suites))
        packages = (
            [name for names in PACKAGES.values() for name in names] + (KIOSK if args.kiosk else []) + args.packages
        )
        if args.backports:
            packages = [f"{name}/{args.suite}-backports" if name in NEWER else name for name in packages]
        base = debian(work, args.suite, sources, packages, LEFT_OUT)
        with step("unpack them"):
            unpack(base, work / "root")
        root = work / "root"
        report = python_packages(base, work, f"{args.suite} {sources}", args.extras, versions)
        if args.write_versions:
            chosen = Versions(read_report(report, without="moccasin-mat"), snapshot)
            args.write_versions.write_text(chosen.format_file(), "utf-8")
        configure(root, kiosk=args.kiosk)
        args.image.with_suffix(".versions.txt").write_text(_versions(root), "utf-8")
        assemble(root, work, args.image, epoch)
        if args.xz:
            with step("pack it"):
                run("xz", "-kfT0", "-6", args.image)
                print(f"   {args.image}.xz: {Path(f'{args.image}.xz').stat().st_size / MIB:.0f} MiB")
    return 0


def own_sources(suites: Sequence[str]) -> list[str]:
    """Return apt's sources of a suite, perhaps with its backports, from where this machine gets Debian."""
    suite, *more = suites
    found = [(url, f"{suite}{name.removeprefix(_suite())}") for url, name in archives()]
    return [
        f"deb {url} {name} main non-free-firmware\n" for url, name in (*found, *((found[0][0], one) for one in more))
    ]


def snapshot_sources(suites: Sequence[str], date: str) -> list[str]:
    """Return apt's sources of a suite, perhaps with its backports, as they were at `date`.

    This machine's apt knows where old states are kept.
    """
    told = run("apt-config", "dump", "Acquire::Snapshots::URI", caught=True)
    places = [re.search(rf'{name} "(\S+@SNAPSHOTID@\S*)"', told) for name in SNAPSHOTS]
    if None in places:
        sys.exit(
            "this machine's apt knows no archive of old states (Debian 13's does): "
            "name one with --sources, or build from today's state with --snapshot none"
        )
    main, security = (place[1].replace("@SNAPSHOTID@", date) for place in places if place)
    suite, *more = suites
    rows = ((main, suite), (main, f"{suite}-updates"), (security, f"{suite}-security"), *((main, one) for one in more))
    return [f"deb [check-valid-until=no] {url} {name} main non-free-firmware\n" for url, name in rows]


def debian(work: Path, suite: str, sources: str, packages: Sequence[str], left_out: Sequence[str]) -> Path:
    """Return a tar of a Debian with `packages`, made unless one of the same lists is in `work`."""
    early = (path for path in sorted((HERE / INITRAMFS).rglob("*")) if path.is_file())
    lists = "\n".join([suite, sources, *packages, *left_out, *KEPT, *(path.read_text("utf-8") for path in early)])
    tar = work / f"debian-{hashlib.sha256(lists.encode()).hexdigest()[:12]}.tar"
    if not tar.exists():
        with step("Debian's packages (some minutes)"):
            (work / "sources.list").write_text(sources, "utf-8")
            run(
                "mmdebstrap", "--quiet", "--arch=arm64", "--variant=apt", "--mode=root", "--format=tar",
                f"--include={','.join(packages)}",
                '--aptopt=APT::Install-Recommends "false"',
                *(f"--dpkgopt=path-exclude={path}" for path in left_out),
                *(f"--dpkgopt=path-include={path}" for path in KEPT),
                f"--essential-hook=cp -rT {shlex.quote(str(HERE / INITRAMFS))} $1/{INITRAMFS.removeprefix('files/')}",
                suite, tar.with_suffix(".part"), work / "sources.list",
            )  # fmt: skip
            tar.with_suffix(".part").rename(tar)
    return tar


def unpack(tar: Path, folder: Path) -> None:
    """Unpack a Debian into `folder`, in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    run("tar", "-xpf", tar, "-C", folder, "--numeric-owner", "--xattrs", "--xattrs-include=*")


def python_packages(base: Path, work: Path, release: str, extras: str, versions: Versions | None = None) -> str:
    """Install this tree and its packages for the card in a venv, in a second Debian with a compiler; copy the venv.

    With `versions` pip takes exactly these. All cards of one `release` of Debian share a venv in `work`. Returns pip's
    report of what it chose, "" with `versions`.
    """
    root, second = work / "root", work / "second"
    project = tomllib.loads((TREE / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [project.get(name) for name in ("requires-python", "dependencies", "optional-dependencies")]
    key = hashlib.sha256(f"{needs}{release}{extras}{versions}{VENV}".encode()).hexdigest()[:12]
    kept = work / f"venv-{key}.tar"
    unpack(base, second)
    reach_registries(second)
    with step("this tree as a wheel"):
        wheels = second / "tmp/wheels"
        wheels.mkdir(parents=True)
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", wheels, TREE)
        (wheel,) = wheels.glob("*.whl")
    if kept.exists():
        run("tar", "-xpf", kept, "-C", second)
    else:
        with step("a compiler for the light strips' library (some minutes)"):
            (second / "etc/apt/apt.conf.d/99host").write_text(
                run("apt-config", "dump", "Acquire", caught=True), "utf-8"
            )
            run(
                *inside(
                    second, f"apt-get -qq update && apt-get -qq -y --no-install-recommends install {' '.join(COMPILES)}"
                )
            )
        with step("Python's packages (some minutes)"):
            needed = f"--report /{REPORT} '/tmp/wheels/{wheel.name}[{extras}]'"
            if versions:
                (second / "tmp/versions.txt").write_text(versions.format_file(), "utf-8")
                needed = "--require-hashes -r /tmp/versions.txt"
            run(*inside(second, f"{VENV} {needed}"))
        with step("their bytecode (some minutes)"):
            run(*inside(second, COMPILE))
            run("tar", "-cf", kept.with_suffix(".part"), "-C", second, "opt/moccasin-mat")
            kept.with_suffix(".part").rename(kept)
    with step("the wheel onto the card"):
        # --no-index: a need of this tree that the versions file lacks is an error here
        run(*inside(second, f"{PIP} --no-index --force-reinstall --no-deps /tmp/wheels/{wheel.name}"))
        run(*inside(second, f"{PIP} --no-index '/tmp/wheels/{wheel.name}[{extras}]'"))
        run(*inside(second, f"{COMPILE}/pi_controller"))
        report = second / REPORT
        told = report.read_text("utf-8") if report.exists() else ""
        report.unlink(missing_ok=True)
        run("cp", "-a", second / "opt/moccasin-mat", root / "opt/")
    shutil.rmtree(second)
    return told


def configure(root: Path, *, kiosk: bool = False) -> None:
    """Make the packages in `root` a table: its settings and service, the card's own files, what starts and what not.

    `kiosk` makes them the installation with its screen.
    """
    with step("settings and service"):
        run("cp", "-r", "--no-preserve=ownership", f"{HERE / 'files'}/.", root)
        shutil.rmtree(root / OWN / "__pycache__", ignore_errors=True)  # what tests have left beside the programs
        run("cp", "--no-preserve=ownership", *sorted((HERE / "card").iterdir()), root / "boot/firmware")
        (root / "etc/default/raspi-firmware-custom").write_text(custom_boot_config(), "utf-8")
        overlay = root / "boot/firmware/overlays/moccasin-mat-spi.dtbo"
        overlay.parent.mkdir(exist_ok=True)
        run("dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", overlay, HERE / "spi.dts")
        (root / "usr/local/bin/moccasin-mat").symlink_to(PROGRAM)
        (root / "state").mkdir(exist_ok=True)
        run(*inside(root, f"/opt/moccasin-mat/bin/python - <<'END'\n{FIRST_SETTINGS}END\n{setup_command(kiosk=kiosk)}"))
        run(*inside(root, "systemd-sysusers"))
    with step("what starts"):
        commands = [f"systemctl -q enable {' '.join(ON)}", f"systemctl -q mask {' '.join(OFF)}"]
        run(*inside(root, " && ".join([*commands, "systemctl -q set-default multi-user.target"])))
        _forget(root)
    # the kernel's memory disk was made with the packages, for its files lay there before; the hook wants this mounted
    mount = "mount --bind /boot/firmware /boot/firmware"
    with step("what the Pi starts"):
        run(*inside(root, f"{mount} && DEB_MAINT_PARAMS=configure /etc/kernel/postinst.d/z50-raspi-firmware"))
        for name, like in PI_5_NAMES.items():
            path = root / name
            if path.with_name(like).exists() and not path.exists():
                shutil.copy(path.with_name(like), path)


def custom_boot_config() -> str:
    """Return what the card adds to config.txt: light strips on GPIO10 by model, and what a Pi 5 needs."""
    # spi.dts is in place of the parameters; a Pi 5 has other device trees
    lines = [
        "dtoverlay=moccasin-mat-spi" if line.startswith("dtparam=") else line for line in boot_config.by_model(MODELS)
    ]
    return "\n".join(["# light strips on GPIO10", *lines[:-1], *PI_5, lines[-1], ""])


def setup_command(*, kiosk: bool) -> str:
    """Return the command that sets up the service."""
    return f"{PROGRAM} service install --yes{' --kiosk' if kiosk else ''}"


def _forget(root: Path) -> None:
    """Take away what each card must have for itself, and what is written at run time."""
    for path in root.glob("etc/ssh/ssh_host_*"):
        path.unlink()
    for name, text in (("etc/machine-id", ""), ("etc/hostname", "moccasin-mat\n")):
        (root / name).write_text(text, "utf-8")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n", "utf-8")
    for name, to in (
        ("etc/localtime", "/run/moccasin-mat-card/localtime"),
        ("etc/systemd/network/10-own.network", "/run/moccasin-mat-card/own.network"),
        ("etc/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"),
        ("var/lib/dbus/machine-id", "/etc/machine-id"),
    ):
        (root / name).unlink(missing_ok=True)
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(to)
    (root / "etc/timezone").unlink(missing_ok=True)
    for name in ("var/cache/apt", "var/lib/apt/lists", "var/log", "tmp", "run"):
        for path in (root / name).iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name in ("etc/.updated", "var/.updated"):
        (root / name).touch()


def assemble(root: Path, work: Path, image: Path, epoch: int) -> None:
    """Write the card's three partitions into `image`: FAT to start from, the root, and what is kept."""
    os.environ["E2FSPROGS_FAKE_TIME"] = str(epoch)
    with step("three partitions"):
        card, state = work / "boot", work / "state"
        for folder in (card, state):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(root / "boot/firmware", card)
        _empty(root / "boot/firmware")
        for name in ("table", "settings", "systemd", "program"):
            (state / name).mkdir(parents=True)
        for folder, kept in (("etc/moccasin-mat", "settings"), ("var/lib/systemd", "systemd")):
            run("cp", "-a", f"{root / folder}/.", state / kept)
            _empty(root / folder)
        for name in ("moccasin-mat", "moccasin-mat-program"):
            (root / "var/lib" / name).mkdir(exist_ok=True)
        for path in (path for folder in (root, card, state) for path in (folder, *folder.rglob("*"))):
            if path.lstat().st_mtime > epoch:
                os.utime(path, (epoch, epoch), follow_symlinks=False)
        root_mib = 4 * math.ceil((_used(root) * 1.06 / MIB + ROOM_MIB) / 4)
        parts = [work / name for name in ("boot.part", "root.part", "state.part")]
        _fat(card, parts[0])
        _ext4(root, parts[1], "mat-root", root_mib, journal_mib=16)
        _ext4(state, parts[2], "mat-state", STATE_MIB, journal_mib=16)
        _join(parts, image)
    size, held = image.stat().st_size / MIB, image.stat().st_blocks * 512 / MIB
    print(f"   {image}: {size:.0f} MiB, {held:.0f} of them not empty; {_used(root) / MIB:.0f} MiB of files on the root")


def _empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _used(folder: Path) -> int:
    """Return the bytes that the files of `folder` take in blocks of 4 KiB, one with several names once."""
    found = {(one.st_dev, one.st_ino): one for path in folder.rglob("*") if (one := path.lstat())}
    return sum(max(4096, -(-one.st_size // 4096) * 4096) for one in found.values())


def _fat(folder: Path, part: Path) -> None:
    part.unlink(missing_ok=True)
    with part.open("wb") as file:
        file.truncate(BOOT_MIB * MIB)
    run("mkfs.vfat", "-F", "32", "-n", "MAT", "-i", _id("boot").hex[:8], "--invariant", part)
    run("mcopy", "-s", "-m", "-i", part, *sorted(folder.iterdir()), "::")


def _ext4(folder: Path, part: Path, label: str, mib: int, journal_mib: int) -> None:
    part.unlink(missing_ok=True)
    run(
        "mke2fs", "-q", "-t", "ext4", "-b", "4096", "-L", label, "-d", folder, "-m", "1", "-J", f"size={journal_mib}",
        "-U", _id(label), "-E", f"hash_seed={_id(label + ' names')},lazy_itable_init=0,lazy_journal_init=0",
        part, f"{mib}M",
    )  # fmt: skip


def _join(parts: Sequence[Path], image: Path) -> None:
    """Write a partition table and the partitions behind it, each at 4 MiB, empty stretches as holes."""
    at, table = 4 * MIB, [f"label: dos\nlabel-id: 0x{_id('card').hex[:8]}\nunit: sectors"]
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        for part, kind in zip(parts, ("c, bootable", "83", "83"), strict=True):
            table.append(f"start={at // 512}, size={part.stat().st_size // 512}, type={kind}")
            with part.open("rb") as source:
                for number, block in enumerate(iter(partial(source.read, MIB), b"")):
                    if block.count(0) < len(block):
                        file.seek(at + number * MIB)
                        file.write(block)
            at += -(-part.stat().st_size // (4 * MIB)) * 4 * MIB
            part.unlink()
        file.truncate(at)
    run("sfdisk", "-q", image, stdin="\n".join(table) + "\n")


def _id(name: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"moccasin-mat card {name}")


def _versions(root: Path) -> str:
    """Return what is on the card: Debian's packages, then Python's."""
    debian = run(*inside(root, "dpkg-query -W -f '${Package} ${Version}\\n'"), caught=True)
    return debian + "\n" + run(*inside(root, "/opt/moccasin-mat/bin/pip list --format=freeze"), caught=True)


def _suite() -> str:
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text("utf-8").splitlines() if "=" in line
    )
    return release.get("VERSION_CODENAME", "stable")


def commit_time() -> int:
    """Return the time of the tree's last change, s since 1970: no file on the card is younger."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-c", "safe.directory=*", "-C", str(TREE), "log", "-1", "--format=%ct"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return int(told) if told else int((TREE / "pyproject.toml").stat().st_mtime)


def run(*command: object, stdin: str = "", caught: bool = False) -> str:
    """Run a command to its end; where it fails, print what it printed and end."""
    done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nfailed: {' '.join(map(str, command))}")
    return done.stdout if caught else ""


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def step(name: str) -> Iterator[None]:
    """Tell that a step begins, and the seconds it took."""
    print(f"== {name} ...", flush=True)
    began = time.monotonic()
    yield
    print(f"   {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
