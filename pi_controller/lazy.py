"""Lazy exports of a package (PEP 562): names whose modules are imported when they are first used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazily(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of `package`, by which a name of `modules` is imported from the module beside it.

    `modules` gives the module's name, without the package, for each name exported.
    """

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=None)
        value: object = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next time it is simply there
        return value

    return load
