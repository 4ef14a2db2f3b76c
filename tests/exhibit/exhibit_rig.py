"""An installation on virtual time, and what visitors do to it; shared by the tests of the exhibit."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pi_controller.exhibit.check_log import faults
from pi_controller.exhibit.exhibit import Exhibit, Session
from pi_controller.exhibit.games_kept import SessionGames
from pi_controller.table.settings import Settings
from pi_controller.table.settings_exhibit import ExhibitSection

if TYPE_CHECKING:
    from pi_controller.exhibit.opponents import Guess

STEP_S = 0.25


def at(t: float) -> datetime:
    return datetime.fromtimestamp(t, UTC)


class Rig:
    """An `Exhibit` with chance from a seed; `advance` lets time pass, `touch` touches what is on the screen now."""

    def __init__(self, seed: int = 1, t: float = 0.0, folder: Any = None, **section: Any) -> None:
        settings = Settings(exhibit=ExhibitSection(**section))
        if folder is not None:
            settings = settings.in_folder(folder)
        self.rng = random.Random(seed)
        self.t = t
        self.sessions: list[Session] = []
        self.games = SessionGames(settings, self.rng.randbytes, at)
        self.exhibit = Exhibit(
            settings.exhibit, self.games, self.rng, t, ended=lambda _, one: self.sessions.append(one), local=at
        )

    @property
    def stage(self) -> str:
        return self.exhibit.stage.name

    @property
    def game(self):
        return self.exhibit.game

    def advance(self, seconds: float) -> None:
        end = self.t + seconds
        while self.t < end:
            self.t = min(end, self.t + STEP_S)
            self.exhibit.tick(self.t)

    def touch(self, name: str) -> bool:
        return self.exhibit.touch(self.t, name, self.exhibit.turn)

    def begin(self, kind: str) -> None:
        assert self.touch("start")
        assert self.touch(f"game:{kind}")

    def until(self, wanted, limit_s: float = 120.0) -> None:
        end = self.t + limit_s
        while not wanted():
            assert self.t < end, f"nothing came of it: {self.stage} {self.game and self.game.view}"
            self.advance(STEP_S)

    def awaits(self, *names: str) -> None:
        self.until(lambda: self.game is not None and self.game.awaits in names)

    def play_on(self, choose=None, limit_s: float = 1800.0) -> None:
        """Play until the session's game is over, each touch by `choose` (by chance)."""
        end = self.t + limit_s
        while self.stage == "play":
            assert self.t < end
            if touches := self.game.touches:
                assert self.touch((choose or self.rng.choice)(list(touches)))
            self.advance(STEP_S)

    def check_log(self) -> None:
        assert faults(self.exhibit.session_log.lines().splitlines()) == []


class Always:
    """An opponent that guesses the same, or by a list."""

    def __init__(self, *guesses: Guess) -> None:
        self._guesses = list(guesses)
        self.seen: list[tuple[int, bool]] = []

    def guess(self) -> Guess:
        return self._guesses.pop(0) if len(self._guesses) > 1 else self._guesses[0]

    def saw(self, pad: int, *, found: bool) -> None:
        self.seen.append((pad, found))
