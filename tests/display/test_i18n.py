"""A language nobody speaks shows what escaped gettext: on the terminal, on every page, on the judge's console."""

from __future__ import annotations

import itertools

import pytest
from phases import NOW, PHASES, PLAYERS, TEAMS
from played import view_of
from pseudo import CODE, OPEN, SHUT, escaped, escaped_of_page
from travel import travelling
from visit import visitor

from pi_controller.board.serial_port import board_gone_error, no_board_error, port_busy_error
from pi_controller.display import i18n, phrases
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH, translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.terminal import render_text
from pi_controller.errors import SettingsError
from pi_controller.rules import registry
from pi_controller.sensing.events import SensorFault
from pi_controller.table.view import QuestionView
from pi_controller.web import console_page
from pi_controller.web.address import PageSettings
from pi_controller.web.check_page import check_page
from pi_controller.web.feed import Feed
from pi_controller.web.frames import FRAMES, frame_page
from pi_controller.web.game_page import page_of
from pi_controller.web.public_pages import find_page
from pi_controller.web.server import WebServer
from pi_controller.web.templates import render

CALLED = " ".join(
    f"{known.shown} {known.sounds}" for known in get_show("dakota", ENGLISH).words.values() if known.sounds
)
TYPED = " ".join([*TEAMS.values(), *PLAYERS.values(), *PHASES["wide"].teams.values(), "Team A"])
KNOWN = set(escaped(f"{TYPED} {CALLED} Hampa Apena, Lahal (Slahal), Pa-tol, SHA-256"))
"""Names as people typed them, the games' own names and words with their sounds, and the name of a standard."""


VIEWS = [pytest.param(view, id=name) for name, view in PHASES.items()]


def strange(words):
    return sorted(set(words) - KNOWN)


@pytest.mark.parametrize("view", VIEWS)
def test_no_sentence_of_the_terminal_escapes(view, tr):
    said = render_text(view, tr, 300)
    assert strange(escaped(said)) == []
    assert OPEN in said


@pytest.mark.parametrize("view", VIEWS)
def test_no_sentence_of_the_pages_escapes(view, tr):
    more = {"found": [], "event": "", "words": "", "place": "bottom"}
    for frame in FRAMES:
        html = frame_page(view, tr, frame, NOW, as_of="12:34", **more)
        assert strange(escaped_of_page(html)) == [], frame
        assert f'lang="{CODE}"' in html
    assert strange(escaped_of_page(check_page(view, tr))) == []


def test_pages_without_a_table_are_fully_translated(tr):
    found = ["http://192.0.2.7:8080"]
    for html in (
        render("waiting.html", tr).replace("<title>Moccasin Mat</title>", ""),
        check_page(None, tr),
        find_page(found, PageSettings(), tr),
        find_page([], PageSettings(), tr),
        console_page.sign_in(tr),
    ):
        assert strange(escaped_of_page(html)) == []
        assert OPEN in html


def test_pages_are_served_in_the_configured_language(view, tr):
    feed = Feed()
    with travelling() as loop, visitor(WebServer(feed, tr=tr).app, loop) as web:
        for path in ("/", "/room"):
            assert f"{OPEN}The table is starting{SHUT}" in web.get(path).text
        feed.publish(view())
        for path in ("/", "/room", "/overlay", "/check", "/find"):
            html = web.get(path).text
            assert f'lang="{CODE}"' in html
            assert strange(escaped_of_page(html)) == [], path


@pytest.mark.parametrize("view", VIEWS)
def test_no_sentence_of_the_console_escapes(view, tr):
    """All but the fields of "Set the table": those are the score sheet's own keys."""
    game = registry.game(view.game)
    state = game.opening()
    legal = game.legal_actions(state)
    content = console_page.console(view, legal, tr, sets=True, options=game.settings)
    desk = console_page.console(view, legal, tr, names=True, options=game.settings)  # the sheet's keys are English
    sections = console_page.desk_regions(view, desk, tr)
    html = console_page.page(console_page.console_regions(view, tr) | sections, tr, as_of="12:34")
    assert strange(escaped_of_page(html)) == []
    said = [
        content.off,
        *itertools.chain.from_iterable(_said(part) for part in (content.play, content.question)),
    ]
    assert strange(word for text in said if text for word in escaped(text)) == []
    called = [one for hide in page_of(view, tr).fouls(view, game, state) for one in (hide, *hide.buttons)]
    labels = [text for one in called for text in (one.label, getattr(one, "outcome", ""))]
    assert strange(word for text in labels for word in escaped(text)) == []


def _said(part):
    """Return every label and title in a part of the console, however deep."""
    if isinstance(part, (tuple, list)):
        for one in part:
            yield from _said(one)
    elif hasattr(part, "__struct_fields__"):
        for name in part.__struct_fields__:
            value = getattr(part, name)
            if name in {"label", "title", "why", "hint", "off"} and isinstance(value, str):
                yield value
            yield from _said(value)


@pytest.mark.parametrize("name", sorted(registry.names()))
def test_no_button_of_any_game_escapes(name, tr):
    game = registry.game(name)
    state, labels = game.opening(), []

    for turn in range(12):
        legal = game.legal_actions(state)
        if not legal:
            break
        view = view_of(name, game.sheet(state)) if name != "dakota" else PHASES["toss" if turn == 0 else "hit"]
        labels += _said(page_of(view, tr).entry_form(view, legal, game.settings))
        state, _ = game.play(state, legal[turn % len(legal)])
    assert labels
    assert strange(word for text in labels for word in escaped(text)) == []


def test_no_question_foul_choice_fault_or_chance_escapes(view, tr):
    said = [Phrases(tr).question(QuestionView(about, (), (2, 3))) for about in phrases.QUESTIONS]
    said += [Phrases(tr).foul(kind) for kind in phrases.FOULS]
    said += [Phrases(tr).choice(one) for one in phrases.CHOICES]
    said.append(Phrases(tr).choice("3"))
    said.append(Phrases(tr).faults(view(faults=(SensorFault("disc", 2, "dead"), SensorFault("strip", 3, "dead", 1)))))
    for game, words in ((game, get_show(game, ENGLISH).words) for game in registry.names()):
        for call in words:
            known = get_show(game, tr).word(call)
            said += [known.meaning, known.literal, known.source, "" if known.sounds else known.shown]
    assert strange(word for text in said for word in escaped(text)) == []


@pytest.mark.parametrize("error", [no_board_error("COM1"), port_busy_error("COM1"), board_gone_error("COM1")])
@pytest.mark.parametrize("phase", ["hide", "halted"])
def test_no_reason_why_the_board_is_gone_escapes(error, phase, view, tr):
    """The journal and the hub have it in English."""
    gone = view(phase=phase, note=error.public)
    assert strange(escaped(f"{Phrases(tr).notice(gone)} {console_page.ConsoleWriter(gone, tr).why_blocked()}")) == []


def test_a_sentence_that_escaped_would_be_found(view, tr, monkeypatch):
    """The comparison can fail."""
    monkeypatch.setattr(Phrases, "sentence", lambda _self, _view: "Plain English")
    assert {"Plain", "English"} <= set(strange(escaped(render_text(view(), tr, 300))))
    html = frame_page(view(), tr, "", NOW, as_of="")
    assert {"Plain", "English"} <= set(strange(escaped_of_page(html)))
    assert strange(escaped_of_page('<p title="Odd one">x</p><code>not this</code>')) == ["Odd", "one"]


def test_missing_catalogue_or_sentence_falls_back_to_english(view, tr):
    for code in ("en", "fr", "xx-YY", "dak", "oj"):
        assert Phrases(translator(code)).sentence(view()) == "First hit: Long Hollow"
    assert Phrases(translator(f"{CODE}-US")).sentence(view()) == f"{OPEN}First hit: Long Hollow{SHUT}", (
        "without its region"
    )


@pytest.mark.parametrize("code", ["", "e", "../dak", "en fr", "dak.mo", "123"])
def test_invalid_language_code_is_refused_with_hint(code):
    with pytest.raises(SettingsError, match="not a language code") as caught:
        i18n.resolve_language(code)
    assert "dak" in caught.value.hint
