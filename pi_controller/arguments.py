"""A parser of options that complains as everything here does: one line what is wrong, one line what to do."""

from __future__ import annotations

import argparse
from typing import NoReturn

from pi_controller.errors import UsageError


class Parser(argparse.ArgumentParser):
    """`argparse` for one verb. Options must be spelled out; a fault is a `UsageError` instead of an exit."""

    def __init__(self, verb: str, description: str) -> None:
        super().__init__(prog=f"moccasin-mat {verb}", description=description, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, in one line."""
        raise UsageError(
            f"{self.prog.split()[-1]}: {' '.join(message.split())}", f"'{self.prog} --help' tells what it takes"
        )
