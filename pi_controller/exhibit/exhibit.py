"""The installation: what stage it is in, the visitor's session, the show that invites, and what may be touched now.

`Exhibit` is driven by three calls, each with the time (seconds of one clock): `touch` for what a visitor touches on the
page, `felt` for what a real mat or a button feels, `tick`. It reads no clock and waits for nothing; where games are
kept, and what is counted, is given to it. What anybody may see of it is `screen.screen_of(exhibit)`.
"""

from __future__ import annotations

import dataclasses
import logging
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec.structs import replace

from pi_controller.errors import MatError
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.lessons import Lessons
from pi_controller.exhibit.opponents import HabitReader, RandomOpponent
from pi_controller.exhibit.stage import IDLE, Pace, Stage, StageName, Times
from pi_controller.exhibit.visitor_game import VisitorGame
from pi_controller.mat.events import Button, HandIn, Link, Sensors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from pi_controller.exhibit.session_log import SessionLog
    from pi_controller.exhibit.unrecorded_table import GameTable
    from pi_controller.exhibit.visitor_game import Player
    from pi_controller.mat.events import MatEvent, SensorFault
    from pi_controller.table.settings_exhibit import ExhibitSection

log = logging.getLogger(__name__)

Kind = Literal["mat", "teams", "learn"]
Ending = Literal["finished", "left", "nobody", "time"]
"""How a session ends: its game was played, the visitor left it, nobody was there any more, its time was up."""
KINDS: tuple[Kind, ...] = ("mat", "teams", "learn")
_SIDES: Mapping[Kind, Mapping[str, Player]] = {
    "mat": {"A": "visitor", "B": "mat"},
    "teams": {"A": "visitor", "B": "visitor"},
    "learn": {"A": "visitor", "B": "mat"},
}
_SHOW_SIDES: Mapping[str, Player] = {"A": "mat", "B": "mat"}
_SHOW_HIDES = 6


class Begun(NamedTuple):
    """A game that was begun: its table and log, and what is called when it ends."""

    table: GameTable
    session_log: SessionLog
    close: Callable[[], None]


class Games(Protocol):
    """Where games are begun; see `games_kept`."""

    def begin(self, t: float, against: str) -> Begun:
        """Begin a session's game. Raises `MatError` where it cannot be kept."""
        ...

    def show(self, t: float) -> Begun:
        """Begin a game that nobody plays and nothing keeps."""
        ...


class Session(NamedTuple):
    """A session that has ended: what was played, how it ended, its seconds, and the hides that were begun."""

    kind: Kind
    ending: Ending
    seconds: float
    hides: int


def local_time(t: float) -> datetime:
    """Return `t`, seconds since 1970, by the clock of the place."""
    return datetime.fromtimestamp(t).astimezone()


class Exhibit:
    """One installation by `section` of the settings, from `t` on; `rng` is chance itself: a `SystemRandom` at a table.

    `ended` is called with each session that has ended, `local` tells the time of day. `reader` makes the opponent that
    goes by habits.
    """

    def __init__(
        self,
        section: ExhibitSection,
        games: Games,
        rng: Random,
        t: float,
        *,
        pace: Pace | None = None,
        ended: Callable[[float, Session], None] | None = None,
        local: Callable[[float], datetime] = local_time,
        host: HostFiles | None = None,
    ) -> None:
        self.section = section
        self.host = host or HostFiles(None)
        """What the host tells visitors: texts, pictures, labels, stories."""
        self.times = Times(section.answer_s, section.ask_after_s, section.leave_after_s, section.longest_min * 60.0)
        self.language = section.languages[0]
        self.low = False
        """Whether everything to touch is in the lower half of the screen."""
        self.how = False
        """Whether it is shown how the mat guesses."""
        self.notice = ""
        """What the staff tells visitors instead of a game, empty for nothing."""
        self.danger = False
        """Whether it is dangerous for the machine to go on: visitors see a notice until it is over."""
        self.fault = ""
        """Why the last session could not be recorded though it was to be; for the staff."""
        self.kind: Kind = "mat"
        self.game: VisitorGame | None = None
        """The game on the screen: a visitor's, or the show of attract."""
        self.session_log: SessionLog | None = None
        """The log of the game in progress, else of the last one: it says nothing that is still sealed."""
        self.turn = 1
        """Changes whenever other things can be touched: a touch says for which one it was meant."""
        self._games, self._rng, self._pace, self._ended, self._local = games, rng, pace or Pace(), ended, local
        self._close: Callable[[], None] | None = None
        self._now = t
        self._of_the_board: dict[type, Link | Sensors] = {}
        """What was last known of the board, for the next game."""
        self._offered: tuple[object, ...] = ()
        self.stage = Stage(self.idle(t), t, t, t)
        self._renew_show(t)
        self._retouch()

    # ---- what it shows

    @property
    def in_season(self) -> bool:
        """Whether the game is played at this time of the year."""
        return self.section.in_season(self._local(self._now).date())

    @property
    def dimmed(self) -> bool:
        """Whether lights and page are dimmed at this time of the day."""
        return self.section.dimmed_at(self._local(self._now).time())

    @property
    def board(self) -> Link | None:
        """What was last known of the board's link."""
        link = self._of_the_board.get(Link)
        return link if isinstance(link, Link) else None

    @property
    def sensor_faults(self) -> tuple[SensorFault, ...]:
        """The sensors that cannot be believed, as was last known."""
        sensors = self._of_the_board.get(Sensors)
        return sensors.faults if isinstance(sensors, Sensors) else ()

    @property
    def asked(self) -> bool:
        """Whether visitors are asked if anybody is still there."""
        return self.stage.asked is not None

    @property
    def until(self) -> float | None:
        """When what is shown ends by itself, and everything is back at the beginning."""
        until = self.stage.until(self.times)
        return None if self.stage.name == "play" and not self.asked else until

    @property
    def touches(self) -> Sequence[str]:
        """What may be touched now, by name."""
        match self.stage.name:
            case "attract":
                return ("start", "about")
            case "about":
                return ("start", "leave")
            case "choose":
                return (*(f"game:{kind}" for kind in KINDS), "leave")
            case "play" if self.asked:
                return ("here", "leave")
            case "play":
                game = self.game
                shown = ("how",) if game is not None and game.guessed is not None else ()
                return (*(game.touches if game is not None else ()), *shown, "leave")
            case "result" if self._now - self.stage.began < self.times.longest_s:
                return ("again", "choose", "leave")
            case "result":
                return ("leave",)
            case _:
                return ()

    def idle(self, t: float) -> StageName:
        """Return the stage of an installation without a visitor at `t`."""
        if self.notice or self.danger:
            return "notice"
        now = self._local(t)
        resting = not self.section.open_at(now.time()) or not self.section.in_season(now.date())
        return "rest" if resting else "attract"

    # ---- what comes in

    def touch(self, t: float, name: str, turn: int | None = None) -> bool:
        """A visitor touches `name`, on the screen of `turn`; return whether it counted.

        A touch that was meant for another screen counts for nothing: of ten hands at once one is heard.
        """
        t = self._now = max(t, self._now)
        what, _, value = name.partition(":")
        if what == "language" and value in self.section.languages:
            self.language = value
        elif name == "low":
            self.low = not self.low
        elif (turn is not None and turn != self.turn) or name not in self.touches:
            return False
        else:
            self._do(t, what, value, name)
        if self.stage.name not in IDLE:
            self.stage = self.stage.used(t)
        self._retouch()
        return True

    def felt(self, t: float, event: MatEvent) -> None:
        """A real mat or a button felt something."""
        t = self._now = max(t, self._now)
        if isinstance(event, Link | Sensors):
            self._of_the_board[type(event)] = event
        if self.stage.name == "attract":
            if isinstance(event, HandIn | Button):
                self._enter(t, "choose")
        elif self.stage.name == "choose" and isinstance(event, Button):
            self._begin(t, "teams" if event.name == "toss_b" else "mat")
        elif self.stage.name == "result" and isinstance(event, Button) and "again" in self.touches:
            self._begin(t, self.kind)
        elif self.stage.name == "play" and self.game is not None and self.game.felt(t, event):
            self.stage = self.stage.used(t)
        self._retouch()

    def tick(self, t: float) -> None:
        """Let time pass to `t`."""
        t = self._now = max(t, self._now)
        if self.game is not None:
            if self.stage.name == "attract" or (self.stage.name == "play" and not self.asked):
                self.game.tick(t)
            if self.stage.name == "attract" and self.game.over:
                self._renew_show(t)
        over = self.game is None or self.game.over
        before = self.stage
        after = before.passed(t, self.times, idle=self.idle(t), over=over)
        if after.name != before.name:
            self._leave_stage(t, before, over=over)
            self.stage = after
            self._arrive(t)
        self.stage = after
        self._retouch()

    def close(self, t: float) -> None:
        """The installation is switched off: end the session in progress."""
        if self.stage.name == "play":
            self._end_session(t, "left")
        elif self._close is not None:
            self._close()
        self._close = None

    def end_session(self, t: float) -> None:
        """The staff ends whatever visitors do: back to the beginning."""
        t = self._now = max(t, self._now)
        if self.stage.name not in IDLE:
            self._enter(t, self.idle(t))
        self._retouch()

    # ---- inside

    def _do(self, t: float, what: str, value: str, name: str) -> None:
        match what:
            case "start" | "choose":
                self._enter(t, "choose")
            case "about":
                self._enter(t, "about")
            case "game":
                self._begin(t, value)  # pyright: ignore[reportArgumentType] - one of KINDS: it was offered
            case "again":
                self._begin(t, self.kind)
            case "leave":
                self._enter(t, self.idle(t))
            case "how":
                self.how = not self.how
            case "here":
                pass
            case _:
                if self.game is not None:
                    self.game.touch(t, name)

    def _enter(self, t: float, name: StageName) -> None:
        before, self.stage = self.stage, self.stage.enter(name, t)
        self._leave_stage(t, before, over=False)
        self._arrive(t)

    def _leave_stage(self, t: float, before: Stage, *, over: bool) -> None:
        """Close what `before` had on the screen."""
        if before.name == "play":
            by_time = t - before.began >= self.times.longest_s
            ending: Ending = "finished" if over else "time" if by_time else "nobody" if before.asked else "left"
            self._end_session(t, ending)
        elif before.name == "attract":
            self._drop_game()

    def _arrive(self, t: float) -> None:
        """Begin what the stage is that was just entered."""
        if self.stage.name in IDLE:
            self.language, self.low, self.how = self.section.languages[0], False, False
            self._drop_game()
            self._renew_show(t)

    def _begin(self, t: float, kind: Kind) -> None:
        self._drop_game()
        self.kind, self.how = kind, False
        sides = _SIDES[kind]
        try:
            begun, self.fault = self._games.begin(t, "mat" if "mat" in sides.values() else "teams"), ""
        except MatError as error:  # visitors play all the same, and the staff is told
            log.warning("this session is not recorded: %s", error.what)
            begun, self.fault = self._games.show(t), error.what
        learner = HabitReader if self.section.opponent == "habits" else RandomOpponent
        self.session_log, self._close = begun.session_log, begun.close
        self.game = VisitorGame(
            begun.table,
            sides,
            learner(self._rng),
            self._rng,
            begun.session_log,
            t,
            kind=self.section.mat,
            pace=self._pace,
            hides=self.section.hides,
            lessons=Lessons() if kind == "learn" else None,
        )
        for event in self._of_the_board.values():
            self.game.felt(t, replace(event, t=t))
        self.stage = self.stage.enter("play", t)

    def _end_session(self, t: float, ending: Ending) -> None:
        """The session's game has ended: open what is sealed, let go of its journal, count it."""
        game = self.game
        if game is None:
            return
        if not game.over:
            game.close(t)
        if self._close is not None:
            self._close()
            self._close = None
        if self._ended is not None:
            self._ended(t, Session(self.kind, ending, max(0.0, t - self.stage.began), game.view.hide))

    def _renew_show(self, t: float) -> None:
        """Begin the game that attract shows, where there is something to attract to."""
        self._drop_game()
        if self.stage.name != "attract":
            return
        begun = self._games.show(t)
        self._close = begun.close
        opponent = RandomOpponent(self._rng)
        pace = self._pace._replace(think_s=2 * self._pace.think_s)
        self.game = VisitorGame(
            begun.table, _SHOW_SIDES, opponent, self._rng, begun.session_log, t, pace=pace, hides=_SHOW_HIDES
        )

    def _drop_game(self) -> None:
        if self._close is not None:
            self._close()
            self._close = None
        self.game = None

    def _retouch(self) -> None:
        """Count on where other things can be touched than before, or the same in another moment."""
        game = self.game
        moment: tuple[object, ...] = ()
        if self.stage.name == "play" and game is not None:
            lesson = game.lessons.open if game.lessons is not None else ""
            moment = (game.view.hide, game.view.phase, len(game.view.hits), lesson)
        offered = (self.stage.name, self.stage.since, self.asked, tuple(self.touches), moment)
        if offered != self._offered:
            self._offered = offered
            self.turn += 1

    def pause_notice(self, t: float, text: str) -> None:
        """Show visitors `text` instead of a game once no session is in progress; empty: no more."""
        self.notice = text.strip()
        if self.stage.name in IDLE:
            self.stage = dataclasses.replace(self.stage, touched=t)
