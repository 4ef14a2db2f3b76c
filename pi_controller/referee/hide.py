"""The hiding phase: hand passes, the ready check, sealing, and showing the bead.

Booklet, chapter 2: the hand goes under every pad, and under none twice; chapter 12: the fouls of the hider.
"""

from itertools import chain, combinations

from msgspec import UNSET

from pi_controller.pads import EVERY_PAD
from pi_controller.referee import facts
from pi_controller.referee.settings import PASS_FOULS
from pi_controller.referee.story import Hide
from pi_controller.referee.transaction import Transaction
from pi_controller.sensing.events import BeadsAtRest, Button, HandIn, HandOut, HandSide

MAX_UNCLEAR = 8
"""Hands of unknown side that are considered in one hide; further ones do not change the possible readings."""


def handle_hand(tx: Transaction, event: HandIn | HandOut) -> None:
    """Handle a hand that goes under a pad or comes out."""
    private, phase = tx.private, tx.story.phase
    private.forget_reading()
    private.wait(tx.story, tx.t, afresh=True)
    if isinstance(event, HandOut):
        side = private.sides.pop(event.pad, event.side)
        if private.hands.pop(event.pad, False) and phase in ("hide", "check", "show"):
            _count_pass(tx, event, side)
        return
    number, hide = tx.story.pass_hide_number, tx.story.hide
    told = event.side is not UNSET or private.sided == number
    hiding = phase in ("hide", "check") or (phase == "show" and bool(hide.passes or hide.unclear))
    if told and event.side != "hider" and hiding:
        private.foreign = number
    counts = _hitters_hand(tx, event) if event.side == "hitter" else _hiders_hand(tx, event)
    if event.pad not in private.hands:
        private.hands[event.pad], private.sides[event.pad] = counts, event.side


def _hitters_hand(tx: Transaction, event: HandIn) -> bool:
    """Ask about a hand of the hitters under a pad. It is no pass, so return False."""
    story = tx.story
    again = () if story.hide.hits else ("hide_again",)
    if story.phase in ("hide", "check"):
        _ask_of_hand(tx, "hitters_hand", event.pad, ("play_on", "hide_again"))
    elif story.phase == "hit" and event.sure and event.pad in story.hittable_pads:
        # touched, it may count as the hit (chapter 12)
        _ask_of_hand(tx, "peek", event.pad, (str(event.pad), "play_on", *again))
    return False


def _hiders_hand(tx: Transaction, event: HandIn) -> bool:
    """Return True if a hand of the hiders, or of unknown side, makes a pass when it comes out.

    After ready, a hand under a missing pad withdraws ready; under any other pad it raises a question ("not a second
    time", chapter 2).
    """
    story = tx.story
    if story.phase == "check" and event.pad in _missing_pads(tx):
        _withdraw_ready(tx, event.pad)
        return True
    if story.phase not in ("check", "hit"):
        return True
    lifts = event.side is UNSET and story.hide.hits  # without side detection it may be the hitters, looking
    if event.sure and event.pad in story.hittable_pads and not lifts:
        again = () if story.hide.hits else ("hide_again",)
        _ask_of_hand(tx, "hand_again", event.pad, ("play_on", *again, "foul"), foul="pad_twice")
    return False


def _ask_of_hand(tx: Transaction, about: str, pad: int, choices: tuple[str, ...], foul: str = "") -> None:
    if tx.story.question is None:  # else the judge is looking at the mat already
        tx.add(facts.Question(tx.t, about, choices, (pad,), foul))


def _missing_pads(tx: Transaction) -> set[int]:
    hide = tx.story.hide
    under = {pad for pad, counts in tx.private.hands.items() if counts}
    passes = hide.passes[1:] if hide.fetched else hide.passes
    return {*EVERY_PAD} - {*passes} - under


def _withdraw_ready(tx: Transaction, pad: int) -> None:
    asked = tx.story.question
    if asked is not None and asked.about in ("foul", "passes_unsure", "no_reading"):
        tx.add(facts.QuestionWithdrawn(tx.t, asked.about, "hiding"))
    tx.add(facts.ReadyWithdrawn(tx.t, pad))


def _count_pass(tx: Transaction, event: HandOut, side: HandSide) -> None:
    """Record a pass of the hand that came out.

    If the mat can identify sides, one of unknown side is recorded separately, because it is no proof by itself.
    """
    private, number = tx.private, tx.story.pass_hide_number
    faults = tx.story.link.faults
    if side == "hider":
        private.sided = number
    elif side is not UNSET and event.sure:
        private.sided = number
        if any(fault.sensor == "strip" and fault.pad == event.pad for fault in faults):
            private.sideless = number  # the strip that detects the side is out of order
        else:
            tx.add(facts.UnclearPass(tx.t, event.pad))
            return
    elif side is UNSET and private.sided == number:
        tx.add(facts.UnclearPass(tx.t, event.pad) if event.sure else facts.HandPass(tx.t, event.pad, event.sure))
        return
    elif side is UNSET:
        private.sideless = number
    tx.add(facts.HandPass(tx.t, event.pad, event.sure))


def handle_button(tx: Transaction, event: Button) -> None:
    """Handle a button: it has an effect only in its own phase."""
    match event.name, tx.story.phase:
        case "toss_a" | "toss_b", "toss":
            tx.play({"do": "toss", "winner": event.name[-1].upper()}, "sensor")
        case "ready", "hide" | "show":
            handle_ready(tx)
        case "shown", "show":
            note_bead_shown(tx)
        case _:
            pass


def handle_ready(tx: Transaction) -> None:
    """Handle the hiders' ready: accepted if a hand was under a pad since the last hide.

    Until the bead of that hide is shown, the first hand since then counts as the one that fetches it.
    """
    story = tx.story
    passes = len(story.hide.passes) + len(story.hide.unclear)
    hands = passes + len(tx.private.hands) - (story.phase == "show")
    felt = story.link.up and not story.passes_unsure
    if story.link.up and _hiders_unaware(tx) and any(_pass_fouls(story.hide, fetched=True)):
        # these passes are by hiders who have not noticed their foul, not by the next team
        if passes:
            tx.add(facts.PassesDropped(tx.t))
        tx.notice("foul_settled")
    elif felt and hands <= 0:
        tx.notice("nobody_hid")
    else:
        tx.add(facts.Ready(tx.t))


def handle_reading(tx: Transaction, event: BeadsAtRest) -> None:
    """Handle a bead reading at rest. An empty mat after the hide means that the bead was taken up."""
    private = tx.private
    private.reading = event
    private.bead_lay_since = private.bead_lay_since or bool(event.found)
    # a mat that was empty all the time proves little: the bead may still be in the hider's hand
    if (
        tx.story.phase == "show"
        and event.sure
        and not event.found
        and (private.bead_lay_since or not _hiders_unaware(tx))
    ):
        note_bead_shown(tx)


def _hiders_unaware(tx: Transaction) -> bool:
    """Return True if the mat called the foul that settled the last hide: its hiders may not have noticed yet."""
    story = tx.story
    return story.phase == "show" and story.hide.foul is not None and tx.private.unaware_hide == story.hide.number


def note_bead_shown(tx: Transaction) -> None:
    """Record that the bead was shown. A hand still under the first pad fetched it and makes no pass."""
    if not tx.story.hide.passes:
        tx.private.hands = dict.fromkeys(tx.private.hands, False)
    tx.add(facts.BeadShown(tx.t))


def check_hide(tx: Transaction) -> None:
    """In phase check: call or ask about the first foul that applies, seal the bead, or wait for a reading."""
    private, story = tx.private, tx.story
    if private.hands:
        return
    hide, hands = story.hide, bool(story.hide.passes or story.hide.unclear)
    fouls = _pass_fouls(hide, hide.fetched) if story.link.up or hands else {}
    passed_over = story.passes_unsure and tx.settings.mode("pad_skipped") == "off"  # passes are not questioned
    waits = (hands or passed_over) and "pad_skipped" in fouls and "pad_skipped" not in hide.waived_fouls
    if waits and tx.t < private.since + tx.settings.check_timeout_s:
        return  # ready is a proposal: the hand may still go under the pad that is missing
    for kind, sure in fouls.items():
        if kind not in hide.waived_fouls and tx.settings.mode(kind) != "off":
            # if no hand was felt at all, ready rests on the judge's word
            in_doubt = story.middle_strip_dead or not hands or story.passes_unsure
            of_some_side = private.sided == private.sideless == hide.number
            _call_or_ask(tx, kind, unsure=in_doubt or of_some_side or not sure)
            return
    if tx.settings.beads == "judge":
        tx.add(facts.JudgedByEye(tx.t))
        return
    reading = tx.private.reading
    if reading is None:
        return
    kind = bead_foul(reading)
    if tx.private.bead_pad is not None:
        tx.seal(tx.private.bead_pad)
    elif kind in story.hide.waived_fouls:  # the judge took the foul back; the mat does not see the bead, so no seal
        tx.add(facts.JudgedByEye(tx.t))
    elif kind is None or tx.settings.mode(kind) == "off":
        ask_no_reading(tx)
    elif not (hide.fetched and _missing_pads(tx)) or tx.t >= private.since + tx.settings.check_timeout_s:
        # the first hand may have fetched the last bead: then a pad is missing, and the bead is still in the hand
        _call_or_ask(tx, kind, foreign=private.foreign == hide.number)


def ask_no_reading(tx: Transaction) -> None:
    """Ask the judge because the mat cannot determine the bead's place."""
    tx.add(facts.Question(tx.t, "no_reading", ("play_on", "hide_again")))


def bead_foul(reading: BeadsAtRest) -> str | None:
    """Return the foul that a sure reading shows, or None."""
    if not reading.sure:
        return None
    if not reading.found:
        return "no_bead"
    bead, *others = reading.found
    if others:
        return "two_beads"
    return "bead_off_mat" if bead.pad is None else None


def _pass_fouls(hide: Hide, fetched: bool) -> dict[str, bool]:
    """Return the fouls that the passes may amount to.

    The value is True if the foul holds for every combination of sides that the unclear hands may have.
    """
    unclear = hide.unclear[:MAX_UNCLEAR]
    some = chain.from_iterable(combinations(unclear, n) for n in range(len(unclear) + 1))
    readings = [_fouls_of((*hide.passes, *hiders), fetched) for hiders in some]
    return {kind: all(kind in one for one in readings) for kind in PASS_FOULS if any(kind in one for one in readings)}


def _fouls_of(passes: tuple[int, ...], fetched: bool) -> tuple[str, ...]:
    if sorted(passes) == [*EVERY_PAD] or (fetched and sorted(passes[1:]) == [*EVERY_PAD]):
        return ()
    found = ({*EVERY_PAD} - set(passes), len(passes) > len(set(passes)))
    return tuple(kind for kind, applies in zip(PASS_FOULS, found, strict=True) if applies)


def _call_or_ask(tx: Transaction, kind: str, unsure: bool = False, foreign: bool = False) -> None:
    """Call the foul, or ask: if the passes are `unsure`, or if a `foreign` hand may have moved the bead."""
    if unsure:
        tx.add(facts.Question(tx.t, "passes_unsure", ("foul", "play_on", "hide_again"), foul=kind))
    elif foreign or tx.settings.mode(kind) == "ask":
        tx.add(facts.Question(tx.t, "foul", ("foul", "play_on"), foul=kind))
    else:
        if "pad_skipped" in _pass_fouls(tx.story.hide, tx.story.hide.fetched):
            tx.private.mark_unaware(tx.story)
        tx.foul(kind, "sensor")
