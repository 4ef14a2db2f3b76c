"""Sentences for players and judges: the expected action, the open question, fouls, faults and clocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pi_controller.display.game_display import get_show, key_to_words
from pi_controller.display.i18n import Translator
from pi_controller.display.shown_names import isolate_name, player_name, team_name
from pi_controller.referee.story import PlayedTurn
from pi_controller.sensing.events import HUM
from pi_controller.text import mark

if TYPE_CHECKING:
    from pi_controller.table.view import Hit, QuestionView, View

NO_TEAMS: Mapping[str, str] = {}
"""Without names the teams are called by their letters."""
FOULS: Mapping[str, str] = {
    "pad_skipped": mark("The hider's hand did not go under all four pads."),
    "pad_twice": mark("The hider's hand went under a pad twice."),
    "no_bead": mark("There was no bead under the pads."),
    "two_beads": mark("More than one bead was hidden."),
    "bead_showing": mark("The bead was showing."),
    "bead_off_mat": mark("The bead was between the pads or off the mat."),
    "left_position": mark("The hider left their place behind the pads."),
    "outside_help": mark("Someone outside the team helped."),
    "time": mark("The time to hit ran out."),
    "early_hit": mark("A pad was hit before the bead had been checked."),
    "bead_moved": mark("The bead was moved after it was hidden."),
    "rehide": mark("A bone moved after the hands were out."),
    "double_tap": mark("The bowl was tapped twice in one turn."),
    "no_throw": mark("The bowl was tapped twice in one turn."),
}
"""The fouls of chapter 12 in plain words, and those the mat can detect in the other games."""

QUESTIONS: Mapping[str, str] = {
    "two_struck": mark("More than one pad was touched. Which was first?"),
    "several_struck": mark("Several pads shook at once: something may have fallen on the mat. Was it a hit?"),
    "disc_dead": mark("The mat does not feel hits there. Which pad was hit?"),
    "beside_dead": mark("A hit was felt there, but another pad cannot feel hits. Which pad was hit?"),
    "doubtful": mark("A faint touch, or a hand was there. Was it a hit?"),
    "same_pad": mark("The second hit touched the same pad as the first. Which pad counts?"),
    "early_hit": mark("Count it as the first hit, play on, or hide again?"),
    "one_stroke": mark("It came within a second of the first hit: was it a second hit, or the same stroke?"),
    "link_gap": mark("The mat was disconnected for a moment. Was there a hit?"),
    "bead_moved": mark("The bead moved after it was hidden. Play on?"),
    "no_reading": mark("The mat cannot tell where the bead is. Play on by eye?"),
    "passes_unsure": mark("The mat is not sure of it. Was it a foul?"),
    "hitters_hand": mark("A hitter's hand was under the pad while the bead was hidden. Play on?"),
    "hand_again": mark("A hand was under the pad after ready was pressed. Play on, hide again, or call a foul?"),
    "peek": mark(
        "A hitter's hand was under a pad that was not struck. The clock is still running. Does it count as a hit?"
    ),
    "foul": mark("Was it a foul?"),
    "found": mark("Was the bead found?"),
    "two_magnets": mark("The mat reads two magnets on one pad. Play on, as one bead, for the rest of the game?"),
    "balls": mark("The mat does not see exactly one ball under each pad and one marked ball. Play on?"),
    "ball": mark("The mat did not see the balls. Which pad was the marked ball under?"),
    "sealed_again": mark(
        "The seal of this hide no longer counts, and the bead may have moved. “Play on”: the mat seals the place "
        "again. “By eye”: the judge says what was found. What now?"
    ),
    "ball_moved": mark("The marked ball moved after it was hidden. Play on?"),
    "lifted": mark(
        "A hand was at the pad, but the mat cannot tell whose, or whether it went under. Did the shooter open the pad?"
    ),
    "opened": mark("The pad was opened. Was the marked ball there?"),
    "opened_pad": mark("The hit touched an open pad. Which pad counts?"),
    "too_many": mark(
        "One pad too many was opened. “Play on”: close it again, it does not count. “Counts as opened”: the attempt "
        "is over if the marked ball was there. “Hide again”: the hide starts over. What now?"
    ),
    "bones": mark("The mat does not see one bone in each hand. Play on by eye?"),
    "actual": mark("The mat did not see the bones. Which guess would have caught them?"),
    "time": mark("The game's time has run out. Is the game over?"),
    "late_hit": mark(
        "The hit came up to 1.5 seconds too late. Does it count as the first hit, as the second (the time ran out "
        "on the first), or not at all?"
    ),
    "struck_meanwhile": mark("A pad was struck while the game was stopped. Was it the hit?"),
    "hand_stays": mark("A hand seems to be under a pad, so the hitters' clock is stopped. Start the clock again?"),
    "puzzled": mark("The table cannot work out what comes next. Check the score. Play on?"),
    "recovered": mark(
        "The record of the game was damaged. It is recovered up to this hide. Check the score. Play on, or start a "
        "new game?"
    ),
    "record_lost": mark(
        "The record of the last game was damaged and could not be read. The damaged file is kept. This is a new game. "
        "Play on?"
    ),
}
"""The mat's questions to the judge, by `Question.about`."""
_AFTER_A_STROKE = mark("The bead has moved since the hit: the hit may have moved it. Play on?")

NOTICES: Mapping[str, str] = {
    "nobody_hid": mark("Ready was pressed too early: no hand has been under a pad since the last hide."),
    "others_ready": mark("The other team pressed ready: only the hiders' own button counts."),
    "ready_withdrawn": mark("Ready was pressed too early. Finish hiding, then press ready again."),
    "foul_settled": mark("The last hide ended with a foul. Show the bead, press shown, then the next hide begins."),
    "show_bead": mark("The bead is still hidden. Show the bead."),
    "other_board": mark("Another board is connected than before. See that each mat has its own cable."),
    "time_off": mark("The clock no longer ends the game: enter “time” when it is over."),
    "lift_bead": mark("The bead still lies under a pad. Take it up: then the next hide begins."),
    "touch_passed_over": mark("A doubtful touch did not count."),
    "hide_time": mark("The time to hide is up."),
    "waved_on": mark("The mat is not sure of a hand. The judge let play go on three times, so it does not ask again."),
    "struck_in_time_out": mark("A pad was struck while the clock was stopped: it does not count."),
    "place_known": mark("Everybody has seen the bead: the judge enters the second hit or undoes the first."),
    "seal_disagrees": mark("The bead was sealed there, but a different result was entered."),
    "hand_out": mark("The hand is out: the question is settled."),
    "bead_seen": mark("The mat can see it now: the question is settled."),
    "bead_there": mark("It is back in its place: the question is settled."),
    "link_back": mark("The mat is connected again and the bead has not moved: the question is settled."),
    "disc_back": mark("All pads feel hits again: the question is settled."),
    "hit_felt": mark("The hit was felt: the question is settled."),
    "hiding": mark("Hiding continues: the question is settled."),
    "pad_opened": mark("The pad was opened: the question is settled."),
}
"""Notices that need no answer, by `Notice.about`."""

CHOICES: Mapping[str, str] = {
    "yes": mark("yes"),
    "no": mark("no"),
    "found": mark("found"),
    "missed": mark("not found"),
    "none": mark("no hit"),
    "first": mark("the first hit"),
    "second": mark("the second hit"),
    "foul": mark("a foul"),
    "hide_again": mark("hide again"),
    "play_on": mark("play on"),
    "by_eye": mark("by eye"),
    "counts": mark("counts as opened"),
    "time": mark("the game is over"),
    "left": mark("left"),
    "right": mark("right"),
    "inside": mark("inside"),
    "outside": mark("outside"),
    "new_game": mark("a new game"),
}

VOID_REASONS: Mapping[str, str] = {
    "changed": mark("The director corrected an earlier result, so other teams play this match."),
    "decided": mark("The result of this match is entered."),
    "moved": mark("The director moved this match to another table."),
    "recalled": mark("The director took this match away from this table."),
}
"""Why the game at this table no longer counts, by `judge.VoidReason`."""
_VOID_SENTENCES: Mapping[str, tuple[str, str]] = {
    "decided": (mark("Stop playing: this match is decided"), mark("Wait for the next match: this one is decided")),
    "moved": (
        mark("Stop playing: this match goes on at another table"),
        mark("Wait for the next match: this one goes on at another table"),
    ),
    "recalled": (
        mark("Stop playing: this match no longer counts"),
        mark("Wait for the next match: this one does not count"),
    ),
}
"""By the reason, what the people at the table do: while they play, and while they do not."""
_OTHER_CLOCK_S = 86_400.0


class Phrases:
    """Sentences on a table's view, in the language of `tr`."""

    def __init__(self, tr: Translator) -> None:
        self.tr = tr

    def describe_turn(self, view: View, turn: PlayedTurn) -> str:
        """Return the actions of a hide or throw with the called words: `Missed · Found at pad 4 · Paguga`."""
        show = get_show(view.game, self.tr)
        done = (show.describe_action(one, view.teams) or key_to_words(str(one["do"])) for one in turn.actions)
        return " · ".join((*done, *(show.word(call).shown for call in turn.calls)))

    def sentence(self, view: View) -> str:
        """Return the one action that the table is waiting for, e.g. `First hit: Team B`."""
        show = get_show(view.game, self.tr)
        match view.phase:
            case "halted":
                return self.tr.text("Stop playing: the table cannot save the game.")
            case phase if view.void:
                waits = phase == "over" or view.free  # the game has not begun, or is closed
                return self.tr.text(_VOID_SENTENCES.get(view.void, _VOID_SENTENCES["recalled"])[waits])
            case _ if view.held:
                return self.tr.text(
                    "Protest by {team}: play is stopped", team=isolate_name(team_name(view, view.protest))
                )
            case _ if view.winner and view.sheet.get("finish") == "forfeit":
                return self.tr.text("{winner} wins by forfeit", winner=isolate_name(player_name(view, view.winner)))
            case _ if view.winner:
                return show.describe_win(view, view.winner)
            case "over":
                return self.tr.text("The game is over")
            case _ if view.question is not None:
                return self.tr.text("The judge decides")
            case _:
                return show.sentence(view)

    def result(self, view: View) -> str:
        """Return the result of the last hide, hit or throw as a sentence, for everybody to read at once.

        `Found at the first hit: four sticks to Long Hollow, who hide next`. "" if there is none yet.
        """
        return "" if view.phase == "halted" or view.held else get_show(view.game, self.tr).result(view)

    def outcome(self, view: View) -> str:
        """Return the result of the last hit, throw or guess with the current counts; "" if there is none yet."""
        show = get_show(view.game, self.tr)
        parts = show.describe_event(view)
        if not parts and not view.calls:
            return ""
        if view.calls:
            parts.append(self.list_calls(view))
        if view.phase != "hit":  # else the second hit is still to come, and no sticks have moved
            parts.append(show.describe_counts(view))
        return ". ".join(parts)

    def list_calls(self, view: View) -> str:
        """Return the called words: `Called: Wheya, Obojun`."""
        return self.tr.text("Called: {words}", words=get_show(view.game, self.tr).list_words(view.calls))

    def describe_stakes(self, view: View) -> str:
        """Return the special stakes of this hide or turn, else ""."""
        if view.phase in {"halted", "over"} or view.winner:
            return ""
        return get_show(view.game, self.tr).describe_stakes(view)

    def describe_status(self, view: View) -> str:
        """Return unusual states of the table, else "": a deferred protest, a stopped clock, sensors off."""
        parts = list[str]()
        if view.protest and not view.held:
            team = isolate_name(team_name(view, view.protest))
            parts.append(self.tr.text("Protest by {team}: play continues, the decision comes later.", team=team))
        if view.paused is not None:
            parts.append(self.tr.text("The clock is stopped."))
        if not view.sensors:
            parts.append(self.tr.text("The mat’s sensors are off: the judge enters what happens."))
        return " ".join(parts)

    def limit_label(self, view: View) -> str:
        """Return the label of the time limit that ends at `turn_deadline`."""
        return self.tr.text("Time to hide") if view.phase == "hide" else self.tr.text("Time to hit")

    def clocks(self, view: View, t: float) -> list[str]:
        """Return the times running at `t` with their labels: `Time to hit 0:23`. A stopped clock keeps its value."""
        running = (
            (self.limit_label(view), turn_deadline(view), view.stood),
            (self.tr.text("Time left"), view.ends, view.ends_stood),
        )
        return [
            f"{label} {left}"
            for label, end, stood in running
            if (left := remaining(end, t if stood is None else stood))
        ]

    def join_pads(self, pads: Iterable[object]) -> str:
        """Return pads as a spoken list: `1, 2 and 4`."""
        *most, last = map(str, pads)
        return self.tr.text("{pads} and {last}", pads=", ".join(most), last=last) if most else last

    def question(self, asked: QuestionView, teams: Mapping[str, str] = NO_TEAMS) -> str:
        """Return the judge's question: its pads, the foul, the team it would fall on, and what it costs."""
        sentence_text = (
            self.tr.text(QUESTIONS[asked.about]) if asked.about in QUESTIONS else f"{key_to_words(asked.about)}?"
        )
        if asked.about == "bead_moved" and "hide_again" not in asked.choices:
            sentence_text = self.tr.text(_AFTER_A_STROKE)
        parts = [self._about_pads(asked.pads)] if asked.pads else []
        parts += self.suspected_foul(asked.foul, asked.against, teams)
        then = (self.join_pads(stroke.pads) for stroke in asked.struck)
        struck = (self.tr.text("Struck after that: pad {pads}.", pads=pads) for pads in then)
        return " ".join([*parts, sentence_text, *self._foul_cost(asked, teams), *struck])

    def suspected_foul(self, kind: str, against: str, teams: Mapping[str, str] = NO_TEAMS) -> list[str]:
        """Return the sentence that names a suspected foul and the side that it would fall on; [] if there is none."""
        if not kind:
            return []
        if not against:
            return [self.foul(kind)]
        team = isolate_name(teams.get(against, against))
        return [self.tr.text("Perhaps a foul of {team}: {foul}", team=team, foul=self.foul(kind))]

    def _foul_cost(self, asked: QuestionView, teams: Mapping[str, str]) -> list[str]:
        """Return what each answer costs; [] if no answer is a foul."""
        cost = asked.cost
        if cost is None:
            return []
        names = {"team": isolate_name(teams.get(cost.to, cost.to)), "n": cost.sticks}
        if cost.point:
            given = self.tr.text("A foul: a point for {team}.")
        elif not cost.sticks:
            given = (
                self.tr.text("A foul: {team} hides next.")
                if cost.hides == cost.to
                else self.tr.text("A foul: no sticks change hands.")
            )
        elif cost.hides == cost.to:
            given = self.tr.text("A foul: {n} sticks to {team}, who hides next.")
        else:
            given = self.tr.text("A foul: {n} sticks to {team}.")
        return [given.format(**names), self.tr.text("Any other answer costs nothing.")]

    def describe_default_answer(self, asked: QuestionView) -> str:
        """Return the result if the question `asked` stays unanswered: `If nobody answers: no hit`; "" if it waits."""
        if not asked.unasked:
            return ""
        return self.tr.text("Without an answer: {answer}", answer=self.choice(asked.unasked))

    def notice(self, view: View) -> str:
        """Return why the match does not count, else a notice of the mat, else the host's note; "" if there is none."""
        if view.void and view.phase != "halted":
            return self.tr.text(VOID_REASONS.get(view.void, VOID_REASONS["changed"]))
        if view.notice is None or view.phase == "halted":
            return self.tr.parts(view.note)
        sentence_text = (
            self.tr.text(NOTICES[view.notice.about])
            if view.notice.about in NOTICES
            else f"{key_to_words(view.notice.about)}."
        )
        if not view.notice.pads:
            return sentence_text
        return f"{self._about_pads(view.notice.pads)} {sentence_text}"

    def _about_pads(self, pads: Sequence[int]) -> str:
        return self.tr.plural("Pad {pads}.", "Pads {pads}.", len(pads), pads=self.join_pads(pads))

    def choice(self, answer: str) -> str:
        """Return one answer of a question: a pad's number, a known word, a foul, or the answer itself as words."""
        if answer.isdecimal():
            return self.tr.text("pad {pad}", pad=answer)
        if answer in CHOICES:
            return self.tr.text(CHOICES[answer])
        return key_to_words(answer).lower()

    def foul(self, kind: str) -> str:
        """Return the foul `kind` as a sentence."""
        return self.tr.text(FOULS[kind]) if kind in FOULS else f"{key_to_words(kind)}."

    def faults(self, view: View) -> str:
        """Return the pads with failed sensors as short sentences; "" if all are well."""
        deaf = sorted({fault.pad for fault in view.faults if fault.sensor == "disc" and fault.why != HUM})
        humming = sorted({fault.pad for fault in view.faults if fault.sensor == "disc" and fault.why == HUM})
        numb = sorted({fault.pad for fault in view.faults if fault.sensor == "strip"})
        return " ".join(
            self.tr.text(
                sentence, pads=self.tr.plural("pad {pads}", "pads {pads}", len(pads), pads=self.join_pads(pads))
            )
            for pads, sentence in (
                (deaf, mark("The mat does not feel hits on {pads}: the judge enters them.")),
                (humming, mark("Hum of the mains hides the softest hits on {pads}: move chargers and cables away.")),
                (numb, mark("The mat may not feel hands on {pads}: the judge watches them.")),
            )
            if pads
        )

    def hit(self, number: int, one: Hit) -> str:
        """Return the hit with its number (1 or 2) as words: `First hit, pad 2: not found`."""
        order = self.tr.text("First hit") if number == 1 else self.tr.text("Second hit")
        where = self.tr.text("{order}, pad {pad}", order=order, pad=one.pad) if one.pad is not None else order
        return self.tr.text("{hit}: found", hit=where) if one.found else self.tr.text("{hit}: not found", hit=where)


def turn_deadline(view: View) -> float | None:
    """Return when the hit or the hiding must be done, seconds on the table's clock; None without a limit."""
    return None if view.limit is None else view.since + view.limit


def remaining(end: float | None, t: float) -> str:
    """Return the time from `t` to `end` as minutes and seconds, `0:00` after the end, "" for None.

    An end more than a day away belongs to a simulated game's clock: it also returns "".
    """
    if end is None or abs(end - t) >= _OTHER_CLOCK_S:
        return ""
    minutes, seconds = divmod(max(0, math.ceil(end - t)), 60)
    return f"{minutes}:{seconds:02}"


def describe_clock_set(by_s: float, tr: Translator) -> str:
    """Return a sentence about the machine's clock, which was set by `by_s` s (negative: back)."""
    if by_s > 0:
        return tr.text("The machine’s clock was set forward by {n} s.", n=round(by_s))
    return tr.text("The machine’s clock was set back by {n} s.", n=round(-by_s))
