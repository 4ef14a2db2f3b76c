"""Sentences for players and judges: what the table waits for, the open question, fouls, faults and clocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pi_controller.games.base import other
from pi_controller.show.game_show import has_sheet, played, show_of, worth
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.names import inline, player_name, team_name
from pi_controller.show.words import plain, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_controller.referee.story import Turn
    from pi_controller.table.view import Asked, Hit, View

FOULS: Mapping[str, str] = {
    "pad_skipped": mark("The hider's hand did not go under all four pads."),
    "pad_twice": mark("The hider's hand went under a pad twice."),
    "no_bead": mark("There was no bead under the pads."),
    "two_beads": mark("More than one bead was hidden."),
    "bead_showing": mark("The bead was showing."),
    "bead_off_mat": mark("The bead lay between the pads or off the mat."),
    "left_position": mark("The hider left the place behind the pads."),
    "outside_help": mark("Someone outside the team helped."),
    "time": mark("The time to hit ran out."),
    "early_hit": mark("A pad was hit before the bead was seen to lie well."),
    "bead_moved": mark("The bead was moved after it was hidden."),
    "rehide": mark("A bone moved after the hands were out."),
    "double_tap": mark("The bowl was tapped twice in one turn."),
    "no_throw": mark("The bowl was tapped twice in one turn."),
}
"""The fouls of chapter 12 in plain words, and what the mat can see in the other games."""

QUESTIONS: Mapping[str, str] = {
    "two_struck": mark("More than one pad was touched. Which was first?"),
    "several_struck": mark("Shook at once: something may have fallen on the mat. Was it a hit?"),
    "disc_dead": mark("Strokes there are not felt. Which pad was hit?"),
    "beside_dead": mark("A stroke was felt there, but strokes on another pad are not. Which pad was hit?"),
    "doubtful": mark("Touched faintly, or with a hand there. Was it a hit?"),
    "same_pad": mark("The second hit touched the pad of the first. Which pad counts?"),
    "early_hit": mark("A pad was hit too early. Play on?"),
    "link_gap": mark("The mat was not heard for a moment. Was there a hit?"),
    "bead_moved": mark("The bead moved after it was hidden. Play on?"),
    "no_reading": mark("The mat cannot tell where the bead is. Play on by eye?"),
    "passes_unsure": mark("The mat is not sure that the hand went under every pad once. Was it a foul?"),
    "foul": mark("The mat saw what may be a foul. Was it one?"),
    "found": mark("Was the bead found?"),
    "balls": mark("There is not one ball under each pad, or not one marked. Play on?"),
    "ball": mark("The mat did not see the balls. Under which pad did the marked ball lie?"),
    "sealed_again": mark(
        "The seal of this hide was withdrawn, and nobody knows whether what is hidden lies where it lay. Play on: it "
        "is sealed as it lies now. By eye: the judge says what is found. Which?"
    ),
    "ball_moved": mark("The marked ball moved after it was hidden. Play on?"),
    "lifted": mark("A hand was at the edge of the pad. Was the pad opened?"),
    "opened": mark("The pad was opened. Did the marked ball lie there?"),
    "opened_pad": mark("The stroke touched a pad that was opened. Which pad counts?"),
    "too_many": mark(
        "One more pad was opened than may be. Play on: it does not count and is closed again. Counts as opened: where "
        "the marked ball lay there the attempt is over, else it goes on. Hide again: the hide starts over. Which?"
    ),
    "bones": mark("The mat does not see one bone for each holder. Play on by eye?"),
    "actual": mark("The mat did not see the bones. Which guess would have caught them?"),
    "time": mark("The game's time has run out. Is the game over?"),
    "puzzled": mark("The table cannot tell what follows by the rules. See that it stands right. Play on?"),
}
"""What the mat asks the judge, by `Asked.about`."""
_AFTER_A_STROKE = mark("The bead lies elsewhere since the stroke: that may have moved it. Play on?")

NOTICES: Mapping[str, str] = {
    "nobody_hid": mark("Ready was pressed, but no hand has been under a pad since the last hide: nothing begins yet."),
    "touch_passed_over": mark("A touch was in doubt and did not count."),
    "hide_time": mark("The time to hide has run out."),
    "hand_out": mark("The hand is out: the question is settled."),
    "bead_seen": mark("The mat sees now what lies there: the question is settled."),
    "bead_there": mark("It lies where it was hidden: the question is settled."),
    "link_back": mark("The mat is heard again and nothing has moved: the question is settled."),
    "disc_back": mark("Strokes are felt again on every pad: the question is settled."),
    "hit_felt": mark("The stroke was felt: the question is settled."),
    "pad_opened": mark("The pad was opened: the question is settled."),
}
"""What people are to know and nobody has to answer, by `Notice.about`."""

CHOICES: Mapping[str, str] = {
    "yes": mark("yes"),
    "no": mark("no"),
    "found": mark("found"),
    "missed": mark("not found"),
    "none": mark("no hit"),
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
}

_FAR_S = 86_400.0

_WORTH: Mapping[str, str] = {
    "wheya": mark("{hitter} has four sticks left to give: a find on the second hit is a point for {hider}."),
    "sahdogan": mark("For a point: {hitter} must find the bead on the first hit."),
    "yawapi": mark("For a point: {hitter} must find the bead on the first hit."),
    "eyeya": mark("{hitter} scores by finding the bead on the first hit."),
}


def _names(view: View) -> dict[str, str]:
    hider = view.hider if view.hider in {"A", "B"} else "A"
    hitter = other(hider)
    return {"hider": inline(team_name(view, hider)), "hitter": inline(team_name(view, hitter))}


def past(view: View, turn: Turn, language: str = "en") -> str:
    """Return what was done in a hide, or in a throw, with the words called: `Missed · Found at pad 4 · Paguga`."""
    done = [played(view.game, action, view.teams, language) or plain(str(action["do"])) for action in turn.actions]
    return " · ".join((*done, *(word(call, language, view.game).shown for call in turn.calls)))


def sentence(view: View, language: str = "en") -> str:
    """Return the one thing the table is waiting for, e.g. `First hit: Team B`."""
    text = catalogue(language).gettext
    names = _names(view)
    match view.phase:
        case "halted":
            return text("Play stops: the table cannot write its journal.")
        case _ if view.held:
            return text("Protest by {team}: play stands").format(team=inline(team_name(view, view.protest)))
        case _ if view.winner and view.sheet.get("finish") == "forfeit":
            return text("{winner} wins by forfeit").format(winner=inline(player_name(view, view.winner)))
        case _ if has_sheet(view) and view.question is None:
            show, winner = show_of(view.game), view.sheet.get("winner")
            return show.won(view, winner, language) if winner else show.sentence(view, language)
        case "over" if view.winner in {"A", "B"}:
            winner, loser = view.winner, other(view.winner)
            return text("{winner} wins, {won} to {lost}").format(
                winner=inline(team_name(view, winner)), won=view.short.get(winner, 0), lost=view.short.get(loser, 0)
            )
        case "over":
            return text("The game is over")
        case _ if view.question is not None:
            return text("The judge decides")
        case "toss":
            return text("The coin toss: the winner hides first")
        case "check":
            return text("Hands away: the mat checks the bead")
        case "show":
            return result(view, language) or text("The bead is shown: {hider} hide next").format(**names)
        case "hit" if view.owed == "second":
            return text("Second hit: {hitter}").format(**names)
        case "hit":
            return text("First hit: {hitter}").format(**names)
        case _ if view.hider is None:
            return text("The bead is hidden")
        case _:
            return text("{hider} hides the bead").format(**names)


def result(view: View, language: str = "en") -> str:
    """Return in a sentence what came of the last hide, hit or throw, for everybody to read at once.

    `Found at the first hit: four sticks to Long Hollow, who hide next`. Nothing where nothing came yet.
    """
    return "" if view.phase == "halted" or view.held else show_of(view.game).result(view, language)


def outcome(view: View, language: str = "en") -> str:
    """Return what came of the last hit, throw or guess, with what is counted now; nothing where nothing came yet."""
    text = catalogue(language).gettext
    if has_sheet(view):
        parts = [worth(view.sheet.get("value"), language)]
    else:
        parts = [foul(view.foul, language).rstrip(".")] if view.foul else []
        parts += [hit(len(view.hits), view.hits[-1], language)] if view.hits else []
    if parts == [] or not (parts[0] or view.calls):
        return ""
    if view.calls:
        words = ", ".join(word(call, language, view.game).shown for call in view.calls)
        parts.append(text("Called: {words}").format(words=words))
    if has_sheet(view):
        return ". ".join(filter(None, (*parts, show_of(view.game).counted(view, language))))
    if view.phase == "hit":
        return ". ".join(parts)  # the second hit is owed, and nothing has moved
    opened = view.opening
    if opened is not None and opened.hide == view.hide:
        parts.append(text("The bead was under pad {pad}").format(pad=opened.pad))
    long = {team.lower(): f"{inline(team_name(view, team))} {view.long.get(team, 0)}" for team in ("A", "B")}
    parts.append(text("Sticks: {a}, {b}, in the middle {middle}").format(**long, middle=view.middle))
    return ". ".join(parts)


def turn_worth(view: View, language: str = "en") -> str:
    """Return what the hide is for when it is more than sticks (wheya, sahdogan, yawapi, eyeya), else nothing.

    In a game told by its score sheet: what is special about this turn, or what the last throw was worth.
    """
    if has_sheet(view):
        done = view.phase == "halted" or view.sheet.get("winner")
        return "" if done else show_of(view.game).turn_worth(view, language)
    worth_text = _WORTH.get(view.situation or "")
    only_second_left = view.owed == "second" and view.situation not in {None, "wheya"}
    if worth_text is None or view.hider is None or only_second_left or view.phase in {"over", "halted", "toss", "show"}:
        return ""
    return catalogue(language).gettext(worth_text).format(**_names(view))


def hiders_reminder(view: View, before: str | None, language: str = "en") -> str:
    """Return what a judge of Hampa Apena reminds the hiders of before a hide; nothing at any other time.

    A new hider's moccasins are shaken out (chapter 12), and a team that was not found keeps its hider (chapter 2).
    `before` is the team that hid in the hide just settled, where that is known (`Game.hiders_before`).
    """
    if has_sheet(view) or view.phase not in {"hide", "show"} or view.hider is None:
        return ""
    text, by_foul = catalogue(language).gettext, "foul" in view.calls
    if before == view.hider:
        template = text("{hider} hides again: no change of hiders until the bead is found.")
        if "paguga" in view.calls and not by_foul:
            template = text("{hider} hides again. The hider may change now: then shake out the moccasins.")
    elif before is not None or by_foul or view.hide <= 1:
        template = text("{hider} hides: a new hider. Shake out the moccasins.")
    else:
        return ""
    return template.format(**_names(view))


def standing(view: View, language: str = "en") -> str:
    """Return how the table stands when it is not as usual: a protest put off, the clock stopped, the sensors off."""
    text, parts = catalogue(language).gettext, list[str]()
    if view.protest and not view.held:
        team = inline(team_name(view, view.protest))
        parts.append(text("Protest by {team}: play goes on before it is decided.").format(team=team))
    if view.paused is not None:
        parts.append(text("The clock is stopped."))
    if not view.sensors:
        parts.append(text("The mat’s sensors are off: the judge enters what happens."))
    return " ".join(parts)


def limit_label(view: View, language: str = "en") -> str:
    """Return what the time is for that `until` ends."""
    text = catalogue(language).gettext
    return text("Time to hide") if view.phase == "hide" else text("Time to hit")


def until(view: View) -> float | None:
    """Return when the hit or the hiding must be done, seconds on the table's clock; None while that has no end."""
    return None if view.limit is None else view.since + view.limit


def remaining(end: float | None, t: float) -> str:
    """Return the time from `t` to `end` as minutes and seconds, `0:00` when it is over, nothing for no end.

    An end a day off is on another clock, a simulated game's: nothing is said of it.
    """
    if end is None or abs(end - t) >= _FAR_S:
        return ""
    minutes, seconds = divmod(max(0, math.ceil(end - t)), 60)
    return f"{minutes}:{seconds:02}"


def clocks(view: View, t: float, language: str = "en") -> list[str]:
    """Return the times that run at `t`, each with what it is for: `Time to hit 0:23`. A stopped clock stands."""
    running = (
        (limit_label(view, language), until(view), view.stood),
        (catalogue(language).gettext("Time left"), view.ends, view.ends_stood),
    )
    return [
        f"{label} {left}" for label, end, stood in running if (left := remaining(end, t if stood is None else stood))
    ]


def listed(pads: Iterable[object], language: str = "en") -> str:
    """Return pads as one says them: `1, 2 and 4`."""
    *most, last = map(str, pads)
    both = catalogue(language).gettext("{pads} and {last}")
    return both.format(pads=", ".join(most), last=last) if most else last


def question(asked: Asked, language: str = "en") -> str:
    """Return the judge's question in plain words, with the pads it is about."""
    text = catalogue(language).gettext
    sentence_text = text(QUESTIONS[asked.about]) if asked.about in QUESTIONS else f"{plain(asked.about)}?"
    if asked.about == "bead_moved" and "hide_again" not in asked.choices:
        sentence_text = text(_AFTER_A_STROKE)
    if not asked.pads:
        return sentence_text
    about = catalogue(language).ngettext("Pad {pads}.", "Pads {pads}.", len(asked.pads))
    return f"{about.format(pads=listed(asked.pads, language))} {sentence_text}"


def unasked(asked: Asked, language: str = "en") -> str:
    """Return what follows where nobody answers `asked`, or nothing where it waits: `If nobody answers: no hit`."""
    if not asked.unasked:
        return ""
    template = catalogue(language).gettext("If nobody answers: {answer}")
    return template.format(answer=choice(asked.unasked, language))


def notice(view: View, language: str = "en") -> str:
    """Return what people are to know: a notice of the mat, else the host's note; nothing when there is neither."""
    if view.notice is None or view.phase == "halted":
        return view.note
    text = catalogue(language).gettext
    sentence_text = text(NOTICES[view.notice.about]) if view.notice.about in NOTICES else f"{plain(view.notice.about)}."
    if not view.notice.pads:
        return sentence_text
    about = catalogue(language).ngettext("Pad {pads}.", "Pads {pads}.", len(view.notice.pads))
    return f"{about.format(pads=listed(view.notice.pads, language))} {sentence_text}"


def choice(answer: str, language: str = "en") -> str:
    """Return one answer of a question in plain words: a pad's number, a known word, a foul, or as it is written."""
    text = catalogue(language).gettext
    if answer.isdecimal():
        return text("pad {pad}").format(pad=answer)
    if answer in CHOICES:
        return text(CHOICES[answer])
    return plain(answer).lower()


def foul(kind: str, language: str = "en") -> str:
    """Return what was wrong, one sentence."""
    return catalogue(language).gettext(FOULS[kind]) if kind in FOULS else f"{plain(kind)}."


def faults(view: View, language: str = "en") -> str:
    """Return what the mat cannot feel, pad by pad, as short sentences; nothing when all is well."""
    text = catalogue(language).gettext
    deaf = sorted({fault.pad for fault in view.faults if fault.sensor == "disc"})
    numb = sorted({fault.pad for fault in view.faults if fault.sensor == "strip"})
    sentences: list[str] = []
    for pads, one in (
        (deaf, text("Strokes are not felt on {pads}: the judge enters them.")),
        (numb, text("Hands are not felt for sure on {pads}: the judge watches them.")),
    ):
        if pads:
            which = catalogue(language).ngettext("pad {pads}", "pads {pads}", len(pads))
            sentences.append(one.format(pads=which.format(pads=listed(pads, language))))
    return " ".join(sentences)


def hit(number: int, one: Hit, language: str = "en") -> str:
    """Return the hit with its number (1 or 2) as words: `First hit, pad 2: not found`."""
    text = catalogue(language).gettext
    order = text("First hit") if number == 1 else text("Second hit")
    where = text("{order}, pad {pad}").format(order=order, pad=one.pad) if one.pad is not None else order
    return text("{hit}: found").format(hit=where) if one.found else text("{hit}: not found").format(hit=where)
