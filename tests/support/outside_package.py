"""A package of somebody else, as an installer leaves it: what builds it need not be there."""

from contextlib import contextmanager

import pytest

from pi_controller import entry_points
from pi_controller.display import game_display
from pi_controller.rules import registry
from pi_controller.web import game_page

LOOKED_UP = (
    entry_points.find_entry_points,
    registry.load_plugin,
    registry.game_module,
    game_display.get_show,
    game_page.page_of_game,
)


def forget_packages():
    """Forget what packages there are, as a new process would."""
    for once in LOOKED_UP:
        once.cache_clear()


@contextmanager
def find_packages(*folders):
    """Find the packages in these folders, as if they were installed, while a block runs."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            for folder in folders:
                patch.syspath_prepend(str(folder))
            forget_packages()
            yield
    finally:
        forget_packages()


def install_package(folder, name, version, groups, **modules):
    """Write the name, the version and the entry points of a package, {group: {name: value}}, and its modules' text."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    lines = [
        f"[{group}]\n" + "".join(f"{point} = {value}\n" for point, value in points.items())
        for group, points in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text, "utf-8")
