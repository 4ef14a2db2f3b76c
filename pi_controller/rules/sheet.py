"""`moccasin-mat score`: actions in, states and words called out, one JSON object a line each.

A line that is not an action of the game, or not allowed now, is answered with an error and does not change the game. No
input ends the sheet early.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TextIO

from pi_controller.rules.base import Game, IllegalActionError, InvalidActionError, Json

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def run(game: Game[Any], lines: Iterable[bytes], out: TextIO) -> int:
    """Keep the score of one game; return the status of `answer`."""
    state = game.opening()

    def play(action: Json) -> dict[str, Json]:
        nonlocal state
        state, calls = game.play(state, action)
        return {"state": game.sheet(state), "calls": calls}

    return answer({"state": game.sheet(state), "calls": ()}, play, lines, out)


def answer(
    opening: dict[str, Json], play: Callable[[Json], dict[str, Json]], lines: Iterable[bytes], out: TextIO
) -> int:
    """Write `opening` to `out`, then for every line the result of `play` for its action, or the error.

    `play` raises `InvalidActionError` or `IllegalActionError` if it refuses an action. Each answer is flushed; blank
    lines are skipped. Return 0 if every action was accepted, else 2.
    """
    status = 0
    _write(out, opening)
    for number, line in enumerate(lines):
        text = line.removeprefix(_BYTE_ORDER_MARK) if number == 0 else line
        if not text.strip():
            continue
        try:
            answered = play(_action(text))
        except (InvalidActionError, IllegalActionError) as error:
            status = 2
            message = f"{error.message}; {error.hint}" if error.hint else error.message
            answered = {"error": {"kind": error.code, "message": message}}
        _write(out, answered)
    return status


def _write(out: TextIO, answer: dict[str, Json]) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()


def _action(line: bytes) -> Json:
    """Decode a line of strict JSON in UTF-8, or raise `InvalidActionError`."""
    try:
        return _STRICT.decode(line.decode("utf-8"))
    except InvalidActionError:
        raise
    except UnicodeDecodeError as error:
        raise InvalidActionError("not UTF-8 at byte {start}", start=error.start + 1) from error
    except json.JSONDecodeError as error:
        raise InvalidActionError("not JSON at character {pos}: {msg}", pos=error.pos + 1, msg=error.msg) from error
    except RecursionError as error:
        raise InvalidActionError("not an action: nested too deeply") from error
    except ValueError as error:  # Python refuses numbers with thousands of digits
        raise InvalidActionError("not an action: a number that is too large") from error


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidActionError("not an action: a key comes twice in one object")
    return found


def _constant(name: str) -> NoReturn:
    raise InvalidActionError("not JSON: {name} is not a number", name=name)


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
