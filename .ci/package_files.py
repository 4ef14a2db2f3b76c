"""Hatchling's build hook: the wheel carries the builders' pages and drawings, which the help of a table shows.

They go to `pi_controller/_hardware`, beside the pin map; the programs that make the drawings stay behind.
"""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHOWN = ("*.md", "*.csv", "image/README.md", "image/KEEPER.md", "drawings/*.svg")


class BuildHook(BuildHookInterface):
    """Adds files to the wheel; an editable installation reads them where they are."""

    def initialize(self, version: str, build_data: dict[str, dict[str, str]]) -> None:
        """Add the files to `build_data`."""
        if version == "editable":
            return
        folder = Path(self.root, "hardware")
        for path in (path for pattern in SHOWN for path in folder.glob(pattern)):
            build_data["force_include"][str(path)] = f"pi_controller/_hardware/{path.relative_to(folder).as_posix()}"
