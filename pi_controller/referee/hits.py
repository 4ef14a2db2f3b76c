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
    pad = struck(turn, event, "same_pad")
    if pad is not None:
        hit(turn, pad, "sensor")


def struck(turn: Turn, event: Strike, taken: str) -> int | None:
    """Return the pad that a stroke counts on, or None where none is due or the judge is asked.

    Of pads touched at once the nearest to the hitter counts (chapter 12), where the settings say which that is.
    `taken` is the question about a pad that may not be hit any more.
    """
    story = turn.story
    if not story.armed:
        return None
    turn.add(Struck(turn.t, event.pads, event.margin_db))
    still, pads = story.pads_open, event.pads
    pad, *others = pads or (0,)
    if not event.sure or not pad:
        about = "doubtful"
    elif others:
        nearest = next((near for near in turn.settings.nearest if near in pads), None)
        if nearest in still:
            return nearest
        about, still = "two_struck", tuple(each for each in pads if each in still)
    elif pad not in still:
        about = taken
    else:
        return pad
    turn.add(Question(turn.t, about, (*map(str, still), "none"), pads))
    return None


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
