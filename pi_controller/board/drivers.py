"""Drivers by the name that the settings give: built in, and of other packages by entry points.

    [project.entry-points."moccasin_mat.strips"]
    my_strip = "my_package:make_strip"         # make_strip(options: StripOptions) -> Strip

    [project.entry-points."moccasin_mat.buttons"]
    my_buttons = "my_package:make_buttons"     # make_buttons(options: ButtonOptions) -> Buttons

    [project.entry-points."moccasin_mat.boards"]
    my_board = "my_package:make_board"         # make_board(options: BoardOptions) -> Source

The settings choose one: `[strips] kind = "my_strip"`, `[buttons] kind = "my_buttons"`, `[board] port = "my_board"`. A
factory imports its hardware's libraries when it is called, and raises the error of its interface.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pi_controller.entry_points import BOARDS, BUTTONS, STRIPS, find_entry_points, load_function

_HERE = "pi_controller.board"
BUILT_IN: Mapping[str, Mapping[str, str]] = {
    STRIPS: {
        "pi": f"{_HERE}.strips:make_neopixel_strip",
        "board": f"{_HERE}.board_strip:make_board_strip",
        "wled": f"{_HERE}.wled:make_wled_strip",
        "memory": f"{_HERE}.strips:make_memory_strip",
    },
    BUTTONS: {"pi": f"{_HERE}.buttons:make_gpio_buttons"},
    BOARDS: {"auto": f"{_HERE}.connection:make_serial_board", "pins": f"{_HERE}.pins:make_pins_board"},
}
"""The factories of this package as entry points name them. A name here is never another package's."""


def list_names(group: str) -> tuple[str, ...]:
    """Return the names in `group`: the built-in ones, then those of other packages."""
    return tuple(dict.fromkeys((*BUILT_IN.get(group, ()), *find_entry_points(group))))


def is_name(group: str, name: str) -> bool:
    """Return whether `name` is in `group`."""
    return name in BUILT_IN.get(group, ()) or name in find_entry_points(group)  # the second takes long on a small Pi


def load_driver(group: str, name: str) -> Callable[[Any], Any]:
    """Return the factory of the driver `name` of `group`. Raises `PluginError`."""
    return load_function(group, name, BUILT_IN[group])
