"""Ground truth of a simulated game: what the players really did, compared with the table's journal.

Only a simulation can have this record. It is kept by the players as they act, or foretold from the scripts alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.errors import MatError
from pi_controller.games import registry
from pi_controller.games.base import Team
from pi_controller.referee.facts import Done, Fact, Opened, Ready, Reveal
from pi_controller.referee.reducer import apply, blank
from pi_controller.sim.plans import HidePlan, Mischief, PaceName, hide_plan, toss

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_controller.games.base import Action, Game

MOST_HIDES = 2000
"""No game of the Dakota kind has been seen to last so long; a fold that passes it is broken."""


class TrueHit(msgspec.Struct, frozen=True):
    """A pad that was struck (the one touched first) for the hit `owed`, and whether the bead lay under it."""

    owed: str
    pad: int
    found: bool


class TrueHide(msgspec.Struct):
    """One hide. `hits` holds the first and, when it was owed, the second."""

    hide: int
    hider: Team
    place: int | None
    passes: tuple[int, ...]
    foul: str | None
    hits: list[TrueHit] = msgspec.field(default_factory=list[TrueHit])

    def actions(self) -> Iterator[dict[str, Any]]:
        """Return the actions of the game that settle this hide, as they ought to be taken."""
        if self.foul is not None:
            yield {"do": "foul", "by": "hider", "kind": self.foul}
            return
        for hit in self.hits:
            yield {"do": "hit", "found": hit.found, "pad": hit.pad}


class Truth(msgspec.Struct):
    """All hides of one table so far."""

    seed: int
    tossed: Team | None = None
    hides: dict[int, TrueHide] = msgspec.field(default_factory=dict[int, TrueHide])

    def hidden(self, plan: HidePlan, hider: Team) -> None:
        """Record that the hider has hidden as `plan` says; a hide begun anew replaces what was recorded."""
        passes = tuple(p.pad for p in plan.passes)
        self.hides[plan.hide] = TrueHide(plan.hide, hider, plan.place, passes, plan.foul)

    def struck(self, hide: int, owed: str, pad: int) -> None:
        """Record a stroke for the hit that is owed; a stroke made again for the same hit replaces the one before."""
        true = self.hides[hide]
        before = [hit for hit in true.hits if owed == "second" and hit.owed == "first"]
        true.hits = [*before, TrueHit(owed, pad, pad == true.place)]

    def actions(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return (hide, action) in order; the toss belongs to hide 0."""
        if self.tossed is not None:
            yield 0, {"do": "toss", "winner": self.tossed}
        for hide in sorted(self.hides):
            for action in self.hides[hide].actions():
                yield hide, action

    def sheets(self, game: Game[Any]) -> dict[int, Mapping[str, Any]]:
        """Return the score sheet's state after each hide (0: after the toss), by folding the true actions."""
        state, sheets = game.opening(), dict[int, Mapping[str, Any]]()
        for hide, action in self.actions():
            state, _ = game.play(state, action)
            sheets[hide] = game.sheet(state)
        return sheets


def predict(
    seed: int, game: Game[Any], pace: PaceName = "brisk", mischief: Mischief | None = None, most: int = MOST_HIDES
) -> Truth:
    """Return the truth of a whole game (or its first `most` hides) from the scripts alone, without playing it."""
    truth = Truth(seed, toss(seed))
    state, _ = game.play(game.opening(), {"do": "toss", "winner": truth.tossed})
    for hide in range(1, most + 1):
        if game.over(state):
            break
        plan = hide_plan(seed, hide, pace, mischief)
        truth.hidden(plan, game.sheet(state)["hider"])
        if plan.foul is None:
            for owed, stroke in (("first", plan.first), ("second", plan.second)):
                if not game.over(state) and game.sheet(state)["owed"] == owed:
                    truth.struck(hide, owed, stroke.pad)
                    *_, action = truth.hides[hide].actions()
                    state, _ = game.play(state, action)
        else:
            for action in truth.hides[hide].actions():
                state, _ = game.play(state, action)
    return truth


class _FactsOfHide:
    """One hide, collected from the facts."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.sheet: Mapping[str, Any] = {}
        self.passes: tuple[int, ...] | None = None
        self.fetched = False
        self.revealed: int | None = None


def facts_by_hide(facts: Iterable[Fact], game: Game[Any]) -> tuple[dict[int, _FactsOfHide], list[str]]:
    """Sort facts by hide (the toss belongs to hide 0), and say where they cannot be told further."""
    tales: dict[int, _FactsOfHide] = {}
    story = blank(game)
    for fact in facts:
        hide = 0 if story.phase == "toss" else story.hide.number
        try:
            story = apply(game, story, fact)
        except MatError as error:
            return tales, [f"hide {hide}: the facts cannot be told further: {error.what}"]
        if isinstance(fact, Done):
            this = tales.setdefault(hide, _FactsOfHide())
            this.actions.append(fact.action)
            this.sheet = game.sheet(story.state)
        elif isinstance(fact, Ready):
            begun, missed = story.hide, story.hands.doubt >= story.hide.number
            this = tales.setdefault(begun.number, _FactsOfHide())
            this.passes = None if missed else begun.passes
            this.fetched = begun.fetched
        elif isinstance(fact, Reveal):
            tales.setdefault(fact.hide, _FactsOfHide()).revealed = fact.pad
    return tales, []


def compare(truth: Truth, facts: Iterable[Fact], game: Game[Any] | None = None) -> list[str]:
    """Return every disagreement between the truth and the journalled facts, one line each: none when they agree.

    Compared are, hide by hide, the hits with their pads, fouls, the hands' passes, the revealed pad, and the sticks.
    `facts` are those that count (`referee.history.effective`). The rules are those of `game`, or of the `Opened` fact.
    """
    known = list(facts)
    if game is None:
        opened = next((fact for fact in known if isinstance(fact, Opened)), None)
        if opened is None:
            return ["the facts do not say which game was played"]
        game = registry.game(opened.game, opened.options)
    tales, wrong = facts_by_hide(known, game)
    sheets: dict[int, Mapping[str, Any]] = {}
    try:
        sheets = truth.sheets(game)
    except MatError as error:
        wrong.append(f"the true actions cannot be folded: {error.what}")
    want: dict[int, list[Action]] = {}
    for hide, action in truth.actions():
        want.setdefault(hide, []).append(action)
    for hide in sorted(want.keys() | {hide for hide, tale in tales.items() if tale.actions}):
        name = "the toss" if hide == 0 else f"hide {hide}"
        tale = tales.get(hide, _FactsOfHide())
        wrong += _actions(name, want.get(hide, []), tale.actions)
        if hide in truth.hides:
            wrong += _rest(name, truth.hides[hide], tale)
        if hide in sheets and tale.sheet and _sticks(sheets[hide]) != _sticks(tale.sheet):
            wrong.append(f"{name}: sticks are {_sticks(tale.sheet)}, truly {_sticks(sheets[hide])}")
    return wrong


def _actions(name: str, want: list[Action], have: list[Action]) -> list[str]:
    wrong: list[str] = []
    for i in range(max(len(want), len(have))):
        true = want[i] if i < len(want) else None
        action = have[i] if i < len(have) else None
        if _plain(true) != _plain(action):
            wrong.append(f"{name}: told {_plain(action)}, truly {_plain(true)}")
        elif true is not None and action is not None and action.get("pad", true.get("pad")) != true.get("pad"):
            wrong.append(f"{name}: told a hit on pad {action.get('pad')}, truly on pad {true.get('pad')}")
    return wrong


def _rest(name: str, true: TrueHide, tale: _FactsOfHide) -> list[str]:
    wrong: list[str] = []
    if tale.revealed is not None and tale.revealed != true.place:
        wrong.append(f"{name}: revealed under pad {tale.revealed}, truly under pad {true.place}")
    if tale.passes is not None and true.passes not in (tale.passes, tale.passes[1:] if tale.fetched else None):
        wrong.append(f"{name}: passes {tale.passes}, truly {true.passes}")
    return wrong


def _plain(action: Action | None) -> str:
    """Say an action in a few words, so that two ways of writing the same one are equal."""
    match action.get("do") if action else None:
        case _ if action is None:
            return "nothing"
        case "toss":
            return f"toss to {action['winner']}"
        case "hit":
            return f"hit {'found' if action.get('found') else 'missed'}"
        case "foul":
            return f"foul {action.get('kind')} by {action.get('by')}"
        case _:
            return str(dict(action))


def _sticks(sheet: Mapping[str, Any]) -> str:
    pools = ", ".join(f"{team} {sheet['long'][team]}+{sheet['short'][team]}" for team in ("A", "B"))
    return f"{pools}, middle {sheet['middle']}, hider {sheet['hider']}"
