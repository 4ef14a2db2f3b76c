"""The hitting phase: turns detected strikes into actions, and watches the bead while a hit is due.

The organiser configures the treatment of each doubtful case (`settings.FOUL_TREATMENTS`): a touch, two pads at once,
the pad of the first hit, an early strike, a moved bead.
"""

from pi_controller.referee import facts
from pi_controller.referee.hide import bead_foul
from pi_controller.referee.settings import RefereeSettings
from pi_controller.referee.story import Story
from pi_controller.referee.transaction import Transaction
from pi_controller.referee.unpublished import PrivateState
from pi_controller.sensing.events import BeadsAtRest, Strike
from pi_controller.text import mark

LIGHT_STRIKE_DB = 6.0
"""A strike less than this far above the threshold of doubt is a light one, dB."""
MIN_IMPLAUSIBLE_PADS = 3
"""A stick cannot strike this many pads at once: a drum fell, or a person stepped on the mat."""
LATE_STRIKE_S = 1.5
"""A strike up to this long after the end of the hitting time is put to the judge.

Time is called only after this margin, because the call cannot be taken back completely: it reveals the bead or ends the
game. A strike made earlier but reported later still counts by the moment it was made: the call is undone and the strike
decided again (`take_back_time`).
"""
ONE_STROKE_S = 0.8
"""A second hit within this time of the first may be the same stroke (Between two hides): the judge is asked."""
ORDER_S = 0.25
"""A strike may be reported this long after a later reading: a reading that would be acted on at once waits for it."""
HAND_QUESTIONS = ("peek", "hand_again")
"""The questions about a hand while a hit is due."""
MAX_KEPT = 8
"""Strikes kept while play stands."""
HAND_S = 0.15
"""A hand leaving a pad shakes it for this long; so does the hider's hand pressing ready."""


def handle_strike(tx: Transaction, event: Strike) -> None:
    """Handle a strike: it counts if a hit is due and play goes on; a doubtful one goes to the judge.

    A strike made while play stands is kept. One made before the bead was read as moved is settled first.
    """
    story, asked = tx.story, tx.story.question
    before_this_hit = event.t < story.clocks.waiting.began
    early = story.phase in ("hide", "check") or (story.phase == "hit" and not story.hide.hits and before_this_hit)
    if early and not asked:
        _early(tx, event)
        return
    if story.phase not in ("check", "hit"):
        return
    earlier = asked if asked is not None and not before_this_hit and _is_before(event, asked) else None
    if earlier is not None:
        tx.add(facts.QuestionWithdrawn(tx.t, earlier.about, "hit_felt"))
    elif before_this_hit or not story.strike_expected:
        keep_strike(tx, event)
        return
    pad = resolve_strike(tx, event, "same_pad")
    if pad is None:
        return
    if is_late(tx, event.t):
        ask_late(tx, pad)
    else:
        play_hit(tx, pad, "sensor")
    still_due = tx.story.phase == "hit" and tx.story.question is None
    if (
        earlier is not None
        and earlier.about in HAND_QUESTIONS
        and still_due
        and earlier.pads[0] in tx.story.hittable_pads
    ):
        tx.ask(earlier.about, earlier.choices, earlier.pads, earlier.foul)


def _is_before(event: Strike, asked: facts.Question) -> bool:
    """Return True if a sure strike was made before what is asked about, so that it is settled first."""
    settles = asked.foul == "time" or asked.about in (*HAND_QUESTIONS, "bead_moved")
    return settles and event.sure and bool(event.pads) and event.t <= asked.t


def time_limit(settings: RefereeSettings, story: Story) -> float | None:
    """Return the seconds allowed for the hit now due, or None if no hit is due or time is not limited."""
    timed = story.phase == "hit" and "time" not in story.hide.waived_fouls and settings.mode("time") != "off"
    return settings.hit_seconds if timed else None


def clock_at(story: Story, t: float) -> float:
    """Return the value of the hitters' clock at `t`, seconds."""
    waiting = story.clocks.waiting
    return max(0.0, (t if waiting.stopped_at is None else min(t, waiting.stopped_at)) - waiting.began)


def is_late(tx: Transaction, t: float) -> bool:
    """Return True if the hitting time had ended at `t`."""
    limit = time_limit(tx.settings, tx.story)
    return limit is not None and clock_at(tx.before, t) > limit  # a question answered since had stopped the clock


def ask_late(tx: Transaction, pad: int) -> None:
    """Ask whether a strike on `pad` after the end of the time is the first hit, the second, or none."""
    after, _ = tx.game.play(tx.story.state, {"do": "foul", "by": "hitter", "kind": "time"})
    first = () if tx.story.hide.hits else ("first",)
    second = ("second",) if tx.story.hide.hits or tx.game.sheet(after)["owed"] == "second" else ()
    tx.ask("late_hit", (*first, *second, "none"), (pad,))


def late_hit(tx: Transaction, pad: int, counts_as: str) -> None:
    """Count a late strike as the first or the second hit; if it is the second, the first is missed for time."""
    if counts_as == "second" and not tx.story.hide.hits:
        tx.foul("time", tx.by)
    play_hit(tx, pad, tx.by)


def hit_or_late(tx: Transaction, pad: int, asked: facts.Question) -> None:
    """Play the hit on `pad` that the judge confirmed, or ask how it counts if the strike came after the time."""
    by_stroke = asked.about in ("one_stroke", "doubtful", "two_struck", "several_struck", "beside_dead", "same_pad")
    if by_stroke and is_late(tx, asked.t):
        ask_late(tx, pad)
    else:
        play_hit(tx, pad, tx.by)


def take_back_time(settings: RefereeSettings, story: Story, event: Strike) -> facts.Undone | None:
    """Return the undo of the clock's call of time if the strike was made before the call, or None."""
    undoable = story.undo_target
    if undoable.called != "time" or undoable.t is None or event.t >= undoable.t or settings.hit_seconds is None:
        return None
    shown = undoable.waited - (undoable.t - event.t)
    counts = bool(event.pads) and (event.sure or settings.mode("touch") != "off")
    if not counts or not 0 <= shown <= settings.hit_seconds + LATE_STRIKE_S:
        return None
    why = mark("the stroke was made before time was called")
    return facts.Undone(event.t, undoable.batch, "clock", why, story.pass_hide_number, shown)


def keep_strike(tx: Transaction, event: Strike) -> None:
    """Keep a strike that comes while play stands; it is put to the judge when play goes on."""
    if tx.story.phase == "check" and not _is_clear_of_hands(tx, event):
        return
    if event.sure and event.pads and len(tx.story.hide.kept) < MAX_KEPT:
        tx.add(facts.StrikeKept(event.t, event.pads))


def pads_struck_since(story: Story, t: float) -> tuple[int, ...]:
    """Return the pads of the kept strikes made at `t` or later."""
    return tuple(dict.fromkeys(pad for stroke in story.hide.kept if stroke.t >= t for pad in stroke.pads))


def offer_kept(tx: Transaction) -> bool:
    """Ask which of the kept strikes was the hit now due; return True if one of their pads may take it.

    One question covers all of them. Strikes left over after the answer are offered for the next hit. One that the judge
    has ruled to count is played.
    """
    ruled = next((stroke for stroke in tx.story.hide.kept if stroke.counts), None)
    if ruled is not None:
        play_hit(tx, ruled.pads[0], "judge")
        return True
    struck_pads = dict.fromkeys(pad for stroke in tx.story.hide.kept for pad in stroke.pads)
    pads = tuple(pad for pad in struck_pads if pad in tx.story.hittable_pads)
    if pads:
        tx.ask("struck_meanwhile", (*map(str, pads), "none"), pads)
    return bool(pads)


def resolve_strike(tx: Transaction, event: Strike, taken: str) -> int | None:
    """Return the pad on which a strike counts, or None if no strike is due or the judge is asked.

    Of several pads touched at once the nearest to the hitter counts (chapter 12), if the settings name it. `taken` is
    the question to ask about a pad that may no longer be hit.
    """
    story = tx.story
    if not story.strike_expected:
        return None
    if story.question is not None:
        tx.add(facts.QuestionWithdrawn(tx.t, story.question.about, "hit_felt"))
    tx.add(facts.StrikeFelt(tx.t, event.pads, event.margin_db))
    still, pads = story.hittable_pads, event.pads
    pad, *others = pads or (0,)
    if is_one_stroke(story, event.t) and event.sure:
        about = "one_stroke"
    elif len(pads) >= MIN_IMPLAUSIBLE_PADS:
        about = "several_struck"
    elif not event.sure or not pad or _may_be_hand(tx, event) or _light(tx, event):
        if tx.settings.mode("touch") == "off":
            tx.notice("touch_passed_over", pads)
            return None
        about = "doubtful"
    elif story.link.up and story.dead_pads and tx.settings.mode("touch") != "off":
        about = "beside_dead"  # a strike on a pad with a dead disc is felt on the others
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
    tx.ask(about, (*map(str, still), "none"), pads)
    return None


def _may_be_hand(tx: Transaction, event: Strike) -> bool:
    """Return True if a hand could explain the strike; a hitters' hand that touches a pad may make a hit."""
    hands = tx.private.hands
    return event.hand is not None or any(pad in hands and hands[pad].since < event.t for pad in event.pads)


def _light(tx: Transaction, event: Strike) -> bool:
    """Return True if a sure strike was so light that the settings ask the judge."""
    return tx.settings.mode("touch") == "ask" and event.margin_db is not None and event.margin_db < LIGHT_STRIKE_DB


def _of_several(tx: Transaction, pads: tuple[int, ...]) -> int | None:
    """Return the pad that counts among those touched at once, or None if the judge is asked."""
    mode, still = tx.settings.mode("two_struck"), tx.story.hittable_pads
    if mode == "ask":
        return None
    near = tuple(pad for pad in tx.settings.nearest if pad in pads)
    if mode == "off":  # the first touched, if the settings do not name the nearest
        return next((pad for pad in (*near, *pads) if pad in still), None)
    return near[0] if near and near[0] in still else None


def _early(tx: Transaction, event: Strike) -> None:
    """Handle a strike before the bead is hidden and read: chapter 12 names no payment for it.

    A hand that hides or has just left a pad shakes it like a light strike, so such strikes are ignored.
    """
    story, mode = tx.story, tx.settings.mode("early_hit")
    if mode == "off" or "early_hit" in story.hide.waived_fouls or not _is_clear_of_hands(tx, event):
        return
    if mode == "automatic":
        tx.add(facts.FoulSeen(tx.t, "early_hit", "hitter"))
    else:
        choices = (*map(str, event.pads), "play_on", "hide_again")
        tx.ask("early_hit", choices, event.pads, foul="early_hit")


def _is_clear_of_hands(tx: Transaction, event: Strike) -> bool:
    """Return True for a sure strike that no hand under a pad, or just out from it, can have caused."""
    private = tx.private
    touched = max((tx.story.clocks.waiting.began, *(until for until, _ in private.left.values())))
    near = private.hands or event.hand or event.t - touched < HAND_S
    return event.sure and bool(event.pads) and not near


def count_early_hit(tx: Transaction, pad: int, struck: float) -> None:
    """Count a strike on `pad`, made too early, as the first hit: at once, or as soon as the hide is checked."""
    if tx.story.phase == "hit":
        play_hit(tx, pad, tx.by)
    else:
        tx.add(facts.StrikeKept(struck, (pad,), counts=True))


def is_one_stroke(story: Story, t: float) -> bool:
    """Return True if a hit at `t` may be the same stroke as the hit before it."""
    hits = story.hide.hits
    return story.phase == "hit" and bool(hits) and abs(t - hits[-1].t) < ONE_STROKE_S


def play_hit(tx: Transaction, pad: int, by: facts.Source) -> None:
    """Play a hit on `pad`: the sealed bead decides whether it found, or the judge if there is no seal."""
    bead = tx.sealed
    if bead is None:
        tx.ask("found", ("found", "missed"), (pad,))
    else:
        tx.play({"do": "hit", "found": bead.is_under(pad), "pad": pad}, by)


def watch_bead(tx: Transaction) -> None:
    """While a hit is due: seal an unsealed bead; ask about a dead disc or a bead that has moved."""
    private, story, bead = tx.private, tx.story, tx.sealed
    if story.hide.seal.state == "known":
        if not story.hide.hits:
            tx.hide_again("everybody has seen where the bead lay", "sensor")
            return
        tx.notice("place_known")
    moved = moved_reading(private, story)
    kept_first = moved is None or not story.hide.kept or story.hide.kept[0].t <= moved.t
    if (kept_first and offer_kept(tx)) or ask_of_dead_disc(tx):
        return
    reading, place, mode = private.reading, private.bead_pad(story), tx.settings.mode("bead_moved")
    if reading is None or not reading.sure:
        return
    if bead is None:
        if place is not None and story.hide.seal.may_seal:
            tx.seal_late(place)
    elif moved is None or (is_acted_on(tx.settings, story) and tx.t < moved.t + ORDER_S):
        return
    elif mode == "off":
        seal_again(tx)
    elif mode == "automatic" and not story.hide.hits:
        tx.foul(_moving(reading), "sensor", "bead_moved")
    else:  # after a hit, the strike itself may have moved it
        choices = ("play_on", "foul") if story.hide.hits else ("play_on", "hide_again", "foul")
        tx.ask("bead_moved", choices, foul=_moving(reading))


def is_acted_on(settings: RefereeSettings, story: Story) -> bool:
    """Return True if a moved bead is sealed again or called at once; else the judge is asked."""
    mode = settings.mode("bead_moved")
    return mode == "off" or (mode == "automatic" and not story.hide.hits)


def moved_reading(private: PrivateState, story: Story) -> BeadsAtRest | None:
    """Return the reading by which the sealed bead is not in its place, or None."""
    bead, reading, place = private.current_seal(story), private.reading, private.bead_pad(story)
    if bead is None or reading is None or not reading.sure or (place is not None and bead.is_under(place)):
        return None
    return reading


def ask_for_bead(tx: Transaction) -> None:
    """Notify that the bead must be shown, if both hits missed it and it still is on its sealed pad (chapter 12)."""
    story, place = tx.story, tx.private.bead_pad(tx.story)
    settled = any(isinstance(fact, facts.ActionPlayed) for fact in tx.facts)
    missed = story.hide.foul is None and story.hide.hits and not any(hit.found for hit in story.hide.hits)
    lay = story.opening is not None and story.opening.hide == story.hide.number and story.opening.pad == place
    if settled and missed and lay and place is not None and story.notice is None:
        tx.notice("show_bead", (place,))


def ask_of_dead_disc(tx: Transaction) -> bool:
    """Ask for the hit by hand if a strike on one of the pads would not be felt; return True if asked."""
    story = tx.story
    if not story.link.up or not story.sensors or not story.dead_pads or "disc_dead" in story.hide.waived_fouls:
        return False
    tx.ask("disc_dead", (*map(str, story.hittable_pads), "play_on"), story.dead_pads)
    return True


def _moving(reading: BeadsAtRest) -> str:
    """Return the foul of a moved bead. If it changed its pad, a hand must have gone under a pad again."""
    return bead_foul(reading) or "pad_twice"


def seal_again(tx: Transaction) -> None:
    """Accept a moved bead: withdraw the old commitment, and seal the bead in its new place."""
    bead, place = tx.sealed, tx.private.bead_pad(tx.story)
    if bead is not None and place is not None and bead.is_under(place):
        return
    tx.withdraw_commitment("the bead moved")
    if place is not None:
        tx.seal(place)
