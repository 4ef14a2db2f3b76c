"""The public view: all that leaves the table. It has no field that could hold the bead's place before the reveal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pi_controller.mat.events import SensorFault
from pi_controller.referee.story import Hit, Notice, Opening, Phase, Turn
from pi_controller.table.course import Course

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.errors import MatError
    from pi_controller.games.base import Game
    from pi_controller.referee.facts import Question
    from pi_controller.referee.story import Story

ShownPhase = Literal[Phase, "halted"]


class Asked(msgspec.Struct, frozen=True):
    """What the mat asks the judge, and the answers it takes; `foul` is the foul it may be, when it is about one.

    Where nobody answers, `unasked` is the answer that follows by itself at `until` (seconds on the table's clock).
    """

    about: str
    choices: tuple[str, ...]
    pads: tuple[int, ...]
    foul: str = ""
    unasked: str = ""
    until: float | None = None


class View(msgspec.Struct, frozen=True):
    """One picture of the table. `seq` is the last journal record folded in, `head` its hash (`table.chain`); counts are
    sticks.

    `phase`: toss (duel, lot, horses' starts), hide (hands are passing), check (the mat looks), hit (one is owed),
    guess (slahal), throw, show (the bead is shown), over, halted (the journal cannot be written; `note` says what
    to do). `calls` are the words called in the last hide that was hit (in other games for the last action), `hits`
    the hits of the hide in progress or just settled, `foul` the foul that settled it. `sheet` is the state under
    the score sheet's keys, by which the games other than Hampa Apena are told; `opened` are the pads opened in this
    hide (ojibwe), `strokes` the taps or thrusts since the last throw was entered, `ends` when the game's time is up
    (slahal, seconds on the table's clock) unless it stands, since `ends_stood`. `faults` are the piezo discs and
    touch strips that cannot be believed. `withdrawn` are commitments to this hide that will never be opened.
    `revision` changes with what a judge decides by: a command names the one it was given for. `since` is when the
    table began to wait for what it waits for, `limit` how long that may take (seconds, the organiser's number),
    `stood` since when that clock stands, `paused` when a judge stopped all clocks. `notice` is what people are to
    know and nobody has to answer. `sensors` is whether play goes by what the mat feels; `protest` is the team whose
    protest is not decided, `held` whether play stands because of it. `past` are the last hides or throws, oldest first,
    the one in progress among them; `before` is the score sheet as it was before the one that was played last. `course`
    is how the game went, once it is over.
    """

    seq: int
    game: str
    version: str
    teams: dict[str, str]
    phase: ShownPhase
    hide: int
    hider: str | None
    long: dict[str, int]
    middle: int
    short: dict[str, int]
    points: int
    owed: str | None
    situation: str | None
    winner: str | None
    calls: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    passes: int = 0
    foul: str | None = None
    question: Asked | None = None
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
    notice: Notice | None = None
    sensors: bool = True
    protest: str = ""
    held: bool = False
    head: str = ""
    past: tuple[Turn, ...] = ()
    sheet: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    before: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    course: Course | None = None


def view_of(
    game: Game[Any],
    story: Story,
    seq: int,
    halted: MatError | None = None,
    unanswered: tuple[float, str] | None = None,
    head: str = "",
    course: Course | None = None,
) -> View:
    """Return the picture of `story`; with `halted`, of a table that stands still because of that error.

    `unanswered` is when the open question is answered by itself, and how, `head` the hash of the last record,
    `course` how the game went.
    """
    sheet, question = game.sheet(story.state), story.question
    hides: Mapping[str, Any] = sheet if game.hand_passes else {}
    note = story.note or story.link.why
    return View(
        seq=seq,
        head=head,
        game=game.name,
        version=game.version,
        teams=dict(story.teams),
        phase="halted" if halted else story.phase,
        hide=story.hide.number,
        hider=hides.get("hider"),
        long=hides.get("long", {}),
        middle=hides.get("middle", 0),
        short=hides.get("short", {}),
        points=int(game.settings.get("points") or 5) if hides else 0,
        owed=hides.get("owed"),
        situation=hides.get("situation"),
        winner=sheet["winner"],
        calls=story.calls,
        hits=story.hide.hits,
        passes=len(story.hide.passes),
        foul=story.hide.foul,
        question=question and _asked(question, unanswered),
        commit=story.hide.commit,
        withdrawn=story.hide.withdrawn,
        opening=story.opening,
        link=story.link.up is True,
        faults=story.link.faults if story.link.up else (),
        note=": ".join(filter(None, (halted.what, halted.todo))) if halted else note,
        opened=story.hide.opened,
        strokes=story.hide.strokes,
        ends=_ends(game, story),
        ends_stood=story.clocks.playing and story.clocks.playing.stood,
        revision=story.revision,
        since=story.clocks.waiting.began,
        limit=_limit(game, story),
        stood=story.clocks.waiting.stood,
        notice=story.notice,
        paused=story.clocks.paused,
        sensors=story.sensors,
        protest=story.protest.by if story.protest else "",
        held=story.held,
        past=story.past,
        sheet=dict(sheet),
        before={} if story.former is None else dict(game.sheet(story.former)),
        course=course,
    )


def _asked(question: Question, unanswered: tuple[float, str] | None) -> Asked:
    until, unasked = unanswered or (None, "")
    return Asked(question.about, question.choices, question.pads, question.foul, unasked, until)


def _ends(game: Game[Any], story: Story) -> float | None:
    """Return when the game's time is up, for a game that has one and has begun."""
    if story.clocks.playing is None or story.phase == "over" or game.minutes is None:
        return None
    return story.clocks.playing.began + 60.0 * game.minutes


def _limit(game: Game[Any], story: Story) -> float | None:
    """Return the seconds that a hit (or the hiding, in slahal) may take by the game's options."""
    name = {"hit": "hit_seconds", "hide": "hide_seconds"}.get(story.phase)
    seconds = game.settings.get(name) if name else None
    return float(seconds) if isinstance(seconds, int | float) else None
