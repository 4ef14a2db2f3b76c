"""The help: every page is listed, rendered, linked and found, and a table serves it."""

import re
from pathlib import Path

import pytest
from travel import travelling
from visit import visitor

from pi_controller.help import contents
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / contents.FOLDER
PAGES = contents.list_pages()


def test_every_file_is_listed_in_the_index():
    files = {path.relative_to(ROOT).as_posix() for path in FOLDER.rglob("*.md")}
    assert files | set(contents.GENERATED) <= {page.source for page in PAGES.values()}


def test_index_has_one_entry_per_page():
    index = contents.read_page(contents.INDEX)
    assert len(re.findall(r"^- \[", index, re.MULTILINE)) == len(PAGES) - 1


@pytest.mark.parametrize("address", PAGES)
def test_page_is_rendered_with_links_that_lead_somewhere(address):
    html = contents.render_page(address)
    assert html.startswith("<h1")
    for link in re.findall(r'(?:href|src)="/help/?([^"]*)"', html):
        path, _, fragment = link.partition("#")
        assert path in PAGES or path in contents.list_files()
        if fragment:
            assert f'id="{fragment}"' in contents.render_page(path), link
    assert not re.search(r'(?:href|src)="(?!/help|https?:|#)', html)


def test_each_promise_names_its_test():
    lines = [line for line in (FOLDER / "why/kept.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    promises = [line for line in lines if not line.startswith("| Kept")]
    assert len(promises) > 15
    for line in promises:
        (named,) = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)` \|$", line)
        assert f"\ndef {named[1]}(" in (ROOT / named[0]).read_text("utf-8"), line


def test_links_in_code_are_left_alone():
    text = "`[a](b.md)` [c](index.md)\n```\n[d](e.md)\n```\n"
    rewritten = contents.rewrite_links(contents.INDEX, text, lambda path: None)
    assert rewritten == "`[a](b.md)` c\n```\n[d](e.md)\n```\n"


@pytest.fixture(scope="module")
def web():
    with travelling() as loop, visitor(WebServer(Feed()).app, loop) as client:
        yield client


@pytest.mark.parametrize("path", ["/help", "/help/judge/sheet", "/help/hardware", "/help/reference/commands"])
def test_pages_are_served(web, path):
    answer = web.get(path)
    assert answer.status_code == 200
    assert "form-action 'self'" in answer.headers["content-security-policy"]
    assert 'aria-current="page"' in answer.text or path == "/help"


def test_pictures_are_served(web):
    answer = web.get("/help/hardware/drawings/mat.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")


@pytest.mark.parametrize("path", ["/help/nothing", "/help/hardware/pinmap.toml", "/help/../pyproject.toml", "/help//"])
def test_unknown_help_paths_answer_404(web, path):
    assert web.get(path).status_code == 404


def test_search_is_a_page_and_escapes_its_query(web):
    assert "Fouls, questions, protests" in web.get("/help/search", params={"q": "fouls"}).text
    answer = web.get("/help/search", params={"q": "<qwfpgj>"})
    assert "<qwfpgj>" not in answer.text
    assert "No page has" in answer.text


def test_served_pages_have_no_commands_of_the_repository():
    exempt = re.compile(r"play/first-evening$|develop/|firmware$|recording/PROTOCOL$|hardware/INSTALL$")
    command = re.compile(r"(?:python|pytest|compose -f) (?:tests|hardware)/|tests/check\.py|pip install -e")
    found = [address for address, page in PAGES.items() if command.search(contents.read_page(page.source))]
    assert [address for address in found if not exempt.match(address)] == []
