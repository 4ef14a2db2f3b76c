"""The board's files on chips made of Python."""

import os
import sys
import types

import pytest
from load_file import load_file

from pi_controller.board import frames, wire


@pytest.fixture
def chips(request):
    return load_file("tests/firmware/chips.py").Chips(getattr(request, "param", "RP2040"))


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
        with monkeypatch.context() as change:
            change.setattr(os, "uname", inside["os"].uname)
            monkeypatch.setitem(sys.modules, "chip", load_file("firmware/chip.py", "mat_chip"))
        monkeypatch.setitem(sys.modules, "wire", wire)
        for name in ("guards", "wiring", "starts", "port", "adc", "i2c", "lights", "board"):
            module = load_file(f"firmware/{name}.py", f"mat_{name}")
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
