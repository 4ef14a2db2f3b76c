"""The board's files on chips made of Python."""

import importlib.util
import sys
import types
from pathlib import Path

import pytest

from pi_controller.link import wire

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
def module(chips, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wire, "crc16", wire.crc16)  # the board puts its own there
    outside, inside = chips.modules()
    for name, attributes in outside.items():
        monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**attributes))
    monkeypatch.setitem(sys.modules, "wire", wire)
    for name in ("lights", "board"):
        loaded = load(f"mat_{name}", FIRMWARE / f"{name}.py")
        monkeypatch.setitem(sys.modules, name, loaded)
        for inner, value in inside.items():
            setattr(loaded, inner, value)
    return loaded


@pytest.fixture
def board(module):
    return module.Board()
