"""The hiding phase: hand passes, the ready check, sealing, and the bead shown again.

Booklet, chapter 2: the hand goes under every pad, and under none twice; chapter 12: the fouls of the hider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.mat.events import Beads, Button, HandIn, HandOut
from pi_controller.pads import EVERY_PAD
from pi_controller.referee.facts import ByEye, HandPass, Question, Ready, Shown
from pi_controller.referee.settings import PASS_FOULS

if TYPE_CHECKING:
    from pi_controller.referee.transaction import Transaction


def hand(tx: Transaction, event: HandIn | HandOut) -> None:
    """A hand goes under a pad, or comes out: a pass, unless it went in while hits were owed (lifting a pad)."""
    private, phase = tx.private, tx.story.phase
    private.moved()
    private.wait(tx.story, tx.t, afresh=True)
    if isinstance(event, HandIn):
        private.hands.setdefault(event.pad, phase != "hit")
        private.sides[event.pad] = event.side
    elif private.hands.pop(event.pad, False) and phase in ("hide", "check", "show"):
        tx.add(HandPass(tx.t, event.pad, event.sure))


def button(tx: Transaction, event: Button) -> None:
    """A button counts where it means something, and is passed over anywhere else."""
    match event.name, tx.story.phase:
        case "toss_a" | "toss_b", "toss":
            tx.play({"do": "toss", "winner": event.name[-1].upper()}, "sensor")
        case "ready", "hide" | "show":
            ready(tx)
        case "shown", "show":
            show(tx)
        case _:
            pass


def ready(tx: Transaction) -> None:
    """The hiders are ready, if a hand was under a pad since the last hide; else the press was none of theirs.

    Until the bead of that hide is up, the first hand since then is the one that fetches it.
    """
    story = tx.story
    hands = len(story.hide.passes) + len(tx.private.hands) - (story.phase == "show")
    felt = story.link.up and not story.passes_unsure
    if felt and hands <= 0:
        tx.notice("nobody_hid")
    else:
        tx.add(Ready(tx.t))


def beads(tx: Transaction, event: Beads) -> None:
    """The field is at rest. An empty mat after the hide means that the bead has been taken up."""
    tx.private.reading = event
    if tx.story.phase == "show" and event.sure and not event.found:
        show(tx)


def show(tx: Transaction) -> None:
    """The bead was shown. A hand still under the first pad since then fetched it, and hides nothing."""
    if not tx.story.hide.passes:
        tx.private.hands = dict.fromkeys(tx.private.hands, False)
    tx.add(Shown(tx.t))


def look(tx: Transaction) -> None:
    """In phase check: call or ask about the first foul that applies, seal the bead, or wait for a reading."""
    if tx.private.hands:
        return
    story = tx.story
    felt = story.link.up or bool(story.hide.passes)
    for kind in _pass_fouls(story.hide.passes, story.hide.fetched) if felt else ():
        if kind not in story.hide.waived and tx.settings.mode(kind) != "off":
            # with no hand felt at all it is the judge's word that they are ready
            in_doubt = story.numb or not story.hide.passes or story.passes_unsure
            _call_or_ask(tx, kind, unsure=in_doubt)
            return
    if tx.settings.beads == "judge":
        tx.add(ByEye(tx.t))
        return
    reading = tx.private.reading
    if reading is None:
        return
    kind = bead_foul(reading)
    if tx.private.place is not None:
        tx.seal(tx.private.place)
    elif kind in story.hide.waived:  # the judge took it back: there is no seal, for the mat does not see the bead
        tx.add(ByEye(tx.t))
    elif kind is None or tx.settings.mode(kind) == "off":
        no_reading(tx)
    else:
        _call_or_ask(tx, kind)


def no_reading(tx: Transaction) -> None:
    """The mat cannot tell where the bead lies."""
    tx.add(Question(tx.t, "no_reading", ("play_on", "hide_again")))


def bead_foul(reading: Beads) -> str | None:
    """Return the foul that a sure reading shows, if any."""
    if not reading.sure:
        return None
    if not reading.found:
        return "no_bead"
    bead, *others = reading.found
    if others:
        return "two_beads"
    return "bead_off_mat" if bead.pad is None else None


def _pass_fouls(passes: tuple[int, ...], fetched: bool) -> tuple[str, ...]:
    if sorted(passes) == [*EVERY_PAD] or (fetched and sorted(passes[1:]) == [*EVERY_PAD]):
        return ()
    found = ({*EVERY_PAD} - set(passes), len(passes) > len(set(passes)))
    return tuple(kind for kind, applies in zip(PASS_FOULS, found, strict=True) if applies)


def _call_or_ask(tx: Transaction, kind: str, unsure: bool = False) -> None:
    if unsure:
        tx.add(Question(tx.t, "passes_unsure", ("foul", "play_on", "hide_again"), foul=kind))
    elif tx.settings.mode(kind) == "ask":
        tx.add(Question(tx.t, "foul", ("foul", "play_on"), foul=kind))
    else:
        tx.foul(kind, "sensor")
