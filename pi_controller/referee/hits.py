"""The hitting phase: turns detected strikes into actions, and watches the bead while a hit is owed.

How each is treated is the organiser's (`settings.SENSED`): a touch, two pads at once, the pad of the first hit, a
stroke that comes too early, a bead that moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.referee.facts import FoulSeen, Question, Source, Struck, Withdrawn
from pi_controller.referee.hide import bead_foul

if TYPE_CHECKING:
    from pi_controller.mat.events import Beads, Strike
    from pi_controller.referee.transaction import Transaction


LIGHT_DB = 6.0
"""A stroke that stands no further than this above what would be doubted is a light one, dB."""
SEVERAL = 3
"""A stick does not strike so many pads at once: a drum fell, or somebody stepped on the mat."""
HAND_S = 0.15
"""A hand shakes the pad it leaves for so long, and the hider's shakes the mat when it presses ready."""


def strike(tx: Transaction, event: Strike) -> None:
    """A stroke counts while a hit is owed and nothing is asked; a doubt goes to the judge."""
    if tx.story.phase in ("hide", "check"):
        _early(tx, event)
        return
    pad = struck(tx, event, "same_pad")
    if pad is not None:
        hit(tx, pad, "sensor")


def struck(tx: Transaction, event: Strike, taken: str) -> int | None:
    """Return the pad that a stroke counts on, or None where none is due or the judge is asked.

    Of pads touched at once the nearest to the hitter counts (chapter 12), where the settings say which that is.
    `taken` is the question about a pad that may not be hit any more.
    """
    story = tx.story
    if not story.armed:
        return None
    if story.question is not None:
        tx.add(Withdrawn(tx.t, story.question.about, "hit_felt"))
    tx.add(Struck(tx.t, event.pads, event.margin_db))
    still, pads = story.pads_open, event.pads
    pad, *others = pads or (0,)
    if len(pads) >= SEVERAL:
        about = "several_struck"
    elif not event.sure or not pad or _by_hand(tx, event) or _light(tx, event):
        if tx.settings.mode("touch") == "off":
            tx.notice("touch_passed_over", pads)
            return None
        about = "doubtful"
    elif story.link.up and story.deaf and tx.settings.mode("touch") != "off":
        about = "beside_dead"  # a stroke on a pad that feels none is felt on the others
    elif others:
        counts = _of_several(tx, pads)
        if counts is not None:
            return counts
        about, still = "two_struck", tuple(each for each in pads if each in still)
    elif pad not in still:
        about, mode = taken, tx.settings.mode("same_pad")
        if mode == "automatic" and taken == "same_pad":
            tx.play({"do": "hit", "found": False}, "sensor")
        if mode == "off" or tx.story.hide.hits != story.hide.hits:
            return None
    else:
        return pad
    tx.add(Question(tx.t, about, (*map(str, still), "none"), pads))
    return None


def _by_hand(tx: Transaction, event: Strike) -> bool:
    """Return whether a hand of the hiders, or nobody knows whose, may be all that was felt.

    One that comes over the hitters' edge touches the pad, and that is a hit.
    """
    hands = tx.private.hands
    known = any(pad in hands and tx.private.sides.get(pad) != "hitter" for pad in event.pads)
    return known or event.hand in ("hider", "unclear")


def _light(tx: Transaction, event: Strike) -> bool:
    """Return whether a stroke that is sure was so light that the judge is asked all the same."""
    return tx.settings.mode("touch") == "ask" and event.margin_db is not None and event.margin_db < LIGHT_DB


def _of_several(tx: Transaction, pads: tuple[int, ...]) -> int | None:
    """Return which of the pads touched at once counts, or None where the judge is asked."""
    mode, still = tx.settings.mode("two_struck"), tx.story.pads_open
    if mode == "ask":
        return None
    near = tuple(pad for pad in tx.settings.nearest if pad in pads)
    if mode == "off":  # in the order they were touched where nobody said which is nearest
        return next((pad for pad in (*near, *pads) if pad in still), None)
    return near[0] if near and near[0] in still else None


def _early(tx: Transaction, event: Strike) -> None:
    """A stroke while the bead is hidden, or before the mat has seen it: chapter 12 names no payment for it.

    A hand that hides or has just left a pad shakes it as a light stroke does, so that says nothing.
    """
    story, mode, private = tx.story, tx.settings.mode("early_hit"), tx.private
    if mode == "off" or "early_hit" in story.hide.waived or story.question is not None:
        return
    if not event.sure or not event.pads or private.hands or event.hand or event.t - private.since < HAND_S:
        return
    if mode == "automatic":
        tx.add(FoulSeen(tx.t, "early_hit", "hitter"))
    else:
        tx.add(Question(tx.t, "early_hit", ("play_on", "hide_again"), event.pads, foul="early_hit"))


def hit(tx: Transaction, pad: int, by: Source) -> None:
    """Take a hit on `pad`: the sealed bead says whether it found, and the judge where nothing is sealed."""
    bead = tx.sealed
    if bead is None:
        tx.add(Question(tx.t, "found", ("found", "missed"), (pad,)))
    else:
        tx.play({"do": "hit", "found": bead.found(pad), "pad": pad}, by)


def watch(tx: Transaction) -> None:
    """While a hit is owed: seal the bead when nothing is sealed, ask when it is not where it was or a disc is dead."""
    private, story, bead = tx.private, tx.story, tx.sealed
    if ask_of_dead_disc(tx):
        return
    reading, place = private.reading, private.place
    if reading is None or not reading.sure:
        return
    if bead is None:
        if place is not None and not story.hide.by_hand:
            tx.seal_late(place)
    elif place is not None and bead.found(place):
        return
    elif tx.settings.mode("bead_moved") == "off":
        seal_again(tx)
    elif tx.settings.mode("bead_moved") == "automatic" and not story.hide.hits:
        tx.foul(_moving(reading), "sensor", "bead_moved")
    else:  # after a stroke it may be the stroke that moved it
        choices = ("play_on", "foul") if story.hide.hits else ("play_on", "hide_again", "foul")
        tx.add(Question(tx.t, "bead_moved", choices, foul=_moving(reading)))


def ask_of_dead_disc(tx: Transaction) -> bool:
    """Ask who hit what where a stroke on one of the pads would not be felt; return whether that is asked."""
    story = tx.story
    if not story.link.up or not story.sensors or not story.deaf or "disc_dead" in story.hide.waived:
        return False
    tx.add(Question(tx.t, "disc_dead", (*map(str, story.pads_open), "play_on"), story.deaf))
    return True


def _moving(reading: Beads) -> str:
    """Return the foul that a moved bead is: one that changes its pad takes a hand that goes under one again."""
    return bead_foul(reading) or "pad_twice"


def seal_again(tx: Transaction) -> None:
    """The judge lets a moved bead lie: the old commitment is withdrawn, and the bead sealed where it is now."""
    bead, place = tx.sealed, tx.private.place
    if bead is not None and place is not None and bead.found(place):
        return
    tx.void("the bead moved")
    if place is not None:
        tx.seal(place)
