"""The judge's console and its sign-in page: the pages, and their content for a view.

The pages are templates, filled with words and the state once; the script keeps them current from the very same content.
With scripts off the console shows the state and says that it needs scripts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.games.registry import kind
from pi_controller.show import phrases
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.names import inline, team_name
from pi_controller.show.words import game_name, word
from pi_controller.web.console_fields import Field, fields
from pi_controller.web.console_play import Button, Play, act
from pi_controller.web.game_page import page_of
from pi_controller.web.page_content import Past, board, past
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_controller.table.view import View

    Text = Callable[[str], str]
    Action = Mapping[str, Any]

BEAT_S = 5.0
"""How often a judge's page should hear that the line lives, seconds; after two beats missed it offers nothing."""
SETTLE_S = 1.5
"""So long after a turn was settled the next one cannot be entered, s: a slow second tap was meant for the last."""

PAST = 5
"""How many of the last hides or throws the console tells."""
MOST_NAMES = 12
"""So many names can be touched at the most to sign in."""

WORDS: Mapping[str, str] = {
    "title": mark("Judge"),
    "skip": mark("Skip to the buttons"),
    "live": mark("Live"),
    "stale": mark("Not live"),
    "as_of": mark("as of"),
    "needs_scripts": mark("This page needs scripts to send anything. It shows the table as it was when it was opened."),
    "the_table": mark("The table"),
    "play": mark("Play"),
    "sticks": mark("Sticks and points"),
    "waiting_for": mark("{time} since the last entry"),
    "left": mark("{time} left"),
    "out_of_time": mark("The time is up"),
    "soon": mark("Soon out of time"),
    "stopped": mark("Clock stopped"),
    "game_left": mark("game: {time} left"),
    "stop_clock": mark("Stop the clock"),
    "start_clock": mark("Clock runs on"),
    "undo": mark("Undo"),
    "cancel": mark("Cancel"),
    "fouls": mark("Fouls"),
    "foul_hider": mark("By the hiders"),
    "foul_hitter": mark("By the hitters"),
    "foul_none": mark("There is no foul to call now."),
    "protest": mark("Protest"),
    "protest_by": mark("Who protests?"),
    "protest_text": mark("What about, in a few words"),
    "protest_send": mark("Write the protest down: play stands"),
    "protest_team": mark("Touch the team that protests first."),
    "to_ruling": mark("Rule on the protest"),
    "ruling_reason": mark("Why (needed)"),
    "committee": mark("The committee decides the protest before play goes on."),
    "closing": mark("Close the game"),
    "closing_by": mark("Who is out?"),
    "closing_why": mark("Why are they out?"),
    "forfeit": mark("They give up"),
    "disqualified": mark("Disqualified"),
    "no_show": mark("Not there when called"),
    "closing_send": mark("Close the game for them"),
    "closing_first": mark("Touch who is out, and why they are."),
    "upheld": mark("Upheld"),
    "upheld_next": mark("Upheld. What follows from it is entered now."),
    "denied": mark("Denied"),
    "play_on": mark("Play goes on, decided later"),
    "reason_first": mark("Say in a few words why."),
    "table": mark("Table"),
    "hide_again": mark("The hide starts over"),
    "sensors_off": mark("Play without the sensors"),
    "sensors_on": mark("Play with the sensors again"),
    "sound_on": mark("Sound on"),
    "sound_off": mark("Sound off"),
    "log": mark("What was said"),
    "log_empty": mark("Nothing yet."),
    "undone": mark("taken back"),
    "hits": mark("Hits felt"),
    "hits_show": mark("Look again"),
    "hits_empty": mark("No hit was kept yet."),
    "hit_line": mark("Hide {hide}: pad {pads}"),
    "hit_unsure": mark("not sure"),
    "hit_picture": mark("What each pad felt around the hit: {text}"),
    "larger": mark("Larger"),
    "close": mark("Close"),
    "set": mark("Set the table"),
    "set_send": mark("The table stands so"),
    "set_fresh": mark("Fill in again as the table stands"),
    "set_help": mark("The whole score sheet as it shall stand. The hide in progress is void."),
    "past": mark("The last hides and throws"),
    "teams": mark("Team names"),
    "teams_help": mark("Until the first hit or throw. The next game keeps them."),
    "teams_name": mark("Team {letter}"),
    "teams_send": mark("The teams are called so"),
    "teams_both": mark("Enter both names."),
    "people": mark("People"),
    "people_add": mark("Let this person sign in"),
    "people_name": mark("Name"),
    "people_name_first": mark("Enter a name first."),
    "people_role": mark("As"),
    "people_new_pin": mark("New PIN"),
    "people_revoke": mark("Sign out everywhere"),
    "people_remove": mark("Remove"),
    "people_pin": mark("The PIN of {name}, shown this once:"),
    "people_sessions_0": mark("not signed in"),
    "people_sessions_1": mark("signed in on 1 device"),
    "people_sessions": mark("signed in on {n} devices"),
    "role_scorekeeper": mark("scorekeeper"),
    "role_judge": mark("judge"),
    "role_committee": mark("committee"),
    "role_head": mark("head judge"),
    "help": mark("Help"),
    "help_use": mark("Use the keys"),
    "help_pads": mark("1 to 4: touch a pad or a choice; 1 to 9: the buttons in order"),
    "help_found": mark("F: found"),
    "help_missed": mark("M: missed"),
    "help_hidden": mark("H: hidden, hands out"),
    "help_enter": mark("E: enter what was touched"),
    "help_undo": mark("U: undo"),
    "help_help": mark("?: this help"),
    "help_wrong": mark("Something was wrong? Undo takes the last thing back; nothing is ever lost."),
    "sign_out": mark("Sign out"),
    "sending": mark("Sending …"),
    "done": mark("Done"),
    "not_sent": mark("No answer yet: it is sent again until there is one. It counts once."),
    "give_up": mark("Stop sending"),
    "gave_up": mark("Not sent again. It may have counted: look at what was said."),
    "moved_on": mark("The table has moved on. Nothing was entered. Since then:"),
    "moved_nothing": mark("another picture of the table"),
    "just_changed": mark("The table has just changed: look, then touch again."),
    "off_stale": mark("No news from the table: the buttons wait."),
    "off_sending": mark("The last touch is still being sent."),
    "off_rules": mark("Not now, by the rules."),
    "touch_all": mark("Touch one in each row."),
    "touch_first": mark("Touch what shows first."),
    "block_second": mark("Now the holder at the guesser's right."),
    "shows": mark("Shows: {told}"),
    "worth": mark("worth {value}"),
    "nothing_red": mark("none"),
    "opened": mark("opened {pads}"),
    "struck": mark("struck {pad}"),
    "ball": mark("ball under {pad}"),
    "instead": mark("Instead of: {said}"),
    "failed": mark("That did not work."),
    "now": mark("The table now: {said}"),
}
"""Every fixed text of the console, by the name that the page and the script use."""
SIGN_IN_WORDS: Mapping[str, str] = {
    "title": mark("Judge: sign in"),
    "heading": mark("Judge"),
    "intro": mark("Sign in with your name and PIN."),
    "touch": mark("Touch your name, then enter your PIN."),
    "names": mark("Who signs in"),
    "name": mark("Name"),
    "pin": mark("PIN"),
    "show": mark("Show"),
    "hide": mark("Hide"),
    "erase": mark("Erase"),
    "digits": mark("Digits"),
    "send": mark("Sign in"),
    "sending": mark("Signing in …"),
    "needs_scripts": mark("Signing in needs scripts: allow them for this page, or use another browser."),
    "watch": mark("Only watching? The live page"),
    "no_answer": mark("The table does not answer. Check the network, then try again."),
    "wait": mark("Wait {n} s, then try again."),
    "both": mark("Enter your name and your PIN."),
}
"""Every fixed text of the sign-in page."""


class Asked(msgspec.Struct, frozen=True):
    """The open question in words, with a button for each answer."""

    title: str
    buttons: tuple[Button, ...]


class Again(msgspec.Struct, frozen=True):
    """How the last action is replaced: one `button`, or the form `play` by which it is entered again."""

    label: str
    button: Button | None = None
    play: Play | None = None


class Console(msgspec.Struct, frozen=True):
    """What the console shows and offers beside the live page's texts. `off` is why play cannot go on, or nothing.

    `sides` is HTML, escaped. `undo` says what would be taken back, nothing when there is nothing. `fields` are the
    score sheet's, for whoever may set it. `past` are the last hides or throws, newest first; `past_undo`: an undo takes
    back the last of what was done in them. `nameable`: who looks may name the teams now.
    """

    sides: str
    facts: tuple[str, ...]
    play: Play
    off: str
    undo: str
    question: Asked | None = None
    past: tuple[Past, ...] = ()
    past_undo: bool = False
    nameable: bool = False
    again: Again | None = None
    can_hide_again: bool = False
    fields: tuple[Field, ...] = ()


def console(
    view: View,
    legal: Sequence[Action],
    language: str = "en",
    *,
    undo: str = "",
    last: Action | None = None,
    options: Mapping[str, Any] | None = None,
    sets: bool = False,
    begins: bool = False,
    before: str | None = None,
    names: bool = False,
) -> Console:
    """Return what the console shows for `view`.

    `legal` are the actions the game allows, `undo` says what an undo takes back and `last` is the action among it, if
    it is one; `options` are the game's, `sets` is whether the one who looks may set the table, `begins` whether they
    may begin another game, `names` whether they may name the teams now. `before` is the team that hid in the hide just
    settled, where that is known.
    """
    text = catalogue(language).gettext
    waiting = view.phase in {"hide", "check", "hit", "guess"} and not view.hits and not view.opened
    return Console(
        sides=render("cards.html", language, cards=page_of(view).cards(view, language)),
        facts=_facts(view, text, language, before),
        play=page_of(view).play(view, legal, language, options, begins=begins),
        off=_off(view, text),
        undo=undo,
        question=_question(view, language),
        past=tuple(past(view, PAST, language)),
        past_undo=last is not None and bool(view.past) and kind(view.game).current(view.past[-1].actions[-1]) == last,
        nameable=names,
        again=_again(view, last, legal, language, options),
        can_hide_again=waiting and view.hide > 0,
        fields=fields(view, language) if sets else (),
    )


def _facts(view: View, text: Text, language: str, before: str | None) -> tuple[str, ...]:
    """Return short facts on the hide: its number, the situation, hits left, the last words called, a reminder."""
    facts: list[str] = []
    hiders = page_of(view).turn(view)
    if view.phase == "show" and hiders:
        template = text("Next: hide {n}, {team} hides")
        facts.append(template.format(n=view.hide + 1, team=inline(team_name(view, hiders))))
    elif view.hide:
        facts.append(text("Hide {n}").format(n=view.hide))
    if view.situation:
        facts.append(word(view.situation, language, view.game).shown)
    if view.owed and view.phase != "show":
        left = 2 if view.owed == "first" else 1
        facts.append(catalogue(language).ngettext("{n} hit left", "{n} hits left", left).format(n=left))
    facts += page_of(view).facts(view, language)
    if view.calls:
        facts.append(
            text("Called: {words}").format(words=", ".join(word(c, language, view.game).shown for c in view.calls))
        )
    if not view.sensors:
        facts.append(text("Sensors off"))
    if reminder := phrases.hiders_reminder(view, before, language):
        facts.append(reminder)
    return tuple(facts)


def _off(view: View, text: Text) -> str:
    if view.phase == "halted":
        return view.note or text("Play stops: the table cannot write its journal.")
    if view.held:
        template = text("Play stands: {team} protests. Rule on it below, or let play go on.")
        return template.format(team=inline(team_name(view, view.protest)))
    return ""


def _question(view: View, language: str) -> Asked | None:
    asked = view.question if view.phase not in {"halted", "over"} else None
    if asked is None:
        return None
    buttons = tuple(
        Button(
            f"answer-{one}",
            phrases.choice(one, language).capitalize(),
            {"judge": "answer", "answer": one},
            key=one if one.isdecimal() else "",
        )
        for one in asked.choices
    )
    return Asked(phrases.question(asked, language), buttons)


def _again(
    view: View, last: Action | None, legal: Sequence[Action], language: str, options: Mapping[str, Any] | None
) -> Again | None:
    page = page_of(view)
    if last is None or last.get("do") not in page.replaced:
        return None
    text = catalogue(language).gettext
    if last["do"] == "hit":
        found = not last["found"]
        label = text("Wrong: it was found") if found else text("Wrong: it was missed")
        return Again(label, Button("again", label, act({**last, "found": found}, again=True)))
    if last["do"] in {"toss", "lot"}:
        key = "winner" if last["do"] == "toss" else "first"
        other = "B" if last[key] == "A" else "A"
        label = text("Wrong: it was {team}").format(team=inline(team_name(view, other)))
        return Again(label, Button("again", label, act({**last, key: other}, again=True)))
    label = text("Wrong: it was something else")
    return Again(label, play=page.play(view, legal, language, options, again=last))


def _filled(template: str, words: Mapping[str, str], language: str, **values: Any) -> str:
    """Return a page of the console with its `words` in `language`, which the script takes too."""
    translated = {key: catalogue(language).gettext(value) for key, value in words.items()}
    return render(template, language, words=translated, as_json=msgspec.json.encode(translated).decode(), **values)


def sign_in(
    language: str = "en", names: Sequence[str] = (), home: str = "/judge", *, heading: str = "", back_s: float = 0.0
) -> str:
    """Return the sign-in page of the console at `home`, with another `heading` where one is given (marked, English).

    `names` are to be touched; of more than `MOST_NAMES` one's own is typed. After `back_s` seconds without a touch it
    goes back to the page everybody sees; 0 for never.
    """
    words = {**SIGN_IN_WORDS, "title": heading, "heading": heading} if heading else SIGN_IN_WORDS
    shown = names if len(names) <= MOST_NAMES else ()
    return _filled("sign_in.html", words, language, names=shown, home=home, back_s=f"{back_s:g}")


def page(
    view: View,
    content: Console,
    language: str = "en",
    *,
    as_of: str = "",
    me: str = "",
    beat_s: float = BEAT_S,
    settle_s: float = SETTLE_S,
) -> str:
    """Return the console with `content` in it, for `me` who is signed in; the script takes over from there."""
    shown = board(view, language)
    return _filled(
        "judge.html",
        WORDS,
        language,
        heading=game_name(view.game, language),
        sentence=shown.texts["sentence"],
        turn_worth=shown.texts.get("turn_worth", ""),
        link=shown.texts["link"],
        note=phrases.notice(view, language),
        as_of_time=as_of,
        me=me,
        beat=f"{beat_s:g}",
        settle=f"{settle_s:g}",
        facts=content.facts,
        sides=content.sides,
    )
