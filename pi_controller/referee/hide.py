"""From the first hand under a pad to a bead that lies well: passes, the ready check, and the bead shown again.

Booklet, chapter 2: the hand goes under every pad, and under none twice; chapter 12: the fouls of the hider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.mat.events import Beads, Button, HandIn, HandOut
from pi_controller.referee.facts import ByEye, HandPass, Question, Ready, Shown
from pi_controller.referee.settings import PASS_FOULS

if TYPE_CHECKING:
    from pi_controller.referee.turn import Turn

PADS = {1, 2, 3, 4}


def hand(turn: Turn, event: HandIn | HandOut) -> None:
    """A hand goes under a pad, or comes out: a pass, unless it went in while hits were owed (lifting a pad)."""
    senses, phase = turn.senses, turn.story.phase
    senses.moved()
    senses.wait(turn.story, turn.t, afresh=True)
    if isinstance(event, HandIn):
        senses.hands.setdefault(event.pad, phase != "hit")
        senses.sides[event.pad] = event.side
    elif senses.hands.pop(event.pad, False) and phase in ("hide", "check", "show"):
        turn.add(HandPass(turn.t, event.pad, event.sure))


def button(turn: Turn, event: Button) -> None:
    """A button counts where it means something, and is passed over anywhere else."""
    match event.name, turn.story.phase:
        case "toss_a" | "toss_b", "toss":
            turn.play({"do": "toss", "winner": event.name[-1].upper()}, "sensor")
        case "ready", "hide" | "show":
            ready(turn)
        case "shown", "show":
            show(turn)
        case _:
            pass


def ready(turn: Turn) -> None:
    """The hiders are ready, if a hand was under a pad since the last hide; else the press was none of theirs.

    Until the bead of that hide is up, the first hand since then is the one that fetches it.
    """
    story = turn.story
    hands = len(story.passes) + len(turn.senses.hands) - (story.phase == "show")
    felt = story.link and max(story.doubt, story.vague) < story.collecting
    if felt and hands <= 0:
        turn.notice("nobody_hid")
    else:
        turn.add(Ready(turn.t))


def beads(turn: Turn, event: Beads) -> None:
    """The field is at rest. An empty mat after the hide means that the bead has been taken up."""
    turn.senses.reading = event
    if turn.story.phase == "show" and event.sure and not event.found:
        show(turn)


def show(turn: Turn) -> None:
    """The bead was shown. A hand still under the first pad since then fetched it, and hides nothing."""
    if not turn.story.passes:
        turn.senses.hands = dict.fromkeys(turn.senses.hands, False)
    turn.add(Shown(turn.t))


def look(turn: Turn) -> None:
    """In phase check: call or ask about the first foul that applies, seal the bead, or wait for a reading."""
    if turn.senses.hands:
        return
    story = turn.story
    felt = story.link or bool(story.passes)
    for kind in _pass_fouls(story.passes, story.fetched) if felt else ():
        if kind not in story.waived and turn.settings.mode(kind) != "off":
            # with no hand felt at all it is the judge's word that they are ready
            in_doubt = story.numb or not story.passes or max(story.doubt, story.vague) >= story.hide
            _call_or_ask(turn, kind, unsure=in_doubt)
            return
    if turn.settings.beads == "judge":
        turn.add(ByEye(turn.t))
        return
    reading = turn.senses.reading
    if reading is None:
        return
    kind = bead_foul(reading)
    if turn.senses.place is not None:
        turn.seal(turn.senses.place)
    elif kind in story.waived:  # the judge took it back: there is no seal, for the mat does not see the bead
        turn.add(ByEye(turn.t))
    elif kind is None or turn.settings.mode(kind) == "off":
        no_reading(turn)
    else:
        _call_or_ask(turn, kind)


def no_reading(turn: Turn) -> None:
    """The mat cannot tell where the bead lies."""
    turn.add(Question(turn.t, "no_reading", ("play_on", "hide_again")))


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
    if sorted(passes) == sorted(PADS) or (fetched and sorted(passes[1:]) == sorted(PADS)):
        return ()
    found = (PADS - set(passes), len(passes) > len(set(passes)))
    return tuple(kind for kind, applies in zip(PASS_FOULS, found, strict=True) if applies)


def _call_or_ask(turn: Turn, kind: str, unsure: bool = False) -> None:
    if unsure:
        turn.add(Question(turn.t, "passes_unsure", ("foul", "play_on", "hide_again"), foul=kind))
    elif turn.settings.mode(kind) == "ask":
        turn.add(Question(turn.t, "foul", ("foul", "play_on"), foul=kind))
    else:
        turn.foul(kind, "sensor")
