"""The search of the help finds the page that answers a plain question."""

import re

import pytest

from pi_controller.help import contents
from pi_controller.help.search import search

QUESTIONS = {
    "play/games": ["Which games can I play?", "How do you play the moccasin game?", "our own rules"],
    "play/first-evening": ["Can we play without a mat?", "windows", "play without a mat"],
    "words": ["What does wheya mean?", "what is paguga"],
    "why/secrecy": ["Can anybody see where the bead is?"],
    "watch/screens": ["How do I watch the game on my phone?", "OBS"],
    "hardware/SAFETY": ["Is it safe with a pacemaker?", "is it safe for children"],
    "judge/console": [
        "How do I undo a wrong entry?",
        "I forgot my PIN",
        "How do I stop the clock?",
        "How do I begin the next game?",
        "How do I play without the sensors?",
        "forgot PIN",
        "lost PIN",
        "undo a wrong hit",
    ],
    "judge/sheet": ["The mat missed a hit", "print score sheet"],
    "judge/fouls": ["A team protests", "Why does the mat ask the judge?"],
    "tournament/trouble": ["What happens when the power goes out?", "A table is broken"],
    "tournament/director": [
        "How do I add a late team?",
        "How do I print the bracket?",
        "A team did not come",
        "When is the lunch break?",
        "how to add a team late",
        "team did not come",
    ],
    "tournament/hall": ["How do I connect a table to the hub?", "How many tables can play at once?", "join code"],
    "tournament/formats": ["How do we draw the teams?", "who wins a tie"],
    "hardware/parts": ["Which parts do I need to buy?"],
    "build/start": [
        "How long does it take to build?",
        "We are a school. Which mat should we build?",
        "what does it cost",
    ],
    "hardware/SCHOOL_MAT": ["school"],
    "hardware": ["What tools do I need?"],
    "hardware/FAULTS": ["The lights do not work", "LED wrong colour", "light strip flickers"],
    "build/calibrate": ["How do I calibrate the mat?"],
    "exhibit/trouble": ["The screen is dark", "The touch screen does not react", "screen dark"],
    "exhibit/texts": ["How do I change the opening hours?", "How do I turn it off at night?", "Are visitors recorded?"],
    "watch/voice": ["How do I make it quieter?", "no sound"],
    "hardware/image": ["How do I update the program?", "Which Raspberry Pi do I need?", "wifi password"],
    "watch/programs": ["How do I get the scores into a spreadsheet?"],
    "develop/library": ["python library"],
    "display/locale/LANGUAGES": ["translate the pages"],
}
"""{page: what a player, judge, organiser, builder or technician asks that it answers}."""


def pages(query):
    return [result.page.address for result in search(query)]


@pytest.mark.parametrize(("address", "question"), [(page, one) for page, some in QUESTIONS.items() for one in some])
def test_plain_question_finds_its_page_first(address, question):
    assert pages(question)[0] == address


@pytest.mark.parametrize(("one", "other"), [("wifi", "Wi-Fi"), ("judges", "judge"), ("CALIBRATION", "calibration")])
def test_spellings_of_a_word_find_the_same(one, other):
    assert set(pages(one)) == set(pages(other)) != set()


def test_guides_rank_above_the_reference():
    found = pages("commands that export the journal")
    assert found.index("tournament/hall") < found.index("reference/commands")


@pytest.mark.parametrize("query", ["", "...", "xyzzy-qwfp", '"', "*("])
def test_unknown_words_have_no_results(query):
    assert search(query) == []


def test_every_passage_has_its_anchor_on_the_page():
    for page in contents.list_pages().values():
        ids = re.findall(r'<h[1-4][^>]* id="([^"]*)"', contents.render_page(page.address))
        found = contents.list_passages(page.source)
        assert [one.anchor for one in found if one.anchor] == [one for one in ids if one in {p.anchor for p in found}]
        assert {one.anchor for one in found} - {""} <= set(ids)


def test_result_has_heading_and_matching_sentence():
    first = search("forgot PIN")[0]
    assert first.anchor == "a-pin-is-forgotten-or-lost"
    assert "forgot a PIN" in first.excerpt
