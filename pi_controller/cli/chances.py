"""`moccasin-mat chances`: the chances of winning, before the game and from its decisive moments."""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.games import actions, registry
from pi_controller.games.base import Action, Game, IllegalActionError, InvalidActionError, Json, other
from pi_controller.games.chances import FIRST, SECOND, games, solve
from pi_controller.games.options import from_text, written
from pi_controller.games.play import Play, drawn
from pi_controller.games.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.games.chances import Chances


_WIDTH = 80
"""Characters in a line."""


def main(argv: Sequence[str]) -> int:
    """Run `moccasin-mat chances GAME [OPTION]...`; return its exit status or raise a `MatError`."""
    args = parser().parse_args(argv)
    if not registry.kind(args.game).hand_passes and (args.first is not None or args.second is not None):
        raise UsageError(f"{args.game} has no hits to find", "--first and --second are for dakota")
    game = registry.game(args.game, from_text(args.set))
    state = _asked(game, args.after, args.keys)
    solved = solve(
        game,
        FIRST if args.first is None else args.first,
        SECOND if args.second is None else args.second,
    )
    if args.json:
        print(json.dumps(_solved_as_json(solved, state)))
    else:
        print("\n".join(_lines(solved, state)))
    return 0


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("chances", "Tell the exact chances of winning, for learning what a moment of the game means.")
    parser.add_argument("game", metavar="GAME", help=listed(games()))
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="choose an option")
    parser.add_argument("--first", metavar="P", type=_chance, help="dakota: the first hit finds (default 1/4)")
    parser.add_argument("--second", metavar="P", type=_chance, help="dakota: after a miss the second finds (1/3)")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--after", metavar="FILE", help="the chances after these actions, a JSON object a line")
    asked.add_argument(
        "--from", dest="keys", metavar="JSON", help="dakota: from a state under the score sheet's keys, as an object"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")
    return parser


def _chance(text: str) -> float:
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,15})?|[0-9]{1,9}/0*[1-9][0-9]{0,8}", text):
        chance = float(Fraction(text))
        if chance <= 1:
            return chance
    raise ArgumentTypeError(f"{text[:40]!r} is no chance; write 0.25 or 1/4")


def _asked(game: Game[Any], after: str | None, keys: str | None) -> Any:
    """Return the state that is asked for, or None."""
    if keys is not None:
        if not game.hand_passes:
            raise UsageError(f"--from does not read states of {game.name}", "give its actions: --after FILE")
        try:
            return _written(_object(keys, "--from"))
        except InvalidActionError as error:
            raise UsageError(f"--from: {error.what}", error.todo or "write the keys of the score sheet") from error
    return None if after is None else _reached(game, after)


def _reached(game: Game[Any], name: str) -> Any:
    try:
        lines = Path(name).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"cannot read {name}: {reason}", "name a file of actions, one JSON object a line") from error
    play = Play(game)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            play.push(_object(line, f"line {number}"))
        except (InvalidActionError, IllegalActionError) as error:
            raise UsageError(f"{name}, line {number}: {error.what}", error.todo or "mend that line") from error
    return play.state


def _object(text: str, where: str) -> Action:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON", "write a JSON object") from error
    if not isinstance(value, dict):
        raise UsageError(f"{where} is no JSON object", "write a JSON object")
    return cast("Action", value)


def _written(keys: Action) -> Any:
    """Return the Dakota state under these keys; all but `long` may be left out."""
    from dataclasses import replace

    from pi_controller.games.dakota_state import MIDDLE, TEAMS, UNEARNED, Mode, Owed, State
    from pi_controller.games.sticks import Sticks

    modes: dict[str, Mode] = {"sahdogan": "sahdogan", "yawapi": "yawapi", "eyeya": "eyeya", "wheya": "ordinary"}
    owing: tuple[Owed, ...] = ("first", "second")
    given = {"do": "from", "hider": "A", "owed": "first", "short": {"A": 0, "B": 0}, **keys}
    for key in ("winner", "finish"):
        if given.get(key, 0) is None:
            del given[key]
    actions.only(given, ("hider", "owed", "short", "long"), ("middle", "situation"))
    hider = actions.choice(given, "hider", TEAMS)
    held, short = ([_count(given, key, team) for team in TEAMS] for key in ("long", "short"))
    middle = actions.whole(given, "middle", 0, UNEARNED.total) if "middle" in given else UNEARNED.total - sum(held)
    if middle < 0 or sum(held) + middle != UNEARNED.total:
        raise UsageError(f"long and middle come to {sum(held) + middle} sticks", f"together they are {UNEARNED.total}")
    mode: Mode = "ordinary"
    if given.get("situation") is not None:
        mode = modes[actions.choice(given, "situation", tuple(modes))]
    sticks = Sticks.of(A=held[0], B=held[1], **{MIDDLE: middle})
    state = State(sticks, (short[0], short[1]), hider, mode, "first")
    if state.situation != "wheya" and given.get("situation") == "wheya":
        raise UsageError(f"{other(hider)} and the middle have not four together", "it is no wheya")
    if actions.choice(given, "owed", owing) == "second":
        return replace(state, owed="second", before=state)
    return state


def _count(given: Action, key: str, team: str) -> int:
    counts = given[key]
    if not isinstance(counts, dict) or set(cast("dict[str, Json]", counts)) != {"A", "B"}:
        raise UsageError(f"{key} does not have a count for A and B", f'write "{key}": {{"A": 8, "B": 4}}')
    return actions.whole(cast("Action", counts), team, 0, 99)


def _chosen(game: Game[Any]) -> list[str]:
    return [f"{name}={written(value)}" for name, value in game.chosen_settings.items()]


def _solved_as_json(solved: Chances, state: Any) -> dict[str, Json]:
    """Return everything as JSON: chances from 0 to 1."""
    page = solved.page()
    report: dict[str, Json] = {
        "game": solved.game.name,
        "settings": dict(solved.game.settings),
        "assumed": solved.assumed,
        "opening": dict(solved.openings()),
        "page": {
            "heading": page.heading,
            "columns": page.columns,
            "rows": [{"state": label, "chances": chances} for label, chances in page.rows],
        },
    }
    if state is not None:
        report |= {"from": solved.game.sheet(state), "chances": solved.by_player(state)}
    return report | {"residual": solved.residual}


def _lines(solved: Chances, state: Any) -> list[str]:
    """Return the page: chances in percent, in lines of at most `_WIDTH` characters."""
    lines = [", ".join([solved.game.name, *_chosen(solved.game)])]
    lines += [*wrap(solved.assumed, _WIDTH, initial_indent="  ", subsequent_indent="  "), ""]
    if state is not None:
        lines += [drawn(solved.game.name, solved.game.sheet(state)), ""]
        return lines + _columns((name, (chance,)) for name, chance in solved.by_player(state).items())
    lines += _columns((label, (chance,)) for label, chance in solved.openings())
    page = solved.page()
    heads = page.columns if len(page.columns) > 1 else ()
    return [*lines, "", *wrap(page.heading, _WIDTH), *_columns(page.rows, heads)]


def _columns(rows: Any, heads: tuple[str, ...] = ()) -> list[str]:
    table = [(label, [f"{100 * chance:.1f} %" for chance in chances]) for label, chances in rows]
    wide = max(len(label) for label, _ in table)
    room = max(len(cell) for _, cells in table for cell in [*cells, *heads])
    count = max(len(cells) for _, cells in table)
    abreast = max(1, (_WIDTH - len("  ") - wide) // (len("  ") + room))
    lines: list[str] = []
    for first in range(0, count, abreast):
        rows = [(f"  {'':<{wide}}", heads)] if heads else []
        rows += [(f"  {label:<{wide}}", cells) for label, cells in table]
        lines += [""] if first else []
        lines += [
            "  ".join([label, *(f"{cell:>{room}}" for cell in cells[first : first + abreast])]) for label, cells in rows
        ]
    return lines
