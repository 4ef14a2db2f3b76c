"""State of the installation: its stage, the visitor's session, the idle demonstration and the touches allowed now.

Three calls drive an `Exhibit`, each with the time (seconds of one clock): `touch` for touches on the page,
`handle_mat_event` for events of a real mat or a button, and `tick`. It reads no clock and never blocks; storage of
games and usage counts are passed in. `screen.screen_of(exhibit)` returns the public picture.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time, timedelta
from random import Random
from typing import Literal, NamedTuple

from msgspec.structs import replace

from pi_controller.config.model import ExhibitSection
from pi_controller.errors import MatError
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.lessons import Lessons
from pi_controller.exhibit.opponents import HabitReader, RandomOpponent
from pi_controller.exhibit.session_games import SessionGames, local_time
from pi_controller.exhibit.stage import IDLE, Stage, StageName, Times, VisitPace
from pi_controller.exhibit.visitor_game import SHOW_PACE, SKIP_AFTER_S, Player, VisitorGame
from pi_controller.pads import EVERY_PAD
from pi_controller.sensing.events import Button, HandIn, Link, MatEvent, SensorFault, SensorFaultsChange
from pi_controller.text import mark, strip_controls

log = logging.getLogger(__name__)

Kind = Literal["mat", "teams", "learn"]
Ending = Literal["finished", "left", "nobody", "time"]
"""How a session ends: the game was played, the visitor left, the visitors were gone, or the time was up."""
KINDS: tuple[Kind, ...] = ("learn", "mat", "teams")
"""The ways to play, in the order of the screen."""
SWITCHES = ("toss_a", "toss_b", "ready", "shown")
"""Names of the four large buttons that choose 1 to 4."""
AWAKE_S = 600.0
"""Outside the opening hours the screen goes off after this time without a touch, so that the staff can work at it."""
SCREEN_LEAD_S = 300.0
"""The screen comes on so long before the opening hour: a small computer's browser takes a minute to start."""
UNTIL_REOPENED = datetime.fromisoformat("9999-12-31")
"""Closed until the staff opens again, because there are no opening hours."""
PRESS_GAP_S = 0.3
"""Time after a choice in which no button counts."""
SKIP_KEY, HOW_KEY, LEAVE_KEY = 1, 8, 9
"""Numbers of the controls beside the game: leaving has none of the four buttons' numbers, so no hasty press leaves."""
_SIDES: Mapping[Kind, Mapping[str, Player]] = {
    "mat": {"A": "visitor", "B": "mat"},
    "teams": {"A": "visitor", "B": "visitor"},
    "learn": {"A": "visitor", "B": "mat"},
}
_SHOW_SIDES: Mapping[str, Player] = {"A": "mat", "B": "mat"}
_SHOW_HIDES = 6


class EndedSession(NamedTuple):
    """A session that has ended: the game played, its ending, its length in seconds, and the number of hides begun."""

    kind: Kind
    ending: Ending
    seconds: float
    hides: int


def find_next_opening(section: ExhibitSection, now: datetime) -> datetime | None:
    """Return the opening hour after a day that is closed at the local time `now`; None without opening hours."""
    if not section.opens:
        return None
    opening = datetime.combine(now.date(), time.fromisoformat(section.opens))
    # before the opening hour the coming day is closed; but hours over midnight may still be those of the day before
    opens_today = opening > now and section.is_open_at(now.time())
    return opening if opens_today else opening + timedelta(days=1)


class Exhibit:
    """One installation with the settings `section`, from `t` on; `rng` must be a `SystemRandom` at a real table.

    `ended` is called with each session that has ended, `local` converts a time to local time. `host` are the host's
    texts and pictures.
    """

    def __init__(
        self,
        section: ExhibitSection,
        games: SessionGames,
        rng: Random,
        t: float,
        *,
        pace: VisitPace | None = None,
        ended: Callable[[float, EndedSession], None] | None = None,
        local: Callable[[float], datetime] = local_time,
        host: HostFiles | None = None,
    ) -> None:
        self.section = section
        self.host = host or HostFiles(None)
        """The host's texts, pictures, labels and stories for visitors."""
        self.times = Times(section.answer_s, section.ask_after_s, section.leave_after_s, section.longest_min * 60.0)
        self.language = section.languages[0]
        self.low = False
        """True if all controls are in the lower half of the screen."""
        self.how = False
        """True if the screen explains how the mat guesses."""
        self.notice = ""
        """The staff's notice to visitors in place of a game; "" for none."""
        self.closed_until: datetime | None = None
        """Local time until which the staff has closed the installation, without a time zone; None: it is not closed."""
        self.clock_set = True
        """True if the machine's time is known; until then the opening hours are ignored."""
        self.undated = False
        """True if old games are kept because the clock is, or was, in doubt."""
        self.keys_changed = False
        """True if the staff still has to confirm changed keys; the screen shows it while idle."""
        self.danger = False
        """True if the machine is in a dangerous state; visitors see a notice until it has passed."""
        self.fault = ""
        """Why the last session could not be recorded although recording is on; for the staff."""
        self.kind: Kind = "mat"
        self.game: VisitorGame | None = None
        """The game on the screen: a visitor's, or the idle demonstration."""
        self.repeats = 0
        """How often a visitor asked to hear the last prompt again."""
        self.turn = 1
        """Number of the current set of controls: a touch carries the number of the set it was meant for."""
        self._games, self._rng, self._pace, self._ended, self._local = games, rng, pace or VisitPace(), ended, local
        self._close: Callable[[], None] | None = None
        self._now = t
        self._of_the_board: dict[type, Link | SensorFaultsChange] = {}
        """The last link and sensor states of the board, passed on to the next game."""
        self._offered: tuple[object, ...] = ()
        self._chosen_at = float("-inf")
        self._used = t
        self.stage = Stage(self.idle_stage(t), t, t, t)
        self._renew_show(t)
        self._update_turn()

    # ---- output

    @property
    def closed_today(self) -> bool:
        """True while the staff has closed the installation."""
        return self._is_closed_by_staff(self._local(self._now))

    def _is_closed_by_staff(self, now: datetime) -> bool:
        return self.closed_until is not None and now.replace(tzinfo=None) < self.closed_until

    def close_today(self, t: float) -> None:
        """Show visitors a closed page until the next opening hour; without hours until `closed_until` is None again."""
        now = self._local(t).replace(tzinfo=None)
        self.closed_until = find_next_opening(self.section, now) or UNTIL_REOPENED

    @property
    def in_season(self) -> bool:
        """True if the game may be played at this time of the year."""
        return self.section.is_in_season(self._local(self._now).date())

    @property
    def screen_off(self) -> bool:
        """True outside the opening hours after a while without a touch, until shortly before they begin.

        A notice, and a closed page within the opening hours, stay on: people are there to read them.
        """
        if self.stage.name != "rest" or not self.clock_set or self._now - self._used < AWAKE_S:
            return False
        now = self._local(self._now)
        return not any(self.section.is_open_at((now + timedelta(seconds=s)).time()) for s in (0, SCREEN_LEAD_S))

    @property
    def dimmed(self) -> bool:
        """True if lights and page are dimmed at this time of the day."""
        return self.section.is_dimmed_at(self._local(self._now).time())

    @property
    def board(self) -> Link | None:
        """The last known state of the board's link; None before the first."""
        link = self._of_the_board.get(Link)
        return link if isinstance(link, Link) else None

    @property
    def sensor_faults(self) -> tuple[SensorFault, ...]:
        """The sensors last reported as faulty."""
        sensors = self._of_the_board.get(SensorFaultsChange)
        return sensors.faults if isinstance(sensors, SensorFaultsChange) else ()

    @property
    def asked(self) -> bool:
        """True while visitors are asked if they are still there."""
        return self.stage.asked is not None

    @property
    def leaving(self) -> bool:
        """True while visitors are asked if they want to stop their game."""
        return self.stage.leaving

    @property
    def ends_at(self) -> float | None:
        """When the current screen ends by itself and the installation returns to its beginning; None if it stays."""
        until = self.stage.deadline(self.times)
        return None if self.stage.name == "play" and not self.asked else until

    @property
    def touches(self) -> Sequence[str]:
        """Names of the controls that may be touched now."""
        match self.stage.name:
            case "attract":
                return ("start", "about")
            case "about":
                return ("start", "leave")
            case "choose":
                return (*(f"game:{kind}" for kind in KINDS), "leave")
            case "play" if self.stage.asked is not None:
                hasty = self.leaving and self._now - self.stage.asked < SKIP_AFTER_S
                return ("here",) if hasty else ("here", "leave")
            case "play":
                game = self.game
                if game is None:
                    return ("leave",)
                skip = ("skip",) if game.may_skip(self._now) else ()
                shown = ("how",) if game.guessed is not None else ()
                return (*game.touches, *skip, *shown, "leave")
            case "result" if self._now - self.stage.began < self.times.longest_s:
                return ("again", "choose", "leave")
            case "result":
                return ("leave",)
            case _:
                return ()

    @property
    def numbers(self) -> Mapping[int, str]:
        """The controls by the numbers of keys and of the four buttons: a cloth by its own, others in screen order."""
        touches = self.touches
        if self.stage.name != "play" or self.asked:
            return dict(enumerate(touches, 1))
        beside = {"skip": SKIP_KEY, "how": HOW_KEY, "leave": LEAVE_KEY}
        found = {int(do[4:]): do for do in touches if do.startswith("pad:")}
        others = [do for do in touches if do not in beside and not do.startswith("pad:")]
        found |= dict(enumerate(others, len(EVERY_PAD) + 1 if found else 1))
        return found | {beside[do]: do for do in touches if do in beside}

    def idle_stage(self, t: float) -> StageName:
        """Return the stage at `t` if no visitor has a session."""
        if self.notice or self.danger:
            return "notice"
        now = self._local(t)
        closed = self._is_closed_by_staff(now) or (self.clock_set and not self.section.is_open_at(now.time()))
        resting = closed or not self.section.is_in_season(now.date())
        return "rest" if resting else "attract"

    # ---- input

    def touch(self, t: float, name: str, turn: int | None = None) -> bool:
        """Handle a visitor's touch of `name` on the screen numbered `turn`; return True if it was accepted.

        A touch meant for an earlier screen is ignored, so of ten hands at once only one counts.
        """
        t = self._now = self._used = max(t, self._now)
        what, _, value = name.partition(":")
        if what == "language" and value in self.section.languages:
            self.language = value
        elif name == "low":
            self.low = not self.low
        elif name == "repeat":
            self.repeats += 1
        elif name == "wake":
            pass
        elif (turn is not None and turn != self.turn) or name not in self.touches:
            return False
        else:
            self._apply_touch(t, what, value, name)
            self._chosen_at, self._offered = t, ()  # the next touch is for a later screen, even if that looks the same
        if self.stage.name not in IDLE and not (name == "leave" and self.leaving):
            self.stage = self.stage.record_use(t)
        self._update_turn()
        return True

    def press(self, t: float, number: int) -> bool:
        """Handle a visitor's press of key or button `number`; return True if it chose a control.

        At the stage `attract` any number starts a session; later a number that chooses nothing repeats the prompt. A
        button does not know for which screen it was meant, so only one of several pressed at once counts.
        """
        if t - self._chosen_at < PRESS_GAP_S:
            return False
        name = self.numbers.get(1 if self.stage.name == "attract" else number)
        return self.touch(t, name or "repeat", self.turn) and name is not None

    def handle_mat_event(self, t: float, event: MatEvent) -> None:
        """Handle an event of a real mat or a button."""
        t = self._now = max(t, self._now)
        if isinstance(event, Link | SensorFaultsChange):
            self._of_the_board[type(event)] = event
        elif isinstance(event, HandIn | Button):
            self._used = t
        if isinstance(event, Button) and self.section.four_buttons and event.name in SWITCHES:
            self.press(t, SWITCHES.index(event.name) + 1)
        elif isinstance(event, Button) and self.asked:
            self.touch(t, "here")
        elif self.stage.name == "attract":
            if isinstance(event, HandIn | Button):
                self._enter(t, "choose")
        elif self.stage.name == "choose" and isinstance(event, Button):
            self._begin(t, "teams" if event.name == "toss_b" else "mat")
        elif self.stage.name == "result" and isinstance(event, Button) and "again" in self.touches:
            self._begin(t, self.kind)
        elif self.stage.name == "play" and self.game is not None and self.game.handle_mat_event(t, event):
            self.stage = self.stage.record_use(t)
        self._update_turn()

    def tick(self, t: float) -> None:
        """Advance the time to `t`: stages, game and demonstration."""
        t = self._now = max(t, self._now)
        if self.game is not None:
            if self.stage.name == "attract" or (self.stage.name == "play" and not self.asked):
                self.game.tick(t)
            if self.stage.name == "attract" and self.game.over:
                self._renew_show(t)
        over = self.game is None or self.game.over
        before = self.stage
        after = before.advance(t, self.times, idle=self.idle_stage(t), over=over)
        if after.name != before.name:
            by_time = t - before.began >= self.times.longest_s
            gone = before.asked is not None and not before.leaving
            self._leave_stage(t, before, "finished" if over else "time" if by_time else "nobody" if gone else "left")
            self.stage = after
            self._arrive(t)
        self.stage = after
        self._update_turn()

    def wake(self, t: float) -> None:
        """Switch the screen on for a while at the staff's request."""
        self._used = t

    def close(self, t: float) -> None:
        """End the session in progress because the installation shuts down."""
        if self.stage.name == "play":
            self._end_session(t, "left")
        self._close_table()

    def end_session(self, t: float) -> None:
        """End the visitors' session at the staff's request and return to the beginning."""
        t = self._now = max(t, self._now)
        if self.stage.name not in IDLE:
            self._enter(t, self.idle_stage(t))
        self._update_turn()

    # ---- inside

    def _apply_touch(self, t: float, what: str, value: str, name: str) -> None:
        match what:
            case "start" | "choose":
                self._enter(t, "choose")
            case "about":
                self._enter(t, "about")
            case "game":
                self._begin(t, value)  # pyright: ignore[reportArgumentType] - one of KINDS: it was offered
            case "again":
                self._begin(t, self.kind)
            case "leave" if self.stage.name == "play" and not self.asked:
                self.stage = dataclasses.replace(self.stage, asked=t, leaving=True)
            case "leave":
                self._enter(t, self.idle_stage(t))
            case "how":
                self.how = not self.how
            case "here":
                pass
            case "skip" if self.game is not None:
                self.game.skip(t)
            case _:
                if self.game is not None:
                    self.game.touch(t, name)

    def _enter(self, t: float, name: StageName) -> None:
        before, self.stage = self.stage, self.stage.enter(name, t)
        self._leave_stage(t, before, "left")
        self._arrive(t)

    def _leave_stage(self, t: float, before: Stage, ending: Ending) -> None:
        """End the session or the demonstration of the stage `before`."""
        if before.name == "play":
            self._end_session(t, ending)
        elif before.name == "attract":
            self._drop_game()

    def _arrive(self, t: float) -> None:
        """Reset the screen's options and renew the demonstration after an idle stage was entered."""
        if self.stage.name in IDLE:
            self.language, self.low, self.how = self.section.languages[0], False, False
            self._renew_show(t)

    def _begin(self, t: float, kind: Kind) -> None:
        self._drop_game()
        self.kind, self.how = kind, False
        sides = _SIDES[kind]
        try:
            begun, self.fault = self._games.begin(t, "mat" if "mat" in sides.values() else "teams"), ""
        except MatError as error:  # visitors play anyway, and the staff page shows the fault
            log.warning("this session is not recorded: %s", error.message)
            begun, self.fault = self._games.begin_show(t), error.sentences[0]
        learner = HabitReader if self.section.opponent == "habits" else RandomOpponent
        self._close = begun.close
        self.game = VisitorGame(
            begun.table,
            sides,
            learner(self._rng),
            self._rng,
            t,
            kind=self.section.mat,
            pace=self._pace,
            hides=self.section.hides,
            lessons=Lessons() if kind == "learn" else None,
        )
        for event in self._of_the_board.values():
            self.game.handle_mat_event(t, replace(event, t=t))
        self.stage = self.stage.enter("play", t)

    def _end_session(self, t: float, ending: Ending) -> None:
        """End the session's game: close its journal and report it to `ended`."""
        game = self.game
        if game is None:
            return
        if not game.over:
            game.close()
            game.table.abandon(t, mark("the visitors ended the game"))
        self._close_table()
        if self._ended is not None:
            self._ended(t, EndedSession(self.kind, ending, max(0.0, t - self.stage.began), game.view.hide))

    def _renew_show(self, t: float) -> None:
        """Start a new demonstration if the stage is attract."""
        self._drop_game()
        if self.stage.name != "attract":
            return
        begun = self._games.begin_show(t)
        self._close = begun.close
        opponent = RandomOpponent(self._rng)
        self.game = VisitorGame(
            begun.table, _SHOW_SIDES, opponent, self._rng, t, pace=SHOW_PACE, hides=_SHOW_HIDES, show=True
        )

    def _drop_game(self) -> None:
        self._close_table()
        self.game = None

    def _close_table(self) -> None:
        if self._close is not None:
            self._close()
            self._close = None

    def _update_turn(self) -> None:
        """Increase `turn` if the allowed touches or the moment of the game have changed."""
        game = self.game
        moment: tuple[object, ...] = ()
        if self.stage.name == "play" and game is not None:
            lesson = game.lessons.open_step if game.lessons is not None else ""
            moment = (game.view.hide, game.view.phase, len(game.view.hits), lesson)
        offered = (self.stage.name, self.stage.since, self.asked, tuple(self.touches), moment)
        if offered != self._offered:
            self._offered = offered
            self.turn += 1

    def set_notice(self, t: float, text: str) -> None:
        """Show visitors `text` instead of a game as soon as no session is in progress; "" ends the notice."""
        self.notice = strip_controls(text).strip()
        if self.stage.name in IDLE:
            self.stage = dataclasses.replace(self.stage, touched=t)
