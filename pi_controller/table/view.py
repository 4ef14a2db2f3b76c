"""Public view: all data that leaves the table. No field could hold the bead's position before the reveal."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from pi_controller.errors import MatError
from pi_controller.journal.score_history import ScoreHistory
from pi_controller.referee.facts import Question
from pi_controller.referee.settings import foul_action
from pi_controller.referee.story import Hit, KeptStroke, Opening, Phase, PlayedTurn, ShownNotice, Story
from pi_controller.rules.base import Game, opposing_team
from pi_controller.rules.scoreboard import Scoreboard, gains
from pi_controller.sensing.events import SensorFault

ShownPhase = Literal[Phase, "halted"]


class FoulCost(msgspec.Struct, frozen=True):
    """What a foul would cost: `sticks` go to the team `to`, or a point; `hides` is the team that hides next."""

    to: str
    sticks: int
    point: bool
    hides: str


class QuestionView(msgspec.Struct, frozen=True):
    """The open question to the judge and its possible answers.

    `foul` is the foul in question, if it is about one, `against` the side that it would fall on, and `cost` what the
    answer `foul` costs; no other answer costs anything.

    Without an answer, `unasked` counts as the answer from `until` on (seconds on the table's clock). `struck` are the
    strikes made while the question is open, in order.
    """

    about: str
    choices: tuple[str, ...]
    pads: tuple[int, ...]
    foul: str = ""
    unasked: str = ""
    until: float | None = None
    struck: tuple[KeptStroke, ...] = ()
    against: str = ""
    cost: FoulCost | None = None


class View(msgspec.Struct, frozen=True):
    """Public view of the table. Times are seconds on the table's clock.

    `seq` is the last journal record included, `head` its hash. `revision` changes with everything that
    a judge's decision depends on: a command names the revision it was given for.

    `phase`: toss (duo, lot, horses' starts), hide (hands are passing), check (the mat is checking the hide), hit (one
    is owed), guess (slahal), throw, show (the bead is revealed), over, halted (the journal cannot be written; `note`
    says what to do). `calls` are the words called in the last hide that was hit (in other games: for the last action),
    `hits` the hits of the hide in progress or just settled, `foul` the foul that settled it. `scoreboard` is what all
    displays draw, `sheet` the whole state under the score sheet's keys; `opened` are the pads opened in this hide
    (ojibwe), `strokes` the taps or thrusts since the last throw was entered. `withdrawn` are commitments to this hide
    that will never be opened. `past` are the last hides or throws, oldest first, including the one in progress;
    `before` is the scoreboard before the last one. `course` is the score history once the game is over.

    `since` is when the table began to wait for the next action, `limit` the time limit for it (by the
    organiser), `stood` since when that clock has been stopped, `paused` when a judge stopped all clocks. `ends` is when
    the game's time is up (slahal), unless it has been stopped, since `ends_stood`.

    `faults` are the piezo discs and touch strips that do not work. `notice` is information that needs no answer.
    `sensors` is whether the sensors are in use. `protest` is the team with an undecided protest, `held` whether play
    waits for it. `void` is why the tournament's match played here no longer counts (`judge.VoidReason`); `free` is
    whether another game can begin.
    """

    seq: int
    game: str
    version: str
    teams: dict[str, str]
    phase: ShownPhase
    hide: int
    scoreboard: Scoreboard
    winner: str | None
    calls: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    passes: int = 0
    foul: str | None = None
    question: QuestionView | None = None
    commit: str | None = None
    withdrawn: tuple[str, ...] = ()
    opening: Opening | None = None
    link: bool = False
    faults: tuple[SensorFault, ...] = ()
    note: str = ""
    opened: tuple[int, ...] = ()
    strokes: int = 0
    ends: float | None = None
    ends_stood: float | None = None
    revision: int = 0
    since: float = 0.0
    limit: float | None = None
    stood: float | None = None
    paused: float | None = None
    notice: ShownNotice | None = None
    sensors: bool = True
    protest: str = ""
    held: bool = False
    head: str = ""
    past: tuple[PlayedTurn, ...] = ()
    sheet: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    before: Scoreboard | None = None
    course: ScoreHistory | None = None
    void: str = ""
    free: bool = True


_HIDDEN = frozenset({"hide", "check", "hit", "guess", "halted"})
"""The phases in which a bead may be hidden."""


def is_between_hides(view: View) -> bool:
    """Return whether no hide is in progress, so that all records may leave the table."""
    return is_pause(view.phase, view.passes)


def is_pause(phase: str, passes: int) -> bool:
    """Return whether no hide is in progress in this phase, after so many hand passes."""
    return phase not in _HIDDEN or (phase == "hide" and not passes)


def view_of(
    game: Game[Any],
    story: Story,
    seq: int,
    halted: MatError | None = None,
    unanswered: tuple[float, str] | None = None,
    head: str = "",
    course: ScoreHistory | None = None,
    *,
    free: bool = True,
) -> View:
    """Build the view of `story`; with `halted`, of a table that was halted by that error.

    `unanswered` is the time and the answer that the open question gets by default, `head` the hash of the last
    record, `course` the score history, `free` whether another game can begin.
    """
    sheet, question = game.sheet(story.state), story.question
    note = story.note or story.link.why
    return View(
        seq=seq,
        head=head,
        game=game.name,
        version=game.version,
        teams=dict(story.teams),
        phase="halted" if halted else story.phase,
        hide=story.hide.number,
        scoreboard=game.scoreboard(sheet),
        winner=sheet["winner"],
        calls=story.calls,
        hits=story.hide.hits,
        passes=len(story.hide.hiding_passes),
        foul=story.hide.foul,
        question=question and _make_question_view(game, story, question, unanswered),
        commit=story.hide.seal.commit,
        withdrawn=story.hide.seal.withdrawn,
        opening=story.opening,
        link=story.link.up is True,
        faults=story.link.faults if story.link.up else (),
        note=": ".join(filter(None, (halted.message, halted.hint))) if halted else note,
        opened=story.hide.opened,
        strokes=story.hide.strokes,
        ends=_ends(game, story),
        ends_stood=story.clocks.playing and story.clocks.playing.stopped_at,
        revision=story.revision,
        since=story.clocks.waiting.began,
        limit=_limit(game, story),
        stood=story.clocks.waiting.stopped_at,
        notice=story.notice,
        paused=story.clocks.paused,
        sensors=story.sensors,
        protest=story.protest.by if story.protest else "",
        held=story.held_by_protest,
        past=story.recent_turns,
        sheet=dict(sheet),
        before=None if story.previous_state is None else game.scoreboard(game.sheet(story.previous_state)),
        course=course,
        void=story.void,
        free=free,
    )


def _make_question_view(
    game: Game[Any], story: Story, question: Question, unanswered: tuple[float, str] | None
) -> QuestionView:
    until, unasked = unanswered or (None, "")
    return QuestionView(
        question.about,
        question.choices,
        question.pads,
        question.foul,
        unasked,
        until,
        struck=tuple(stroke for stroke in story.hide.kept if stroke.t >= question.t),
        against=question.against,
        cost=_foul_cost(game, story.state, question) if "foul" in question.choices else None,
    )


def _foul_cost(game: Game[Any], state: Any, question: Question) -> FoulCost | None:
    """Return what the foul in question would cost; None in games without teams, or if it cannot be played."""
    if question.against not in ("A", "B"):
        return None
    try:
        after, calls = game.play(state, foul_action(game, question.foul))
    except MatError:
        return None
    was, now = game.scoreboard(game.sheet(state)), game.scoreboard(game.sheet(after))
    to, point = opposing_team(question.against), any(call.endswith("obojun") for call in calls)
    return FoulCost(to, max(0, gains(was, now)[to]), point, game.hiders(after) or "")


def _ends(game: Game[Any], story: Story) -> float | None:
    """Return when the game's time is up; None if it has no time limit or has not begun."""
    if story.clocks.playing is None or story.phase == "over" or game.minutes is None:
        return None
    return story.clocks.playing.began + 60.0 * game.minutes


def _limit(game: Game[Any], story: Story) -> float | None:
    """Return the time limit of a hit (in slahal, of the hiding) by the game's options, s."""
    name = {"hit": "hit_seconds", "hide": "hide_seconds"}.get(story.phase)
    seconds = game.settings.get(name) if name else None
    return float(seconds) if isinstance(seconds, int | float) else None
