"""Throw records at the reader: random games of every kind, damaged in every way we could think of, and plain noise."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))  # random_play.py

from random_play import options_of

from pi_controller.record.file import read
from pi_controller.record.lines import MAX_ISSUES
from pi_controller.record.model import Check, Comment, Move, Record, Ruling
from pi_controller.record.playthrough import Playthrough
from pi_controller.record.writing import write
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError

MOST_S = 5.0
"""What a case of some kilobytes may take on a slow, busy machine, s."""
NAMES = (
    "Red",
    "Ḣoḋ",
    "true",
    "12",
    "-",
    "[judge]",
    "a b",
    "->",
    "~",
    'say "x"',
    "ab;cd",
    "👩‍👩‍👧",
    "מים",
    "end",
    "@0:01",
)
TEXTS = (
    "", "well hit", "-> wheya", "@1:00 x", '"quoted"', '"', ' "a" ', "two\nlines", "\0", "\ud800", "é", "; ;",
    "x" * 1000, "\u2028", "\x85", "~ ! 3.", "\ufeff", "\\n", '"\\u0041"', "\t",
)  # fmt: skip
PADS = (1, 2, 3, 4)


def game_of(rng, name=None):
    """Return a game with some options chosen."""
    kind = registry.game_class(name or rng.choice(registry.names()))
    return kind(options_of(rng, kind, share=0.3))


def varied(rng, action):
    """Return an action that comes to the same by other words, or nearly."""
    action = json.loads(json.dumps(action))
    match action["do"]:
        case "hit" if rng.random() < 0.7:
            action["pad"] = rng.choice(PADS)
        case "foul" if rng.random() < 0.5:
            action.setdefault("hide", "this")
        case "guess":
            action |= {key: rng.random() < 0.8 for key in ("block", "mirror") if rng.random() < 0.4}
        case "shoot" if rng.random() < 0.7:
            pads = rng.sample(PADS, 4)
            opened = rng.randint(0, 2)
            ball = rng.choice(pads[max(0, opened - 1) :])
            action |= {"opened": pads[:opened], "hit": None if ball in pads[:opened] else pads[opened], "ball": ball}
        case _:
            pass
    return action


def record_of(rng, name=None, texts=TEXTS, moves=40):
    """Return a random record: a legal game with words, rulings, comments and counts in between."""
    game = game_of(rng, name)
    playthrough = Playthrough(game)
    entries = []
    t = 0.0
    for _ in range(rng.randint(0, moves)):
        while rng.random() < 0.15:
            entries.append(extra(rng, playthrough, texts, t))
        legal = game.legal_actions(playthrough.state)
        if not legal:
            break
        t = round(t + rng.random() * 100, rng.randint(0, 3))
        said = {
            "t": t if rng.random() < 0.5 else None,
            "by": rng.choice(("", "", "judge", "clock")),
            "comment": rng.choice(texts) if rng.random() < 0.1 else "",
        }
        action = varied(rng, rng.choice(legal))
        if rng.random() < 0.1:
            calls = tuple(rng.sample(("wheya", "game", "killed", "catch"), rng.randint(0, 2)))
            try:
                playthrough.check_action(action)
            except InvalidActionError:
                continue
            entries.append(Move(action, calls, superseded=True, **said))
            continue
        try:
            _, calls = playthrough.play(action)
        except (InvalidActionError, IllegalActionError):
            continue
        entries.append(Move(action, calls, **said))
    headers = tuple(
        (rng.choice(("Place", "Date", "Ōtá place", "x-1")), rng.choice(texts)) for _ in range(rng.randint(0, 4))
    )
    teams = {team: rng.choice(NAMES) for team in ("A", "B") if rng.random() < 0.5}
    rules = rng.choice(texts)
    return Record(game.name, game.version, rules, game.source, game.chosen_settings, teams, headers, tuple(entries))


def extra(rng, playthrough, texts, t):
    """Return a ruling, a comment, or a count stated."""
    kind = rng.randrange(3)
    if kind == 0:
        return Ruling(rng.choice(texts), rng.choice((None, t)), rng.random() < 0.3)
    if kind == 1:
        return Comment(rng.choice(texts))
    keys = [key for key, value in playthrough.sheet.items() if isinstance(value, str | int | None)]
    return Check(
        tuple((key, playthrough.sheet[key]) for key in rng.sample(keys, rng.randint(1, len(keys)))), rng.choice(texts)
    )


def damage(rng, data, other):
    """Return `data` damaged in one of many ways; `other` is another record."""
    n = max(1, len(data))
    a, b = sorted((rng.randrange(n), rng.randrange(n)))
    lines = data.split(b"\n")
    text = data.decode("utf-8")
    ways = (
        lambda: data[:a],
        lambda: data[:a] + data[b:],
        lambda: data[:a] + rng.randbytes(rng.randint(1, 40)) + data[a:],
        lambda: data[:a] + other[a:],
        lambda: bytes(x ^ (1 << rng.randrange(8)) if rng.random() < 0.02 else x for x in data),
        lambda: b"\n".join(rng.sample(lines, len(lines))),
        lambda: b"\n".join(line for line in lines if rng.random() < 0.8),
        lambda: b"\n".join(line for line in lines for _ in range(rng.choice((1, 1, 1, 2)))),
        lambda: data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\0\n", b"\x85", b" \n\n"))),
        lambda: text.encode(rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"))),
        lambda: text.encode("latin-1", "replace"),
        lambda: data + other,
        lambda: data.replace(
            rng.choice(lines[-1:] + lines), rng.choice((b"[" * 3000, b'"', b"end", b"a=" * 900, b"{" * 900))
        ),
        lambda: b"Game: " + rng.choice(registry.names()).encode() + b"\n" + noise(rng, words=True),
        lambda: noise(rng, words=False),
    )
    return rng.choice(ways)()


def noise(rng, *, words):
    """Return a few kilobytes of nothing, or of words that a record knows."""
    if not words:
        return rng.randbytes(rng.randint(0, 8000))
    known = (
        "hit", "found", "missed", "1", "toss", "A", "foul", "hider", "no_bead", "last", "throw", "guess", "left",
        "open", "-", "->", "~", "!", "=", ";", "@1:02.5", "[judge]", "red.woman=1", "pad=3", '"', "{", "[1,2]", "x=",
        "end", "\n", "\n", "\n", "3.", "null", "true", "1e999", "-0", "Team A: x", "Option points: 3", "9" * 40,
        "\u2028", "a.b.c.d=1",
    )  # fmt: skip
    return " ".join(rng.choices(known, k=rng.randint(1, 1500))).encode()


def check(data):
    """Read `data` and what is written of it; return what is wrong with the result, or nothing."""
    record = read(data)
    if len(record.faults) > MAX_ISSUES + 1:
        return f"{len(record.faults)} faults listed"
    text = write(record)
    again = read(text.encode())
    if again != record:
        return "it does not read back as the same record"
    return "" if write(again) == text else "it is not written the same again"
