"""Checks a session's log: `python check_log.py LOG`. It needs Python alone and nothing else of this project.

Every seal that was opened must be the SHA-256 of what was opened; the mat's guess must have been sealed before the
visitor had hidden and be what it then struck; the mat's own hide must have been sealed before the first strike and have
been found only where it lay. Exit status: 0 all holds, 1 something does not, 2 no such log.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path


def faults(lines: list[str]) -> list[str]:
    """Return what does not hold in a log, a sentence each; nothing where all holds."""
    try:
        torn = bool(lines) and not _whole(lines[-1])
        records = [json.loads(line) for line in (lines[:-1] if torn else lines)]
        cut = ["the last line is not whole: the power was cut, or the log was"] if torn else []
        return cut + _faults(records)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        return [f"this is no session's log: {error!r}"]


def _whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _faults(records: list[dict]) -> list[str]:
    found, opened, hidden, struck, revealed, moved = [], {}, {}, {}, {}, set()
    first = records[0]
    seals = {}
    if [one["n"] for one in records] != list(range(1, len(records) + 1)):
        found.append("records are missing or out of order")
    for one in records:
        kind, hide = one["kind"], one.get("hide")
        if kind == "sealed":
            seals[one["n"]] = one
        elif kind == "hidden":
            hidden.setdefault(hide, one["n"])
        elif kind == "struck":
            struck.setdefault(hide, []).append(one)
        elif kind == "moved":
            moved.add(hide)
        elif kind == "revealed":
            revealed[hide] = one["pad"]
        elif kind == "opened":
            opened[one["sealed"]] = one
    for number, one in opened.items():
        what, hide, pads = one["what"], one["hide"], one["pads"]
        seal = seals.get(number)
        if seal is None or (seal["what"], seal["hide"]) != (what, hide) or one["n"] <= number:
            found.append(f"hide {hide}: the {what} opened was never sealed")
            continue
        head = f"moccasin-mat/bead/2|{first['table']}|{first['session']}|{number}|dakota/{what}|{hide}|{pads}|"
        if hashlib.sha256(head.encode() + bytes.fromhex(one["nonce"])).hexdigest() != seal["hash"]:
            found.append(f"hide {hide}: the {what} opened is not the one that was sealed")
        strikes = struck.get(hide, [])
        if what == "guess":
            if hidden.get(hide, number + 1) < number:
                found.append(f"hide {hide}: the guess was sealed after the visitor had hidden")
            guessed = zip(strikes, str(pads), strict=False)  # a stroke may have been said by visitors, or not come
            if any(strike["by"] == "mat" and strike["pad"] != int(pad) for strike, pad in guessed) or len(strikes) > 2:
                found.append(f"hide {hide}: the mat did not strike what it had guessed")
        else:
            if strikes and strikes[0]["n"] < number:
                found.append(f"hide {hide}: the mat sealed its place after a strike")
            if any(strike["found"] != (strike["pad"] == pads) for strike in strikes):
                found.append(f"hide {hide}: a strike was not answered by where the bead lay")
    for number, seal in seals.items():
        if number not in opened and records[-1]["kind"] != "full":
            found.append(f"hide {seal['hide']}: a {seal['what']} was sealed and never opened")
    for hide, strikes in struck.items():
        if (
            hide in revealed
            and hide not in moved
            # what visitors said of their own hit is their word, and the mat may have seen the bead only then
            and any(
                strike["found"] != (strike["pad"] == revealed[hide]) for strike in strikes if not strike.get("said")
            )
        ):
            found.append(f"hide {hide}: a strike was not answered by where the bead was shown")
        by_mat = any(strike["by"] == "mat" for strike in strikes)
        if not any(seal["hide"] == hide for seal in seals.values()) and (by_mat or first.get("against") == "mat"):
            found.append(f"hide {hide}: nothing was sealed")
    return found


def main(argv: list[str]) -> int:
    """Check the log that `argv` names; return the exit status."""
    try:
        lines = Path(argv[0]).read_text("utf-8").splitlines()
    except (IndexError, OSError, UnicodeError):
        print("usage: python check_log.py LOG", file=sys.stderr)
        return 2
    wrong = faults(lines)
    print("\n".join(wrong) or "every seal of this session holds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
