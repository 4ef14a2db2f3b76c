"""All that leaves a table, for the same hide with what is hidden at another place."""

from __future__ import annotations

import msgspec

from pi_controller.errors import MatError
from pi_controller.journal.journal import MemoryJournal
from pi_controller.referee.facts import Commit, Reveal
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeSensors, JudgeUndo
from pi_controller.referee.selection import referee_for
from pi_controller.rules.registry import game
from pi_controller.sensing.events import BeadsAtRest
from pi_controller.table.table import Table

HASH = "0" * 64
SQLITE_CHANGES = slice(24, 28)
"""Bytes of an SQLite file that count its transactions."""
JudgeCall = JudgeAction | JudgeAnswer | JudgeUndo | JudgeHideAgain | JudgeSensors


def written(name, events, moved, journal=None, *, stop=True):
    """Play `events` with the beads of every reading `moved`; return all facts, views and errors, all hashes masked."""
    rules = game(name)
    count = iter(range(10**6))
    out = []
    hashes = set()
    table = Table(
        journal or MemoryJournal(token=bytes),
        rules,
        {"A": "Red", "B": "Blue"},
        referee_for(rules, None, lambda n: next(count).to_bytes(n, "big")),
    )
    for n, event in enumerate(events):
        match event:
            case BeadsAtRest(t=t, found=found, sure=sure):
                said = BeadsAtRest(t, moved(found), sure)
            case _:
                said = event
        facts = []
        try:
            facts = table.judge(said) if isinstance(said, JudgeCall) else table.mat_event(said)
        except MatError as error:
            out.append(str(error).encode())
        facts += table.tick(n * 0.5)
        hashes |= {fact.hash for fact in facts if isinstance(fact, Commit)}
        hashes |= {table.view.head} - {""}
        if stop and any(isinstance(fact, Reveal) for fact in facts):
            break
        out += [msgspec.json.encode(fact) for fact in facts] + [msgspec.json.encode(table.view)]
        out += [repr(table.story).encode(), repr(table.referee).partition(" at 0x")[0].encode()]
    for sealed in hashes:
        out = [line.replace(sealed.encode(), HASH.encode()) for line in out]
    return out
