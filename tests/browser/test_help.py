"""The help in a browser: accessible, searched by touch, and the pages to print fit one A4."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from line_faults import LINE_FAULTS

SIZES = [(390, 844), (1920, 1080)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("path", ["help", "help/judge/sheet", "help/hardware/CHECKLIST", "help/search?q=protest"])
def test_help_pages_pass_axe_without_broken_words(open_page, path, size, scheme):
    page = open_page(path, size, color_scheme=scheme)
    assert page.evaluate(LINE_FAULTS) == []
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []


@pytest.mark.parametrize("path", ["help", "help/reference/settings", "help/hardware/parts", "help/firmware"])
def test_no_page_is_wider_than_a_phone(open_page, path):
    page = open_page(path, (390, 844))
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


@pytest.mark.smoke
def test_search_is_sent_and_its_result_is_opened(open_page):
    page = open_page("help")
    page.fill("input[name=q]", "protest")
    page.press("input[name=q]", "Enter")
    page.click("main a >> nth=0")
    page.wait_for_url("**/help/judge/fouls#a-team-protests")


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("path", ["help/judge/sheet", "help/tournament/tomorrow"])
def test_page_to_print_is_one_sheet(open_page, path, paper):
    printed = open_page(path).pdf(format=paper, prefer_css_page_size=True)
    assert re.findall(rb"/Count (\d+)", printed) == [b"1"]
