"""`moccasin-mat chances`: the chances of winning the Dakota game, before it and from its decisive moments."""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import Any, cast

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError, describe_error
from pi_controller.rules import registry, validation
from pi_controller.rules.base import Action, Game, IllegalActionError, InvalidActionError, Json, opposing_team
from pi_controller.rules.chances import FIRST_HIT_CHANCE, SECOND_HIT_CHANCE, Chances, check, solve
from pi_controller.rules.options import format_option, from_text
from pi_controller.rules.play import Play, draw_sheet

_WIDTH = 80
"""Characters in a line."""


def chances(argv: Sequence[str]) -> int:
    """Run `moccasin-mat chances GAME [OPTION]...`; return its exit status or raise a `MatError`."""
    args = chances_parser().parse_args(argv)
    game = registry.game(args.game, from_text(args.set))
    check(game)
    state = _read_state(game, args.after, args.keys)
    solved = solve(game, args.first, args.second)
    if args.json:
        print(json.dumps(_solved_as_json(solved, state)))
    else:
        print("\n".join(_lines(solved, state)))
    return 0


def chances_parser() -> Parser:
    """Return the parser of `chances`."""
    parser = Parser("chances", "Print the exact chances of winning at any moment of a game.")
    parser.add_argument("game", metavar="GAME", help="dakota")
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="choose an option")
    parser.add_argument(
        "--first", metavar="P", type=_chance, default=FIRST_HIT_CHANCE, help="the first hit finds (default 1/4)"
    )
    parser.add_argument(
        "--second", metavar="P", type=_chance, default=SECOND_HIT_CHANCE, help="after a miss the second finds (1/3)"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--after", metavar="FILE", help="the chances after these actions, a JSON object a line")
    asked.add_argument(
        "--from", dest="keys", metavar="JSON", help="from a state under the score sheet's keys, as an object"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")
    return parser


def _chance(text: str) -> float:
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,15})?|[0-9]{1,9}/0*[1-9][0-9]{0,8}", text):
        chance = float(Fraction(text))
        if chance <= 1:
            return chance
    raise ArgumentTypeError(f"{text[:40]!r} is not a probability; write 0.25 or 1/4")


def _read_state(game: Game[Any], after: str | None, keys: str | None) -> Any:
    if keys is not None:
        try:
            return _parse_state(_object(keys, "--from"))
        except InvalidActionError as error:
            raise UsageError(f"--from: {error.message}", error.hint or "write the keys of the score sheet") from error
    return None if after is None else _play_file(game, after)


def _play_file(game: Game[Any], name: str) -> Any:
    try:
        lines = Path(name).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {name}: {describe_error(error)}", "name a file of actions, one JSON object a line"
        ) from error
    play = Play(game)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            play.push(_object(line, f"line {number}"))
        except (InvalidActionError, IllegalActionError) as error:
            raise UsageError(f"{name}, line {number}: {error.message}", error.hint or "correct that line") from error
    return play.state


def _object(text: str, where: str) -> Action:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON", "write a JSON object") from error
    if not isinstance(value, dict):
        raise UsageError(f"{where} is not a JSON object", "write a JSON object")
    return cast("Action", value)


def _parse_state(keys: Action) -> Any:
    """Return the Dakota state under these keys; all but `long` may be left out."""
    from pi_controller.games.dakota.rules import MIDDLE, OPENING_STICKS, Mode, Owed, State
    from pi_controller.rules.base import TEAMS
    from pi_controller.rules.sticks import Sticks

    modes: dict[str, Mode] = {"sahdogan": "sahdogan", "yawapi": "yawapi", "eyeya": "eyeya", "wheya": "ordinary"}
    owing: tuple[Owed, ...] = ("first", "second")
    given = {"do": "from", "hider": "A", "owed": "first", "short": {"A": 0, "B": 0}, **keys}
    for key in ("winner", "finish"):
        if given.get(key, 0) is None:
            del given[key]
    validation.check_keys(given, ("hider", "owed", "short", "long"), ("middle", "situation"))
    hider = validation.parse_choice(given, "hider", TEAMS)
    held, short = ([_count(given, key, team) for team in TEAMS] for key in ("long", "short"))
    middle = (
        validation.parse_whole(given, "middle", 0, OPENING_STICKS.total)
        if "middle" in given
        else OPENING_STICKS.total - sum(held)
    )
    if middle < 0 or sum(held) + middle != OPENING_STICKS.total:
        raise UsageError(
            f"long and middle add up to {sum(held) + middle} sticks", f"together they must be {OPENING_STICKS.total}"
        )
    mode: Mode = "ordinary"
    if given.get("situation") is not None:
        mode = modes[validation.parse_choice(given, "situation", tuple(modes))]
    sticks = Sticks.of(A=held[0], B=held[1], **{MIDDLE: middle})
    state = State(sticks, (short[0], short[1]), hider, mode, "first")
    if state.situation != "wheya" and given.get("situation") == "wheya":
        raise UsageError(
            f"{opposing_team(hider)} and the middle do not have four sticks together", "so this is not a wheya"
        )
    if validation.parse_choice(given, "owed", owing) == "second":
        return replace(state, owed="second", before=state)
    return state


def _count(given: Action, key: str, team: str) -> int:
    counts = given[key]
    if not isinstance(counts, dict) or set(cast("dict[str, Json]", counts)) != {"A", "B"}:
        raise UsageError(f"{key} does not have a count for A and B", f'write "{key}": {{"A": 8, "B": 4}}')
    return validation.parse_whole(cast("Action", counts), team, 0, 99)


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
    chosen = [f"{name}={format_option(value)}" for name, value in solved.game.chosen_settings.items()]
    lines = [", ".join([solved.game.name, *chosen])]
    lines += [*wrap(solved.assumed, _WIDTH, initial_indent="  ", subsequent_indent="  "), ""]
    if state is not None:
        lines += [draw_sheet(solved.game.name, solved.game.sheet(state)), ""]
        return lines + _columns((name, (chance,)) for name, chance in solved.by_player(state).items())
    lines += _columns((label, (chance,)) for label, chance in solved.openings())
    page = solved.page()
    return [*lines, "", *wrap(page.heading, _WIDTH), *_columns(page.rows, page.columns)]


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
