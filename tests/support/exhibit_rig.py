"""An installation on virtual time, and what visitors do to it; shared by the tests of the exhibit."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pi_controller.config import Settings
from pi_controller.config.model import ExhibitSection
from pi_controller.exhibit.exhibit import EndedSession, Exhibit
from pi_controller.exhibit.session_games import SessionGames, SessionStart
from pi_controller.exhibit.usage import Usage, usage_path
from pi_controller.host.machine_health import MachineHealth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_controller.exhibit.opponents import Guess

WELL = MachineHealth(55.0, under_voltage=False, under_voltage_since_start=False, free_bytes=10**10, fs_errors=0)
STEP_S = 0.25


def at(t: float) -> datetime:
    return datetime.fromtimestamp(t, UTC)


class CutGames(SessionGames):
    """Games of a process that can be killed: what lies on the disk then is what a kill leaves there."""

    begun: SessionStart | None = None

    def begin(self, t: float, against: str) -> SessionStart:
        self.begun = super().begin(t, against)
        return self.begun

    def kill(self) -> Path | None:
        """Let go of the game in play, its files as they are now; return its journal, None where none was in play."""
        begun, self.begun = self.begun, None
        journal = begun.table.journal.path if begun is not None else None
        if begun is None or journal is None or journal != self._in_play:
            return None
        found = {path: path.read_bytes() for path in self.folder.glob(f"{journal.stem}.*")}
        begun.close()  # it tidies up as it is let go: put back what was there
        for path in self.folder.glob(f"{journal.stem}.*"):
            path.unlink()
        for path, content in found.items():
            path.write_bytes(content)
        return journal


class Rig:
    """An `Exhibit` with chance from a seed; `advance` lets time pass, `touch` touches what is on the screen now."""

    def __init__(self, seed: int = 1, t: float = 0.0, folder: Any = None, **section: Any) -> None:
        settings = Settings(exhibit=ExhibitSection(**section))
        if folder is not None:
            settings = settings.resolve_paths(folder)
        self.rng = random.Random(seed)
        self.t = t
        self.sessions: list[EndedSession] = []
        self.settings = settings
        self.start()

    def start(self) -> None:
        """The process starts, with what lies on the disk."""
        self.games = CutGames(self.settings, self.rng.randbytes, at)
        self.usage = Usage(usage_path(self.settings))
        self.exhibit = Exhibit(self.settings.exhibit, self.games, self.rng, self.t, ended=self._ended, local=at)

    def _ended(self, t: float, session: EndedSession) -> None:
        self.sessions.append(session)
        self.usage.add(at(t).date(), session)

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

    def leave(self) -> None:
        """Go back to the start; a game is stopped by a second touch."""
        assert self.touch("leave")
        if self.stage == "play":
            self.advance(1.0)
            assert self.touch("leave")

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

    def facts(self, kind: type[Any]) -> list[Any]:
        """Return the facts of a kind in the journal of the game on the screen."""
        return [fact for _, fact in self.game.table.journal.read() if isinstance(fact, kind)]


class Always:
    """An opponent that guesses the same, or by a list."""

    def __init__(self, *guesses: Guess) -> None:
        self._guesses = list(guesses)
        self.seen: list[tuple[int, bool]] = []

    def guess(self) -> Guess:
        return self._guesses.pop(0) if len(self._guesses) > 1 else self._guesses[0]

    def learn_hide(self, pad: int, *, found: bool) -> None:
        self.seen.append((pad, found))


def attract():
    rig = Rig(2)
    rig.until(lambda: rig.game.view.phase == "hit" and rig.game.view.hide == 3)
    return rig


def choose():
    rig = Rig()
    rig.touch("start")
    return rig


def about():
    rig = Rig()
    rig.touch("about")
    return rig


def hiding():
    rig = Rig(1)
    rig.begin("mat")
    while rig.game.awaits != "pads":
        if rig.game.touches:
            rig.touch(rig.game.touches[0])
        rig.advance(STEP_S)
    return rig


def moving():
    rig = hiding()
    rig.touch("pad:3")
    rig.until(lambda: rig.game.hand == 2)
    return rig


def aiming():
    rig = hiding()
    rig.touch("pad:3")
    rig.until(lambda: rig.game.aim)
    return rig


def shown():
    rig = aiming()
    rig.until(lambda: rig.game.view.phase == "show")
    rig.advance(STEP_S)
    return rig


def curtain():
    rig = Rig(1)
    rig.begin("teams")
    rig.awaits("pads")
    rig.touch("pad:2")
    rig.awaits("handover")
    return rig


def teams():
    rig = curtain()
    rig.touch("handover")
    return rig


def taught(key):
    for seed in range(60):
        rig = Rig(seed)
        rig.begin("learn")
        while rig.stage == "play":
            if rig.game.lessons.open_step == key:
                return rig
            if touches := rig.game.touches:
                rig.touch(rig.rng.choice(list(touches)))
            rig.advance(STEP_S)
    raise AssertionError(key)


def asked():
    rig = hiding()
    rig.until(lambda: rig.exhibit.asked)
    return rig


def leaving():
    rig = hiding()
    rig.touch("leave")
    rig.advance(1.0)
    return rig


def buttons():
    rig = Rig(four_buttons=True)
    rig.touch("start")
    return rig


def result():
    rig = Rig(3)
    rig.begin("mat")
    rig.play_on()
    return rig


def rest():
    return Rig(t=3 * 3600, opens="09:00", closes="17:00")


def low():
    rig = teams()
    rig.touch("low")
    return rig


STATES: dict[str, Callable[[], Rig]] = {
    "attract": attract,
    "choose": choose,
    "about": about,
    "hiding": hiding,
    "moving": moving,
    "aiming": aiming,
    "shown": shown,
    "curtain": curtain,
    "teams": teams,
    "under_way": lambda: taught("under_way"),
    "paguga": lambda: taught("paguga"),
    "sahdogan": lambda: taught("sahdogan"),
    "asked": asked,
    "leaving": leaving,
    "buttons": buttons,
    "result": result,
    "rest": rest,
    "low": low,
}
"""Every state that visitors see, each as an installation that stands in it."""
