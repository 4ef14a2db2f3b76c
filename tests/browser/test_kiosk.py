"""The visitors' screen: the page on the disk that waits for the installation, its faults, and a page that crashed."""

import os
import socket
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from first_sign import start_first_sign
from headless import launch
from playwright.sync_api import Error
from ports import free_port
from watched_kiosk import watched_kiosk

from pi_controller import __version__
from pi_controller.card import kiosk
from pi_controller.config import Settings
from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.orders import OrderQueue
from pi_controller.exhibit.page_watch import SILENCE_TIMEOUT_S
from pi_controller.exhibit.pages import ExhibitPage
from pi_controller.host.status import FILE, NEW_CARD, POWER_CYCLE_HINT, FaultChannel

FAULT = ("state_lost", "The card's third partition cannot be read. <b>", "Switch the machine off and on once.")
LONGEST = (
    "The third partition of the card (mat-state) cannot be read: journal, settings and recordings are on it.",
    f"{POWER_CYCLE_HINT} {NEW_CARD}",
)


@contextmanager
def waiting_tab(playwright, folder, address="", **page):
    """Open the page on the disk in Chromium, its faults in `folder`; yield its tab and the fault channel."""
    waiting = folder / "kiosk.html"
    waiting.write_text(kiosk.waiting_page(Settings(), folder / FILE), "utf-8")
    browser = launch(playwright, *(flag for flag in kiosk.FLAGS if flag != "--kiosk"))
    tab = browser.new_page(**page)
    tab.goto(f"file://{waiting}#{address}")
    yield tab, FaultChannel(folder)
    browser.close()


def fail_requests(tab, port, count):
    """Wait until `count` more requests to `port` have failed."""
    for _ in range(count):
        tab.wait_for_event("requestfailed", lambda request: f":{port}/" in request.url)


def test_waiting_page_opens_the_exhibit_once_served(playwright, tmp_path):
    port = free_port()
    page = ExhibitPage("127.0.0.1", port, time.monotonic, dict, OrderQueue(), tr=ENGLISH)
    with waiting_tab(playwright, tmp_path, kiosk.address(port)) as (tab, _):
        fail_requests(tab, port, 2)
        assert tab.locator("#wait h1").inner_text() == "One moment, please."
        page.start()
        try:
            tab.wait_for_url(kiosk.address(port))
            assert tab.locator("#screen").count() == 1
            answer = httpx.get(f"{kiosk.address(port)}healthz")
            assert answer.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]
        finally:
            page.stop()


def test_fault_is_visible_until_cleared(playwright, tmp_path):
    with waiting_tab(playwright, tmp_path) as (tab, channel):
        assert tab.locator("#wait").is_visible()
        channel.write(*FAULT, 1_764_000_000.0)
        tab.wait_for_selector("#fault:visible")
        text = tab.locator("#fault").inner_text()
        for part in (*FAULT, __version__, "2025-11-24"):
            assert part in text
        assert tab.locator("#wait").is_hidden()
        channel.write("other", "Another fault.", "Do this.", 1_764_000_000.0)
        tab.wait_for_selector("#message:has-text('Another fault.')")
        channel.clear()
        tab.wait_for_selector("#wait:visible")
        assert tab.locator("#fault").is_hidden()


@pytest.mark.parametrize("size", [(800, 480), (1280, 800), (1920, 1080), (720, 1280), (1080, 1920)])
def test_a_fault_fits_every_screen(playwright, tmp_path, size):
    width, height = size
    with waiting_tab(playwright, tmp_path, viewport={"width": width, "height": height}) as (tab, channel):
        tab.add_style_tag(content="* { font-family: 'DejaVu Sans' !important; }")
        channel.write("disk_error", LONGEST[0], LONGEST[1], 0.0)
        tab.wait_for_selector("#fault:visible")
        page = tab.evaluate("(({scrollWidth, scrollHeight}) => [scrollWidth, scrollHeight])(document.documentElement)")
        assert page[0] <= width
        assert page[1] <= height
        letters = "[...document.querySelectorAll('#fault *')].map(e => parseFloat(getComputedStyle(e).fontSize))"
        assert min(tab.evaluate(letters)) >= 16
        assert Axe().run(tab).violations_count == 0
        if folder := os.environ.get("MOCCASIN_PICTURES"):
            Path(folder).mkdir(exist_ok=True)
            tab.screenshot(path=f"{folder}/fault-{width}x{height}.png")


@pytest.mark.smoke
def test_the_waiting_page_gives_the_first_sign(playwright, tmp_path, monkeypatch):
    process, port = start_first_sign(tmp_path, 60)
    monkeypatch.setattr(kiosk, "SIGN_PORT", port)
    with waiting_tab(playwright, tmp_path):
        assert process.wait(60) == 0


def test_lost_first_sign_is_sent_again(playwright, tmp_path, monkeypatch):
    port = free_port()
    monkeypatch.setattr(kiosk, "SIGN_PORT", port)
    with waiting_tab(playwright, tmp_path, kiosk.address(free_port())) as (tab, _):
        fail_requests(tab, port, 2)
        with socket.create_server(("127.0.0.1", port)) as late:
            late.settimeout(60)
            late.accept()[0].close()


@pytest.mark.parametrize("path", ["", "staff/preview/attract"])
def test_a_tab_that_crashed_does_not_ask(playwright, tmp_path, path, monkeypatch):
    async def allow(_):
        return "Head"

    with watched_kiosk(tmp_path, monkeypatch) as (made, pass_s, request):
        monkeypatch.setattr(made.staff.page, "require_staff", allow)
        made.serve()
        browser = launch(playwright)
        tab = browser.new_page()
        tab.clock.install()
        for _ in range(3):
            pass_s(100)
            with tab.expect_response("**/here") as answer:
                tab.clock.run_for(10_000) if tab.url.startswith("http") else tab.goto(made.page.url + path)
            assert answer.value.status == 204
        pass_s(100)
        assert not request.exists()
        with pytest.raises(Error, match="crash"):
            tab.goto("chrome://crash")
        pass_s(SILENCE_TIMEOUT_S)
        assert request.exists()
        browser.close()
