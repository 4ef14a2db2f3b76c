"""Check a session's log: `python check_log.py LOG`. Needs only Python, no other module of this project.

Checked: every opened seal is the SHA-256 of its opening; the mat's guess was sealed before the visitor hid, and the mat
then struck the pads it had guessed; the mat's own hide was sealed before the first strike, and the bead was found only
under its sealed pad. Exit status: 0 all checks pass, 1 a check fails, 2 the log cannot be read.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path


def find_faults(lines: list[str]) -> list[str]:
    """Return the checks that a log fails, a sentence each; [] if all pass."""
    try:
        torn = bool(lines) and not _whole(lines[-1])
        records = [json.loads(line) for line in (lines[:-1] if torn else lines)]
        cut = ["the last line is incomplete: the power failed, or the log was cut"] if torn else []
        return cut + _faults(records)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        return [f"this is not a session's log: {error!r}"]


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
            found.append(f"hide {hide}: the opened {what} was never sealed")
            continue
        head = f"moccasin-mat/bead/2|{first['table']}|{first['session']}|{number}|dakota/{what}|{hide}|{pads}|"
        if hashlib.sha256(head.encode() + bytes.fromhex(one["nonce"])).hexdigest() != seal["hash"]:
            found.append(f"hide {hide}: the opened {what} differs from the sealed one")
        strikes = struck.get(hide, [])
        if what == "guess":
            if hidden.get(hide, number + 1) < number:
                found.append(f"hide {hide}: the guess was sealed after the visitor had hidden")
            guessed = zip(strikes, str(pads), strict=False)  # a strike may be missing, or reported by visitors
            if any(strike["by"] == "mat" and strike["pad"] != int(pad) for strike, pad in guessed) or len(strikes) > 2:
                found.append(f"hide {hide}: the mat did not strike the pads it had guessed")
        else:
            if strikes and strikes[0]["n"] < number:
                found.append(f"hide {hide}: the mat sealed its place after a strike")
            if any(strike["found"] != (strike["pad"] == pads) for strike in strikes):
                found.append(f"hide {hide}: the result of a strike does not fit the bead's place")
    for number, seal in seals.items():
        if number not in opened and records[-1]["kind"] != "full":
            found.append(f"hide {seal['hide']}: a {seal['what']} was sealed and never opened")
    for hide, strikes in struck.items():
        if (
            hide in revealed
            and hide not in moved
            # a result that visitors reported themselves is not checked: the mat may have seen the bead only afterwards
            and any(
                strike["found"] != (strike["pad"] == revealed[hide]) for strike in strikes if not strike.get("said")
            )
        ):
            found.append(f"hide {hide}: the result of a strike does not fit the place shown")
        by_mat = any(strike["by"] == "mat" for strike in strikes)
        if not any(seal["hide"] == hide for seal in seals.values()) and (by_mat or first.get("against") == "mat"):
            found.append(f"hide {hide}: nothing was sealed")
    return found


def main(argv: list[str]) -> int:
    """Check the log named by `argv`; return the exit status."""
    try:
        lines = Path(argv[0]).read_text("utf-8").splitlines()
    except (IndexError, OSError, UnicodeError):
        print("usage: python check_log.py LOG", file=sys.stderr)
        return 2
    wrong = find_faults(lines)
    print("\n".join(wrong) or "all seals of this session are correct")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
