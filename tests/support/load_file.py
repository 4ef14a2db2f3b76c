"""Import a file of the tree by its path: a program beside a test, or a module of the firmware."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load_file(path: str | Path, name: str | None = None) -> ModuleType:
    """Return a new module made from the file at `path`, relative to the tree's root; `sys.path` stays as it is."""
    path = ROOT / path
    spec = importlib.util.spec_from_file_location(name or path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before, known = list(sys.path), sys.modules.get(spec.name)
    sys.modules[spec.name] = module  # dataclasses look there
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
        if known is not None:
            sys.modules[spec.name] = known
    return module
