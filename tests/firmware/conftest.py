"""The board's files on chips made of Python."""

import importlib.util
import sys
import types
from pathlib import Path

import pytest

from pi_controller.board import frames, wire

FIRMWARE = Path(__file__).parents[2] / "firmware"


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def chips():
    return load("chips", Path(__file__).with_name("chips.py")).Chips()


@pytest.fixture
def load_board(chips, monkeypatch, tmp_path):
    """Return what loads the firmware's files as a start does, with these changes to `wiring.py`, and gives `board`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wire, "put", wire.put)  # the board puts its own there
    outside, inside = chips.modules()

    def loaded(changes=None):
        for name, attributes in outside.items():
            monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**attributes))
        monkeypatch.setitem(sys.modules, "frames", frames)
        monkeypatch.setitem(sys.modules, "wire", wire)
        for name in ("guards", "wiring", "starts", "port", "adc", "i2c", "lights", "board"):
            module = load(f"mat_{name}", FIRMWARE / f"{name}.py")
            monkeypatch.setitem(sys.modules, name, module)
            for inner, value in (inside | (changes or {}) if name == "wiring" else inside).items():
                setattr(module, inner, value)
        return module

    return loaded


@pytest.fixture
def module(load_board):
    return load_board()


@pytest.fixture
def board(module):
    return module.Board()
