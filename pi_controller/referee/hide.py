"""The hiding phase: hands under pads, the ready check, sealing, and showing the bead.

Booklet, chapter 2: the hand goes under every pad, and under none twice; chapter 12: the fouls of the hider.
"""

from msgspec import UNSET

from pi_controller.referee import facts
from pi_controller.referee.rounds import PassFoul, find_pass_fouls, missing_pads
from pi_controller.referee.story import Story
from pi_controller.referee.transaction import Transaction
from pi_controller.referee.unpublished import HandUnder, has_pair
from pi_controller.sensing.events import BeadsAtRest, Button, HandIn, HandOut


def handle_hand(tx: Transaction, event: HandIn | HandOut) -> None:
    """Handle a hand that goes under a pad or comes out. The two may be reported in either order."""
    private = tx.private
    private.forget_reading(event.t)
    private.wait(tx.story, tx.t, afresh=True)
    if isinstance(event, HandIn):
        _hand_in(tx, event)
        out = private.early_out.pop(event.pad, None)
        if out is not None and out.t >= event.t:
            _hand_out(tx, out)
    elif event.pad in private.hands:
        _hand_out(tx, event)
    else:
        private.early_out[event.pad] = event


def _hand_in(tx: Transaction, event: HandIn) -> None:
    private, story = tx.private, tx.story
    hiding = story.phase in ("hide", "check") or (story.phase == "show" and bool(story.hide.hiding_passes))
    if _is_told(story, event) and event.side != "hider" and hiding:
        private.foreign = story.pass_hide_number
    hand = HandUnder(event.t, event.side, hides=event.side != "hitter")
    if event.side == "hitter":
        private.takes_bead(event.pad)
        _ask_of_hitters_hand(tx, event)
    else:
        if story.phase in ("toss", "hit"):
            private.uncounted_t = event.t
        _note_hiders_hand(tx, event, hand)
    private.hands.setdefault(event.pad, hand)


def _hand_out(tx: Transaction, event: HandOut) -> None:
    """Record the pass of a hand that came out: the hiders', or one of unknown side."""
    private, story = tx.private, tx.story
    hand = private.hands.pop(event.pad)
    private.left[event.pad] = event.t, hand.asked
    if not hand.hides or story.phase not in ("hide", "check", "show"):
        return
    side: facts.PassSide = "hider" if hand.side == "hider" else "unclear"
    dead_strip = any(fault.sensor == "strip" and fault.pad == event.pad for fault in story.link.faults)
    if side == "unclear" and (dead_strip or not _is_told(story, hand)):
        side = None  # the strip that detects the side is out of order, or there is none
    revealed = story.phase == "show" and story.opening is not None and story.opening.hide == story.hide.number
    fetched = revealed and private.takes_bead(event.pad)
    tx.add(facts.HandPass(event.t, event.pad, hand.since, side, event.sure, fetched))


def _is_told(story: Story, hand: HandIn | HandUnder) -> bool:
    """Return True if the mat identifies the sides of hands in this hide."""
    return hand.side is not UNSET or any(each.side is not None for each in story.hide.hiding_passes)


def _ask_of_hitters_hand(tx: Transaction, event: HandIn) -> None:
    story = tx.story
    if story.phase in ("hide", "check"):
        _ask_of_hand(tx, "hitters_hand", event.pad, ("play_on", "hide_again"))
    elif story.phase == "hit" and event.sure and event.pad in story.hittable_pads:
        # touched, it may count as the hit (chapter 12)
        again = () if story.hide.hits else ("hide_again",)
        _ask_of_hand(tx, "peek", event.pad, (str(event.pad), "play_on", *again))


def _note_hiders_hand(tx: Transaction, event: HandIn, hand: HandUnder) -> None:
    """Note in `hand` whether a hand of the hiders, or of unknown side, hides, and whether the judge is asked about it.

    After ready, a hand under a missing pad withdraws ready; under any other pad it raises a question ("not a second
    time", chapter 2).
    """
    story, private = tx.story, tx.private
    if story.phase not in ("check", "hit"):
        return
    if story.phase == "check" and event.t < max(story.clocks.waiting.began, private.ready_t):
        return  # reported late; ready was pressed, perhaps once more, after it
    if story.phase == "check" and event.pad in _missing_pads(tx):
        _withdraw_ready(tx, event.pad)
        return
    hand.hides = False
    until, asked = private.left.get(event.pad, (float("-inf"), False))
    if asked and event.t - until < tx.settings.round_pause_s:
        hand.asked = True  # it still puts the pad straight
        return
    lifts = event.side is UNSET and story.hide.hits  # without side detection it may be the hitters, looking
    if event.sure and event.pad in story.hittable_pads and not lifts:
        again = () if story.hide.hits else ("hide_again",)
        hand.asked = _ask_of_hand(tx, "hand_again", event.pad, ("play_on", *again, "foul"), foul="pad_twice")


def _ask_of_hand(tx: Transaction, about: str, pad: int, choices: tuple[str, ...], foul: str = "") -> bool:
    if tx.story.play_stands:  # the judge is looking at the mat already
        return False
    tx.ask(about, choices, (pad,), foul)
    return True


def _missing_pads(tx: Transaction) -> set[int]:
    under = {pad for pad, hand in tx.private.hands.items() if hand.hides}
    return missing_pads(tx.story.hide, tx.settings.round_pause_s) - under


def _withdraw_ready(tx: Transaction, pad: int) -> None:
    asked = tx.story.question
    if asked is not None and asked.about in ("foul", "passes_unsure", "no_reading"):
        tx.add(facts.QuestionWithdrawn(tx.t, asked.about, "hiding"))
    tx.add(facts.ReadyWithdrawn(tx.t, pad))


def is_mid_round(tx: Transaction, story: Story) -> bool:
    """Return True if a round of hands had begun in `story` and was not complete."""
    if story.phase not in ("hide", "check", "show"):
        return False
    under = any(hand.hides and hand.since >= story.hide.began for hand in tx.private.hands.values())
    return under or bool(story.hide.hiding_passes and missing_pads(story.hide, tx.settings.round_pause_s))


def handle_button(tx: Transaction, event: Button) -> None:
    """Handle a button: it has an effect only in its own phase."""
    match event.name, tx.story.phase:
        case "toss_a" | "toss_b", "toss":
            tx.play({"do": "toss", "winner": event.name[-1].upper()}, "sensor")
        case "ready", "hide" | "show":
            handle_ready(tx)
        case "shown", "show" if tx.story.sensors and tx.private.lying:
            tx.notice("lift_bead")  # it takes effect when the mat is read empty
        case "shown", "show":
            tx.add(facts.BeadShown(tx.t))
        case "shown", "hide" if tx.story.hide.hiding_passes:
            tx.add(facts.RoundBegun(tx.t))
        case _:
            pass


def handle_ready(tx: Transaction) -> None:
    """Handle the hiders' ready: accepted if a hand was under a pad since the last hide.

    Until the bead of that hide is shown, the first hand since then counts as the one that fetches it.
    """
    story = tx.story
    under = sum(hand.hides for hand in tx.private.hands.values())
    hands = len(story.hide.hiding_passes) + under - (story.phase == "show")
    felt = story.link.up and not story.passes_unsure
    if story.link.up and _hiders_unaware(tx) and _missing_pads(tx):
        # these hands are of hiders who have not noticed their foul, not of the next team
        if story.hide.passes:
            tx.add(facts.RoundBroken(tx.t))
        tx.notice("foul_settled")
    elif felt and hands <= 0:
        tx.notice("nobody_hid")
    else:
        tx.add(facts.Ready(tx.t))


def handle_reading(tx: Transaction, event: BeadsAtRest) -> None:
    """Handle a bead reading at rest. An empty mat means that the bead is up: after the hide, and while hiding."""
    private, story = tx.private, tx.story
    lay = private.lying
    private.note_reading(event)
    if private.reading is not event or event.found or not event.sure:
        return
    # a mat that was empty all the time proves little: the bead may still be in the hider's hand
    if story.phase == "show" and (lay or not _hiders_unaware(tx)):
        tx.add(facts.BeadShown(tx.t))
    elif story.phase == "hide" and ((lay and story.hide.fetched) or _has_begun_round(story)):
        tx.add(facts.RoundBegun(tx.t, sure=bool(lay)))


def _has_begun_round(story: Story) -> bool:
    """Return True if a hand went under a pad since the round was last begun by a reading or a press."""
    begun = max((story.hide.began, *story.hide.rounds_begun, *story.hide.read_empty))
    return any(each.since >= begun for each in story.hide.passes)


def _hiders_unaware(tx: Transaction) -> bool:
    """Return True if a foul that settled the last hide broke its round off: its hiders may not have noticed.

    Where the hands' side of the mat identifies their team, hands that are felt now are the next team's.
    """
    story = tx.story
    broken = story.phase == "show" and story.hide.foul is not None and story.round_broken
    told = tx.private.seats != "stay" and any(each.side == "hider" for each in story.hide.passes)
    return broken and not told


def check_hide(tx: Transaction) -> None:
    """In phase check: call or ask about the first foul that applies, seal the bead, or wait for a reading."""
    private, story = tx.private, tx.story
    hide, hands = story.hide, bool(story.hide.hiding_passes)
    gap = hands and story.link.up is False
    if private.hands or gap:
        return
    fouls = find_pass_fouls(hide, tx.settings.round_pause_s) if story.link.up or hands else {}
    passed_over = story.passes_unsure and tx.settings.mode("pad_skipped") == "off"  # passes are not questioned
    waits = (hands or passed_over) and fouls and _missing_pads(tx) and "pad_skipped" not in hide.waived_fouls
    if waits and tx.t < private.since + tx.settings.check_timeout_s:
        return  # ready is a proposal: the hand may still go under the pad that is missing
    for kind, foul in fouls.items():
        if kind not in hide.waived_fouls and tx.settings.mode(kind) != "off":
            _call_pass_foul(tx, kind, foul)
            return
    if tx.settings.beads == "judge":
        tx.add(facts.JudgedByEye(tx.t))
        return
    reading = private.reading
    if reading is None:
        return
    kind, pad = bead_foul(reading), private.bead_pad(story)
    if pad is not None:
        tx.seal(pad)
    elif has_pair(reading) and tx.settings.mode("two_beads") != "off":
        tx.ask("two_magnets", ("play_on", "hide_again", "foul"), foul="two_beads")
    elif kind in hide.waived_fouls:  # the judge took the foul back; the mat does not see the bead, so no seal
        tx.add(facts.JudgedByEye(tx.t))
    elif kind is None or tx.settings.mode(kind) == "off":
        ask_no_reading(tx)
    elif not _missing_pads(tx) or tx.t >= private.since + tx.settings.check_timeout_s:
        # while the last round leaves a pad out the bead may still be in the hand
        _call_or_ask(tx, kind, foreign=private.foreign == hide.number)


def ask_no_reading(tx: Transaction) -> None:
    """Ask the judge because the mat cannot determine the bead's place."""
    tx.ask("no_reading", ("play_on", "hide_again"))


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


def _call_pass_foul(tx: Transaction, kind: str, foul: PassFoul) -> None:
    """Call the foul or ask about it. If no hand was felt at all, ready rests on the judge's word."""
    private, story = tx.private, tx.story
    doubts = story.middle_strip_dead or story.passes_unsure or not story.hide.hiding_passes
    if kind == "pad_skipped" and not private.own_ready:  # a shared button: the hitters may have pressed it
        doubts |= private.reading is None or not private.reading.found
    if doubts or not foul.sure:
        tx.ask("passes_unsure", ("foul", "play_on", "hide_again"), foul.pads, kind)
    else:
        _call_or_ask(tx, kind, foul.pads)


def _call_or_ask(tx: Transaction, kind: str, pads: tuple[int, ...] = (), *, foreign: bool = False) -> None:
    """Call the foul; ask if the settings say so, or if a `foreign` hand may have moved the bead."""
    if foreign or tx.settings.mode(kind) == "ask":
        tx.ask("foul", ("foul", "play_on"), pads, kind)
    else:
        tx.foul(kind, "sensor")
