"""Plan a flash: which files to copy, which to remove, and what prevents it."""

from __future__ import annotations

import msgspec

from pi_controller.tools.board_files import NEW, BoardFiles, BoardPython
from pi_controller.tools.boot_drive import CHIPS, MICROPYTHON_HINT, FlashError
from pi_controller.tools.find_board import LIST, MAIN, Firmware

SPARE_BLOCKS = 4
"""Blocks reserved for the file system's metadata and the files `boots` and `fault.txt`."""


class FlashPlan(msgspec.Struct, frozen=True):
    """Names of files: to `copy`, the `same` on both sides, obsolete ones of ours (`stale`), `left` by a broken
    copy.

    `foreign` are another program's files that would be overwritten; `needs` and `free` are bytes on the board.
    """

    copy: tuple[str, ...]
    same: tuple[str, ...]
    stale: tuple[str, ...]
    left: tuple[str, ...]
    foreign: tuple[str, ...]
    has_main: bool
    needs: int
    free: int

    @property
    def done(self) -> bool:
        """True if the board has exactly this firmware."""
        return not (self.copy or self.stale or self.left)

    def check_room(self) -> None:
        """Raise `FlashError` if the files do not fit: the old ones stay until the new ones are complete."""
        if self.needs > self.free:
            raise FlashError(
                f"there is too little room on the board: {self.needs // 1024} kB are needed, "
                f"{self.free // 1024} kB are free",
                "remove files of your own from it: 'mpremote ls' shows what is there, 'mpremote rm :NAME' removes one",
            )


def require_suitable(who: BoardPython, found: BoardFiles | None) -> BoardFiles:
    """Return the board's files. Raises `FlashError` if the board cannot run the firmware."""
    chip = next((chip for chip in CHIPS if chip.name in who.machine), None)
    oldest = (chip or CHIPS[0]).micropython
    if found is None or who.name != "micropython" or who.version[:2] < oldest:
        wanted = f"MicroPython {'.'.join(map(str, oldest))} or newer"
        raise FlashError(f"the board runs {who.text}; the mat needs {wanted}", MICROPYTHON_HINT)
    if chip is None:
        raise FlashError(
            f"the board has neither an {' nor an '.join(chip.name for chip in CHIPS)}: {who.text}",
            "use one of the boards listed in hardware/pins.md",
        )
    return found


def make_plan(firmware: Firmware, found: BoardFiles) -> FlashPlan:
    """Return the plan that updates the board's files to the firmware."""
    hashes = firmware.hashes
    copy = tuple(name for name in hashes if found.hashes.get(name) != hashes[name])
    there = found.sizes.keys()
    listed = set(found.firmware_files)
    ours = listed or found.mine or MAIN not in there
    foreign = () if ours else tuple(name for name in copy if name in there and name != LIST)
    left = tuple(sorted({f"{name}{NEW}" for name in {*hashes, *listed}} & there))
    return FlashPlan(
        copy=copy,
        same=tuple(name for name in hashes if name not in copy),
        stale=tuple(sorted((listed - hashes.keys()) & there)),
        left=left,
        foreign=foreign,
        has_main=MAIN in there,
        needs=found.room(len(firmware.files[name]) for name in copy) + SPARE_BLOCKS * found.block,
        free=found.free + found.room(found.sizes[name] for name in left),
    )
