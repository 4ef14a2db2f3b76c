"""Hits: from a stroke that was felt to the action of the game, and the bead watched while one is owed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.referee.facts import Question, Source, Struck
from pi_controller.referee.hide import bead_foul

if TYPE_CHECKING:
    from pi_controller.mat.events import Strike
    from pi_controller.referee.turn import Turn


def strike(turn: Turn, event: Strike) -> None:
    """A stroke counts while a hit is owed and nothing is asked; a doubt goes to the judge."""
    story = turn.story
    if not story.armed:
        return
    turn.add(Struck(turn.t, event.pads, event.margin_db))
    pad, *others = event.pads or (0,)
    if not event.sure or pad == 0:
        _ask(turn, "doubtful", story.pads_open, event.pads)
    elif others:
        _ask(turn, "two_struck", tuple(pad for pad in event.pads if pad in story.pads_open), event.pads)
    elif pad not in story.pads_open:
        _ask(turn, "same_pad", story.pads_open, event.pads)
    else:
        hit(turn, pad, "sensor")


def hit(turn: Turn, pad: int, by: Source) -> None:
    """Take a hit on `pad`: the sealed bead says whether it found, and the judge where nothing is sealed."""
    bead = turn.sealed
    if bead is None:
        turn.add(Question(turn.t, "found", ("found", "missed"), (pad,)))
    else:
        turn.play({"do": "hit", "found": bead.found(pad), "pad": pad}, by)


def watch(turn: Turn) -> None:
    """While a hit is owed: seal the bead when nothing is sealed, ask when it is not where it was."""
    senses, story, bead = turn.senses, turn.story, turn.sealed
    reading, place = senses.reading, senses.place
    if reading is None or not reading.sure:
        return
    if bead is None:
        if place is not None and not story.by_hand:
            turn.seal(place)
    elif place is None or not bead.found(place):
        choices = ("play_on", "foul") if story.hits else ("play_on", "hide_again", "foul")
        # a bead that changes its pad takes a hand that goes under one again
        turn.add(Question(turn.t, "bead_moved", choices, foul=bead_foul(reading) or "pad_twice"))


def seal_again(turn: Turn) -> None:
    """The judge lets a moved bead lie: the old commitment is withdrawn, and the bead sealed where it is now."""
    bead, place = turn.sealed, turn.senses.place
    if bead is not None and place is not None and bead.found(place):
        return
    turn.void("the bead moved")
    if place is not None:
        turn.seal(place)


def _ask(turn: Turn, about: str, choices: tuple[int, ...], pads: tuple[int, ...]) -> None:
    turn.add(Question(turn.t, about, (*map(str, choices), "none"), pads))
