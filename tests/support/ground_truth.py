"""Compare what simulated people did with the facts that the table has in its journal."""

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from pi_controller.errors import MatError
from pi_controller.referee.facts import ActionPlayed, Fact, Ready, Reveal
from pi_controller.referee.history import effective_records
from pi_controller.referee.reducer import apply, blank
from pi_controller.rules.base import Action, Game
from pi_controller.simulation.simulation import Simulation
from pi_controller.simulation.truth import TrueHide, Truth, Turns


def disagreements(table: Simulation) -> list[str]:
    """Return every disagreement between the journal of `table` and what its people did, one line each."""
    return compare(table.truth, (fact for _, fact in effective_records(table.journal.read())), table.game)


def compare(truth: Truth | Turns, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
    """Return every disagreement between the truth and the facts that count, one line each: [] if they agree."""
    return compare_hides(truth, facts, game) if isinstance(truth, Truth) else compare_turns(truth, facts, game)


def true_sheets(truth: Truth, game: Game[Any]) -> dict[int, Mapping[str, Any]]:
    """Return the score sheet's state after each hide (0: after the toss), by folding the true actions."""
    state, sheets = game.opening(), dict[int, Mapping[str, Any]]()
    for hide, action in truth.actions():
        state, _ = game.play(state, action)
        sheets[hide] = game.sheet(state)
    return sheets


class _FactsOfHide:
    """One hide, collected from the facts."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.sheet: Mapping[str, Any] = {}
        self.passes: tuple[int, ...] | None = None
        self.revealed: int | None = None


def facts_by_hide(facts: Iterable[Fact], game: Game[Any]) -> tuple[dict[int, _FactsOfHide], list[str]]:
    """Group facts by hide (the toss is in hide 0); return also the fault if they cannot be followed to the end."""
    tales: dict[int, _FactsOfHide] = {}
    story = blank(game)
    for fact in facts:
        hide = 0 if story.phase == "toss" else story.hide.number
        try:
            story = apply(game, story, fact)
        except MatError as error:
            return tales, [f"hide {hide}: the facts cannot be told further: {error.message}"]
        if isinstance(fact, ActionPlayed):
            this = tales.setdefault(hide, _FactsOfHide())
            this.actions.append(fact.action)
            this.sheet = game.sheet(story.state)
        elif isinstance(fact, Ready):
            begun = story.hide
            missed = story.hands.doubt >= begun.number or story.middle_strip_dead
            this = tales.setdefault(begun.number, _FactsOfHide())
            this.passes = None if missed else tuple(each.pad for each in begun.passes)
        elif isinstance(fact, Reveal):
            tales.setdefault(fact.hide, _FactsOfHide()).revealed = fact.pad
    return tales, []


def compare_hides(truth: Truth, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
    """Compare the hits with their pads, fouls, the hands' passes, the revealed pad and the sticks, hide by hide."""
    tales, wrong = facts_by_hide(facts, game)
    sheets: dict[int, Mapping[str, Any]] = {}
    try:
        sheets = true_sheets(truth, game)
    except MatError as error:
        wrong.append(f"the true actions cannot be folded: {error.message}")
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
    # the mat may have felt other hands before the hide: people take the bead up and tidy the pads
    until_ready = (true.passes, true.passes[: true.early or None])
    if tale.passes is not None and all(tale.passes[-len(one) :] != one for one in until_ready):
        wrong.append(f"{name}: passes {tale.passes}, truly {true.passes}")
    return wrong


def _plain(action: Action | None) -> str:
    """Return an action in a few words, so that two spellings of the same action are equal."""
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


def compare_turns(truth: Turns, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
    """Return every disagreement between the truth and the journalled facts, one line each: [] if they agree.

    It compares all actions in order, the resulting state, and for each hide the revealed place. `facts` are those that
    count (`referee.history.effective_records`).
    """
    known = list(facts)
    wrong: list[str] = []
    journalled = [fact.action for fact in known if isinstance(fact, ActionPlayed)]
    done = list(truth.actions())
    for at, (true, recorded) in enumerate(zip_longest(done, journalled), 1):
        turn, action = true or (None, None)
        if action != recorded:
            wrong.append(f"action {at} (turn {turn}): told {recorded}, truly {action}")
            break  # all later actions would disagree as well
    if not wrong:
        try:
            after = game.sheet(_fold_actions(game, (action for _, action in done)))
            if not after["winner"]:
                wrong.append(f"the true actions lead to no winner: {after}")
        except MatError as error:
            wrong.append(f"the true actions cannot be folded: {error.message}")
    for fact in known:
        if isinstance(fact, Reveal):
            turn = truth.turns.get(fact.hide)
            if turn is None or turn.place != fact.pad:
                wrong.append(f"hide {fact.hide}: revealed {fact.pad}, truly {turn and turn.place}")
    return wrong


def _fold_actions(game: Game[Any], actions: Iterable[Action]) -> Any:
    state = game.opening()
    for action in actions:
        state, _ = game.play(state, action)
    return state
