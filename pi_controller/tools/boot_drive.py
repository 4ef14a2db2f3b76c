"""The drive of a board that waits in its boot loader, and which MicroPython it needs."""

from contextlib import suppress
from pathlib import Path

import msgspec

from pi_controller.errors import MatError


class FlashError(MatError, RuntimeError):
    """The firmware or MicroPython cannot be written; the board's files are unchanged."""

    code = "flash"


class Chip(msgspec.Struct, frozen=True):
    """A chip that the firmware supports.

    `drive` is the label of its boot loader's drive; `micropython` is the oldest MicroPython for the firmware; `image`
    begins the name of MicroPython's file for a board that has no file of its own.
    """

    name: str
    drive: str
    micropython: tuple[int, int]
    image: str


CHIPS = (
    Chip("RP2040", "RPI-RP2", (1, 23), "RPI_PICO"),
    Chip("RP2350", "RP2350", (1, 24), "RPI_PICO2"),  # Arm cores; it has RISC-V ones too
)

GET = (
    "get MicroPython from its own download page for your board, a .uf2 file, "
    + " or ".join(
        f"{'.'.join(map(str, chip.micropython))} or newer for the {chip.name} ({chip.image}-... if your board is not "
        "listed)"
        for chip in CHIPS
    )
    + ", and copy it onto the drive"
)
THEN = "when the drive has disappeared, run 'moccasin-mat mat flash' again"
MICROPYTHON_HINT = (
    "unplug the board, hold its BOOTSEL (or BOOT) button, plug it in and let go: the drive "
    f"{' or '.join(chip.drive for chip in CHIPS)} appears; {GET}; {THEN}"
)


class BootDrive(msgspec.Struct, frozen=True):
    """The drive of a board in its boot loader: its folder, or its device if it is not mounted."""

    path: str
    chip: Chip

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
                    return BootDrive(str(path), chip)
    for chip in CHIPS:
        label = root / "dev/disk/by-label" / chip.drive
        if label.is_symlink() or label.exists():
            return BootDrive(str(label), chip)
    return None
