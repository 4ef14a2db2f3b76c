"""The public view: all that leaves the table. It has no field that could hold the bead's place before the reveal."""

from __future__ import annotations

from typing import Literal

import msgspec

Phase = Literal["toss", "hide", "check", "hit", "show", "over", "halted"]


class Hit(msgspec.Struct, frozen=True):
    """A hit of the hide on show: the pad (None when entered without one) and whether it found the bead."""

    pad: int | None
    found: bool


class Asked(msgspec.Struct, frozen=True):
    """What the mat asks the judge, and the answers it takes."""

    about: str
    choices: tuple[str, ...]
    pads: tuple[int, ...]


class Opening(msgspec.Struct, frozen=True):
    """The last commitment opened: anyone can check it."""

    hide: int
    hash: str
    pad: int
    nonce: str


class View(msgspec.Struct, frozen=True):
    """One picture of the table. `seq` is the last journal record folded in; counts are sticks.

    `phase`: toss, hide (hands are passing), check (the mat looks), hit (one is owed), show (the bead is shown), over,
    halted (the journal cannot be written; `note` says what to do). `calls` are the words of the last action that had
    any, `hits` those of the hide in progress or just settled, `foul` the foul that settled it.
    """

    seq: int
    game: str
    version: str
    teams: dict[str, str]
    phase: Phase
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
    opening: Opening | None = None
    link: bool = False
    note: str = ""
