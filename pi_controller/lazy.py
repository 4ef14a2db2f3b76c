"""Lazy exports of a package (PEP 562): import the module of a name when the name is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of `package` that imports the names in `modules` on first use.

    `modules` maps each exported name to its module: beside the package, or by its full name.
    """

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=None)
        module = modules[name]
        value: object = getattr(import_module(module if "." in module else f"{package}.{module}"), name)
        setattr(sys.modules[package], name, value)  # so that the next access does not come here
        return value

    return load
