"""Recordings made of tones, and programs that behave like a loudspeaker's: fixtures that a conftest imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pi_controller.display.sound import Clip

if TYPE_CHECKING:
    from pathlib import Path

RATE = 8000


def tone(seconds: float = 0.5, rate: int = RATE, level: float = 0.5, channels: int = 1) -> np.ndarray:
    one = level * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)
    return np.repeat(one[:, None], channels, axis=1).astype(np.float32)


def clip(seconds: float = 0.5, name: str = "tone", rate: int = RATE, channels: int = 1) -> Clip:
    return Clip(name, tone(seconds, rate, channels=channels), rate)


@pytest.fixture(name="clip")
def _clip():
    """Return a maker of sounds: `clip(seconds, name, rate, channels)`."""
    return clip


@pytest.fixture
def record(tmp_path):
    """Return what records a word: `record("dakota", "paguga", seconds=0.4)` -> its path; the folder is `tmp_path`."""
    import soundfile

    def record(game: str, name: str, suffix: str = ".wav", rate: int = RATE, **like: Any) -> Path:
        path = tmp_path / game / f"{name}{suffix}"
        path.parent.mkdir(exist_ok=True)
        soundfile.write(path, tone(rate=rate, **like), rate)
        return path

    return record


@pytest.fixture
def program(tmp_path):
    """Return what writes a program to be run instead of aplay or espeak-ng, from the lines of a shell."""

    def program(lines: str, name: str = "player") -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{lines}\n", "utf-8")
        path.chmod(0o755)
        return str(path)

    return program
