"""The drive of a board that waits in its boot loader: which chip it has, and MicroPython's file copied onto it."""

import os
import struct
from contextlib import suppress
from pathlib import Path

import msgspec

from pi_controller.errors import MatError, describe_error
from pi_controller.text import join_words


class FlashError(MatError, RuntimeError):
    """The firmware or MicroPython cannot be written; the board's files are unchanged."""

    code = "flash"


class Chip(msgspec.Struct, frozen=True):
    """A chip that the firmware supports.

    `drive` is the label of its boot loader's drive and the Board-ID in that drive's INFO_UF2.TXT; `family` marks the
    UF2 files for it; `micropython` is the oldest MicroPython for the firmware; `image` begins the name of
    MicroPython's file for a board that has no file of its own.
    """

    name: str
    drive: str
    family: int
    micropython: tuple[int, int]
    image: str


CHIPS = (
    Chip("RP2040", "RPI-RP2", 0xE48BFF56, (1, 23), "RPI_PICO"),
    Chip("RP2350", "RP2350", 0xE48BFF59, (1, 24), "RPI_PICO2"),  # Arm cores; it has RISC-V ones too
)
_ABSOLUTE = 0xE48BFF57
"""Family of a first block that works around the RP2350's erratum E10; it tells nothing of the file."""
_BLOCK = 512
_HEAD = struct.Struct("<8I")
_MAGIC = (0x0A324655, 0x9E5D5157)
_HAS_FAMILY = 0x2000

GET = (
    "get MicroPython from its own download page for your board, a .uf2 file, "
    + " or ".join(
        f"{'.'.join(map(str, chip.micropython))} or newer for the {chip.name} ({chip.image}-... if your board is not "
        "listed)"
        for chip in CHIPS
    )
    + ", and copy it onto the drive; 'moccasin-mat flash --micropython FILE.uf2' does that and checks the chip"
)
THEN = "when the drive has disappeared, run 'moccasin-mat flash' again"
MICROPYTHON_HINT = (
    "unplug the board, hold its BOOTSEL (or BOOT) button, plug it in and let go: the drive "
    f"{' or '.join(chip.drive for chip in CHIPS)} appears; {GET}; {THEN}"
)


class BootDrive(msgspec.Struct, frozen=True):
    """The drive of a board in its boot loader; it is a folder at `path` only if `mounted`."""

    path: str
    chip: Chip
    mounted: bool

    @property
    def text(self) -> str:
        """Say that the board waits, and as which drive."""
        return f"a board waits in its boot loader, as the drive {self.chip.drive} ({self.path})"


def find_boot_drive(root: Path = Path("/")) -> BootDrive | None:
    """Return the drive of a board in its boot loader, or None."""
    with suppress(OSError):
        for line in (root / "proc/mounts").read_text("utf-8", "replace").splitlines():
            path = Path(line.split()[1].replace("\\040", " ")) if " " in line else Path()
            for chip in CHIPS:
                if path.name == chip.drive:
                    return BootDrive(str(path), _chip_of_drive(path) or chip, mounted=True)
    for chip in CHIPS:
        label = root / "dev/disk/by-label" / chip.drive
        if label.is_symlink() or label.exists():
            return BootDrive(str(label), chip, mounted=False)
    return None


def _chip_of_drive(path: Path) -> Chip | None:
    with suppress(OSError):
        for line in (path / "INFO_UF2.TXT").read_text("utf-8", "replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "Board-ID":
                return next((chip for chip in CHIPS if chip.drive == value.strip()), None)
    return None


def read_uf2_chip(data: bytes, name: str) -> Chip:
    """Return the chip that the UF2 file `name` with these bytes is for. Raises `FlashError` if it is for none."""
    families = set[int]()
    for at in range(0, max(len(data), 1), _BLOCK):
        head = _HEAD.unpack(data[at : at + _HEAD.size].ljust(_HEAD.size, b"\0"))
        if head[:2] != _MAGIC or len(data) - at < _BLOCK:
            raise FlashError(f"{name} is not a whole UF2 file", "download it again: its name ends in .uf2")
        families.add(head[7] if head[2] & _HAS_FAMILY else 0)
    families.discard(_ABSOLUTE)
    found = [chip for chip in CHIPS if families == {chip.family}]
    if not found:
        raise FlashError(
            f"{name} is for another chip (UF2 family {join_words([f'0x{family:08x}' for family in sorted(families)])})",
            "take MicroPython's file for the RP2040, or for the RP2350's Arm cores (without RISCV in its name)",
        )
    return found[0]


def copy_micropython(file: Path, drive: BootDrive | None) -> BootDrive:
    """Copy MicroPython's UF2 `file` onto the waiting board and return its drive.

    Raises `FlashError` if no board waits, its drive is not mounted, or the file is not for its chip. The boot loader
    of the other chip would ignore the file without a message.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FlashError(f"{file} cannot be read: {describe_error(error)}", "name MicroPython's .uf2 file") from error
    chip = read_uf2_chip(data, file.name)
    if drive is None:
        raise FlashError("no board waits in its boot loader", MICROPYTHON_HINT)
    if chip != drive.chip:
        raise FlashError(
            f"{file.name} is for the {chip.name}, and the board has an {drive.chip.name}",
            f"get MicroPython for the {drive.chip.name}: {drive.chip.image}-... or the file of your board",
        )
    if not drive.mounted:
        raise FlashError(
            f"the drive {drive.path} is not mounted",
            f"sudo mount {drive.path} /mnt && sudo cp {file} /mnt && sudo umount /mnt",
        )
    _write(Path(drive.path) / file.name, data)
    return drive


def _write(path: Path, data: bytes) -> None:
    try:
        with path.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        if path.parent.is_dir():  # the board restarts after the last block, and the drive is gone
            raise FlashError(
                f"{path} cannot be written: {describe_error(error)}",
                "plug the board in again with BOOTSEL held, and try again",
            ) from error
