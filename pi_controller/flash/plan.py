"""Plans a flash: which files to copy, which to remove, and what prevents it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pi_controller.flash.firmware import LIST, MAIN, FlashError
from pi_controller.flash.locate import PUT_MICROPYTHON
from pi_controller.flash.on_board import NEW

if TYPE_CHECKING:
    from pi_controller.flash.firmware import Firmware
    from pi_controller.flash.on_board import Found, Who

OLDEST = (1, 23)
"""The MicroPython that the firmware needs, major and minor."""
CHIP = "RP2040"
SPARE_BLOCKS = 4
"""For the file system's own book-keeping, and the files `boots` and `fault.txt`."""


class Plan(msgspec.Struct, frozen=True):
    """Names of files: to `copy`, the `same` on both sides, `stale` ones of ours to remove, `left` by a torn copy.

    `foreign` are those of another program that would be overwritten; `needs` and `free` are bytes on the board.
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
        """Whether the board holds exactly this firmware."""
        return not (self.copy or self.stale or self.left)

    def check_room(self) -> None:
        """Raise `FlashError` where the files do not fit: the old ones stay until the new ones are there whole."""
        if self.needs > self.free:
            raise FlashError(
                f"there is too little room on the board: {self.needs // 1024} kB are needed, "
                f"{self.free // 1024} kB are free",
                "remove files of your own from it: 'mpremote ls' shows what is there, 'mpremote rm :NAME' removes one",
            )


def suited(who: Who, found: Found | None) -> Found:
    """Return what was found on a board that can run the firmware. Raises `FlashError` on another."""
    wanted = f"MicroPython {'.'.join(map(str, OLDEST))} or newer"
    if who.name == "micropython" and who.version[:2] >= OLDEST and CHIP not in who.machine:
        raise FlashError(
            f"the board is no {CHIP}: {who.text}", "take one of the boards that the README's chapter 'Build' names"
        )
    if found is None or who.name != "micropython" or who.version[:2] < OLDEST:
        raise FlashError(f"on the board is {who.text}; the mat needs {wanted}", PUT_MICROPYTHON)
    return found


def plan(firmware: Firmware, found: Found) -> Plan:
    """Compare the board with the firmware."""
    hashes = firmware.hashes
    copy = tuple(name for name in hashes if found.hashes.get(name) != hashes[name])
    there = found.sizes.keys()
    listed = set(found.listed)
    ours = listed or found.mine or MAIN not in there
    foreign = () if ours else tuple(name for name in copy if name in there and name != LIST)
    left = tuple(sorted({f"{name}{NEW}" for name in {*hashes, *listed}} & there))
    return Plan(
        copy=copy,
        same=tuple(name for name in hashes if name not in copy),
        stale=tuple(sorted((listed - hashes.keys()) & there)),
        left=left,
        foreign=foreign,
        has_main=MAIN in there,
        needs=found.room(len(firmware.files[name]) for name in copy) + SPARE_BLOCKS * found.block,
        free=found.free + found.room(found.sizes[name] for name in left),
    )
