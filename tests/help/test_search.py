"""The search of the help finds the page that answers a plain question."""

import re

import pytest

from pi_controller.help import contents
from pi_controller.help.search import search


def pages(query):
    return [result.page.address for result in search(query)]


@pytest.mark.parametrize(
    ("question", "address"),
    [
        ("What is paguga?", "glossary"),
        ("How do I undo a wrong hit?", "judge/console"),
        ("I forgot my PIN", "judge/console"),
        ("what does it cost", "build/start"),
        ("our own rules", "play/games"),
        ("a team did not come", "tournament/director"),
        ("light strip flickers", "hardware/FAULTS"),
        ("OBS", "watch/screens"),
    ],
)
def test_plain_question_finds_its_page_first(question, address):
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
