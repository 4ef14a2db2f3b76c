"""Draw everything mechanical to scale and write `pins.md` and `cutting.md`, all from the pin map.

python hardware/drawings/mat.py [FOLDER]      (default: `hardware/drawings`, the pages one folder up)

This module itself draws the whole mat from above; `places.py` where it lies, `pads.py` one pad, `tiles.py` the pages
to print, `beads.py` the bead, `perfboard.py` the piezo inputs, `small_mat.py` the small mat, `pins.py` the pages of
tables.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import beads
import breadboard
import pads
import perfboard
import pins
import places
import small_mat
import tiles
from geometry import (
    HARDWARE,
    around,
    build,
    channels,
    columns,
    dividers,
    outline,
    plate,
    posts,
    service,
    slats,
    strips,
    usb_notch,
    well,
)
from geometry import pads as pad_numbers
from page import BLACK, BLUE, COPPER, GREEN, GREY, PALE, RED, SLAT, THICK, THIN, WOOD, Page, View
from values import values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

BOARD_BOX = (200.0, 46.0)
MUX = (31.0, 21.0)


def harness_boxes(view: View) -> None:
    """Draw the board's box and the multiplexers where the harness has them."""
    harness = values().harness
    view.box(around(*harness.box_mm, *BOARD_BOX), fill="#d8e8d8", line=GREEN)
    for x, y in harness.muxes_mm:
        view.box(around(x, y, *MUX), fill="#d8e8d8", line=GREEN)


def cable_ways(view: View) -> None:
    """Draw the ways of the cables: down each channel to the tray, and along it to the board."""
    trunk = values().harness.muxes_mm[0][1] - 16.0
    for way in channels():
        side = way.right - 5.0
        view.line(side, 115.0, side, trunk, colour=GREEN, width=THIN, dash="1.2 0.8")
    first, last = channels()[0].left, channels()[-1].right
    view.line(first, trunk, last, trunk, colour=GREEN, dash="1.2 0.8")


def cable_way_out(view: View) -> None:
    """Draw the USB cable: along the tray, through the notch in its right wall."""
    (x, y), out = values().harness.box_mm, outline()
    view.line(x + BOARD_BOX[0] / 2, y, out.right + 20, y, out.right + 20, out.near - 18, colour=RED)


def body(view: View, *, bare: bool = False) -> None:
    """Draw the mat from above without its cover: base, slats, dividers, plates, the open tray."""
    view.box(outline(), fill=WOOD, pen=THICK)
    view.box(well(), fill="#f6f1e6", line=GREY)
    if not bare:
        for slat in slats():
            view.box(slat, fill=SLAT, line="none")
        view.box(outline(), pen=THICK)
    for divider in dividers():
        view.box(divider, fill=WOOD, line=GREY)
    view.box(service(), fill=PALE, line=GREY)
    for pad in pad_numbers():
        view.box(plate(pad), fill="#ffffff", line="#000000")


def above() -> str:
    """Return the whole mat from above, 1:5."""
    page = Page(
        297,
        210,
        "The mat from above, 1:5",
        "Cover and lid taken off. Left and right as the hider sees them; lengths in mm.",
    )
    view = View(page, 146, 98, 0.2)
    maps = pinmap()
    body(view)
    for pad in pad_numbers():
        for strip in strips(pad):
            view.box(strip, fill="#f7e3cf", line=COPPER)
        cx, cy = maps.pads.centre(pad)
        for x in columns():
            half = build().channel_mm / 2
            for side in (-half, half):
                view.line(cx + x + side, well().near, cx + x + side, outline().far, colour=GREY, width=THIN, dash="1 1")
        view.disc(cx + build().disc_at_mm[0], cy + build().disc_at_mm[1], build().disc_mm, fill="#fff3b0")
        view.text(cx, cy - 32, f"pad {pad}", anchor="middle", bold=True, size=4.5)
    cable_ways(view)
    per_pad = len(maps.magnetometers.offsets_mm)
    for index, (x, y, _) in enumerate(maps.magnetometer_positions()):
        view.box(around(x, y, *build().module_mm), fill="#dce6f5", line=BLUE)
        left = index % 2 == 0
        view.text(
            x + (-15 if left else 15), y - 7, str(index + 1), anchor="end" if left else "start", colour=BLUE, size=3.4
        )
    for post in posts():
        view.box(post, fill=SLAT, line=BLACK)
    view.box(usb_notch(), fill="#ffffff", line=RED)
    harness_boxes(view)
    cable_way_out(view)
    _labels(page, view)
    _measures(view, per_pad)
    return page.svg()


def _labels(page: Page, view: View) -> None:
    out, names = outline(), pinmap().touch.strips
    page.text(146, 49, "the hitters' edge", anchor="middle", size=5, bold=True, colour=GREY)
    page.text(146, 161, "the hiders' edge: mark it on the cover", anchor="middle", size=5, bold=True, colour=RED)
    for strip, name in zip(strips(1), names, strict=True):
        _, y = view.at(0, (strip.near + strip.far) / 2)
        page.text(view.at(out.left, 0)[0] - 2, y + 1, name, anchor="end", colour="#9a5a1c")
    page.text(6, view.at(0, strips(1)[-1].far)[1] - 3.5, "touch strips", colour="#9a5a1c")
    x, y = view.at(out.right + 24, out.near - 34)
    page.text(x, y, "USB, to the Pi", anchor="end", colour=RED)
    wide, high = build().usb_notch_mm
    depth = pinmap().magnetometers.depth_mm
    page.note(
        10,
        172,
        f"""
            blue: magnetometers 1 to 24 in wire order, in the channels between the slats, their
            chips {depth:g} mm below the top of the cover; every module with x to the right and y
            away from the hider

            green: box of the board (middle) and the three multiplexers, in the tray under the lid,
            where circuits.toml has them; broken lines: the ways of their cables (harness and plugs:
            circuits.md)

            brown: touch strips on the plates.  yellow: discs under the plates.  dark: slats,
            and the four posts under the lid's free edge; pale: rim and dividers

            red: the USB cable, through a notch {wide:g} wide and {high:g} high in the lower edge of the wall
            """,
    )


def _measures(view: View, per_pad: int) -> None:
    maps, out = pinmap(), outline()
    first, last = maps.pads.centre(1)[0], maps.pads.centre(maps.pads.count)[0]
    view.measure(out.left, out.far, out.right, out.far, off=-22)
    view.measure(first, out.far, maps.pads.centre(2)[0], out.far, off=-7, said=f"{maps.pads.pitch_mm:g} (pitch)")
    view.measure(plate(3).left, out.far, plate(3).right, out.far, off=-7)
    view.measure(plate(3).right, out.far, plate(4).left, out.far, off=-7)
    near, far = plate(4).near, plate(4).far
    view.measure(out.right, far, out.right, near, off=18)
    view.measure(out.right, out.far, out.right, out.near, off=27)
    spots = maps.magnetometers.offsets_mm[:per_pad]
    rows = sorted({y for _, y in spots})
    for low, high in pairwise(rows):
        view.measure(out.right, high, out.right, low, off=9, size=3.4)
    for left, right in pairwise(sorted({0.0, *columns()})):
        view.measure(last + left, out.far, last + right, out.far, off=-7, size=3.2)
    service_at = service()
    view.measure(out.left, service_at.far, out.left, service_at.near, off=-4)


def drawings() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file that stands in `hardware/drawings`."""
    yield "mat.svg", above()
    yield from places.drawings()
    yield from pads.drawings()
    yield from tiles.drawings()
    yield from beads.drawings()
    yield from perfboard.drawings()
    yield from small_mat.drawings()
    yield from breadboard.drawings()


def main() -> None:
    """Write them all."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HARDWARE / "drawings"
    above_it = folder if len(sys.argv) > 1 else HARDWARE
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in drawings():
        (folder / name).write_text(text, "utf-8")
    for name, text in pins.pages():
        (above_it / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
