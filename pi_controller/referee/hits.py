"""Hits: from a stroke that was felt to the action of the game, and the bead watched while one is owed.

How each is treated is the organiser's (`settings.SENSED`): a touch, two pads at once, the pad of the first hit, a
stroke that comes too early, a bead that moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.referee.facts import FoulSeen, Question, Source, Struck, Withdrawn
from pi_controller.referee.hide import bead_foul

if TYPE_CHECKING:
    from pi_controller.mat.events import Beads, Strike
    from pi_controller.referee.turn import Turn


LIGHT_DB = 6.0
"""A stroke that stands no further than this above what would be doubted is a light one, dB."""
SEVERAL = 3
"""A stick does not strike so many pads at once: a drum fell, or somebody stepped on the mat."""
HAND_S = 0.15
"""A hand shakes the pad it leaves for so long, and the hider's shakes the mat when it presses ready."""


def strike(turn: Turn, event: Strike) -> None:
    """A stroke counts while a hit is owed and nothing is asked; a doubt goes to the judge."""
    if turn.story.phase in ("hide", "check"):
        _early(turn, event)
        return
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
    if story.question is not None:
        turn.add(Withdrawn(turn.t, story.question.about, "hit_felt"))
    turn.add(Struck(turn.t, event.pads, event.margin_db))
    still, pads = story.pads_open, event.pads
    pad, *others = pads or (0,)
    if len(pads) >= SEVERAL:
        about = "several_struck"
    elif not event.sure or not pad or _by_hand(turn, event) or _light(turn, event):
        if turn.settings.mode("touch") == "off":
            turn.notice("touch_passed_over", pads)
            return None
        about = "doubtful"
    elif story.link and story.deaf and turn.settings.mode("touch") != "off":
        about = "beside_dead"  # a stroke on a pad that feels none is felt on the others
    elif others:
        counts = _of_several(turn, pads)
        if counts is not None:
            return counts
        about, still = "two_struck", tuple(each for each in pads if each in still)
    elif pad not in still:
        about, mode = taken, turn.settings.mode("same_pad")
        if mode == "automatic" and taken == "same_pad":
            turn.play({"do": "hit", "found": False}, "sensor")
        if mode == "off" or turn.story.hits != story.hits:
            return None
    else:
        return pad
    turn.add(Question(turn.t, about, (*map(str, still), "none"), pads))
    return None


def _by_hand(turn: Turn, event: Strike) -> bool:
    """Return whether a hand of the hiders, or nobody knows whose, may be all that was felt.

    One that comes over the hitters' edge touches the pad, and that is a hit.
    """
    hands = turn.senses.hands
    known = any(pad in hands and turn.senses.sides.get(pad) != "hitter" for pad in event.pads)
    return known or event.hand in ("hider", "unclear")


def _light(turn: Turn, event: Strike) -> bool:
    """Return whether a stroke that is sure was so light that the judge is asked all the same."""
    return turn.settings.mode("touch") == "ask" and event.margin_db is not None and event.margin_db < LIGHT_DB


def _of_several(turn: Turn, pads: tuple[int, ...]) -> int | None:
    """Return which of the pads touched at once counts, or None where the judge is asked."""
    mode, still = turn.settings.mode("two_struck"), turn.story.pads_open
    if mode == "ask":
        return None
    near = tuple(pad for pad in turn.settings.nearest if pad in pads)
    if mode == "off":  # in the order they were touched where nobody said which is nearest
        return next((pad for pad in (*near, *pads) if pad in still), None)
    return near[0] if near and near[0] in still else None


def _early(turn: Turn, event: Strike) -> None:
    """A stroke while the bead is hidden, or before the mat has seen it: chapter 12 names no payment for it.

    A hand that hides or has just left a pad shakes it as a light stroke does, so that says nothing.
    """
    story, mode, senses = turn.story, turn.settings.mode("early_hit"), turn.senses
    if mode == "off" or "early_hit" in story.waived or story.question is not None:
        return
    if not event.sure or not event.pads or senses.hands or event.hand or event.t - senses.since < HAND_S:
        return
    if mode == "automatic":
        turn.add(FoulSeen(turn.t, "early_hit", "hitter"))
    else:
        turn.add(Question(turn.t, "early_hit", ("play_on", "hide_again"), event.pads, foul="early_hit"))


def hit(turn: Turn, pad: int, by: Source) -> None:
    """Take a hit on `pad`: the sealed bead says whether it found, and the judge where nothing is sealed."""
    bead = turn.sealed
    if bead is None:
        turn.add(Question(turn.t, "found", ("found", "missed"), (pad,)))
    else:
        turn.play({"do": "hit", "found": bead.found(pad), "pad": pad}, by)


def watch(turn: Turn) -> None:
    """While a hit is owed: seal the bead when nothing is sealed, ask when it is not where it was or a disc is dead."""
    senses, story, bead = turn.senses, turn.story, turn.sealed
    if ask_of_dead_disc(turn):
        return
    reading, place = senses.reading, senses.place
    if reading is None or not reading.sure:
        return
    if bead is None:
        if place is not None and not story.by_hand:
            turn.seal_late(place)
    elif place is not None and bead.found(place):
        return
    elif turn.settings.mode("bead_moved") == "off":
        seal_again(turn)
    elif turn.settings.mode("bead_moved") == "automatic" and not story.hits:
        turn.foul(_moving(reading), "sensor", "bead_moved")
    else:  # after a stroke it may be the stroke that moved it
        choices = ("play_on", "foul") if story.hits else ("play_on", "hide_again", "foul")
        turn.add(Question(turn.t, "bead_moved", choices, foul=_moving(reading)))


def ask_of_dead_disc(turn: Turn) -> bool:
    """Ask who hit what where a stroke on one of the pads would not be felt; return whether that is asked."""
    story = turn.story
    if not story.link or not story.sensors or not story.deaf or "disc_dead" in story.waived:
        return False
    turn.add(Question(turn.t, "disc_dead", (*map(str, story.pads_open), "play_on"), story.deaf))
    return True


def _moving(reading: Beads) -> str:
    """Return the foul that a moved bead is: one that changes its pad takes a hand that goes under one again."""
    return bead_foul(reading) or "pad_twice"


def seal_again(turn: Turn) -> None:
    """The judge lets a moved bead lie: the old commitment is withdrawn, and the bead sealed where it is now."""
    bead, place = turn.sealed, turn.senses.place
    if bead is not None and place is not None and bead.found(place):
        return
    turn.void("the bead moved")
    if place is not None:
        turn.seal(place)
