"""A voice on virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from memory_sound import MemorySound
from pseudo import use
from sound_fixtures import _clip, program, record  # noqa: F401 - fixtures

from pi_controller.display import i18n
from pi_controller.display.voice import Voice

if TYPE_CHECKING:
    from collections.abc import Iterator


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.t = 100.0

    def __call__(self) -> float:
        return self.t


class Heard:
    """A voice without a thread, stepped on virtual time; `played` is what was heard, (seconds, name, gain)."""

    def __init__(self, **more: Any) -> None:
        self.clock = Time()
        self.sound = MemorySound(self.clock)
        self.voice = Voice(more.pop("sound", self.sound), self.clock, **more)

    @property
    def names(self) -> list[str]:
        return [name for _, name, _ in self.sound.played]

    def hear(self, *views: Any) -> None:
        for view in views:
            self.voice.hear(view)

    def run(self, seconds: float, step: float = 0.02) -> None:
        end = self.clock.t + seconds
        while self.clock.t < end:
            self.voice.step()
            self.clock.t += step


@pytest.fixture(scope="module")
def tr(tmp_path_factory: pytest.TempPathFactory) -> Iterator[i18n.Translator]:
    """Return the pseudo language, and forget its catalogue after the module."""
    yield use(tmp_path_factory.mktemp("catalogue"))
    i18n.HOST_CATALOGUES.clear()
    i18n.translator.cache_clear()


@pytest.fixture
def heard():
    """Return a maker of voices on virtual time: `heard(folder=...)`."""
    return Heard


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Voice]:
    """Return the voices that were started; none has a thread."""
    started: list[Voice] = []

    def start(voice: Voice) -> None:
        started.append(voice)

    monkeypatch.setattr(Voice, "start", start)
    return started
