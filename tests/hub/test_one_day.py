"""From three cards that were never used to eight teams on three tables, without a command: in a browser, as on phones.

Real are the pages, the machine's unit and its start (in a folder), Mosquitto, the hub, and the tables' links. Made are
the Wi-Fi (all is on loopback) and the time that a Pi takes to start again.
"""

import asyncio
import re
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from brokers import PATIENCE_S, Mosquitto, needs_mosquitto, run_to_its_end
from card_machine import CardMachine
from headless import UPDATED, wait_until
from hub_hall import Played
from judge_house import PIN, House
from ports import free_port

from pi_controller.config import read_settings
from pi_controller.hub import first_start
from pi_controller.hub.mqtt import Broker, check_ca_file, read_password
from pi_controller.hub.run import HubRun
from pi_controller.web.start_page import StartPage, start_routes

pytestmark = [pytest.mark.chromium, needs_mosquitto]
TEAMS = ("Lower Sioux", "Spirit Lake", "Prairie Island", "Upper Sioux", "Big Coulee", "Long Hollow", "Veblen", "Peever")
MAX_TOUCHES, MAX_TYPED, MAX_PAGES = 68, 18, 6
"""What the walk takes now, 48 touches of them for six sign-ins. A longer one is a fault."""


class CardHouse(House):
    """A table's pages on a card; a choice that starts the machine again does so at once."""

    def __init__(self, folder):
        self.machine = CardMachine(folder)
        super().__init__(self.machine.state)

    def describe(self):
        return self.machine.desk.describe()

    def apply(self, choice):
        done = self.machine.desk.apply(choice)
        if done.restarts == "machine":
            self.machine.start()
        return done

    def _play(self, opened):
        house = self

        class Opened(threading.Event):
            """The console is made, and its server does not run yet."""

            def set(self):
                page = StartPage(house.judges.api, house.judges.command_queue, house, lambda: None)
                house.judges.routes.extend(start_routes(page))
                opened.set()

        super()._play(Opened())

    def close(self):
        super().close()
        self.machine.close()


class Phone:
    """A phone whose touches, typed fields and opened pages are counted."""

    def __init__(self, chromium):
        how = {"ignore_https_errors": True, "locale": "en-US", "reduced_motion": "reduce"}
        self.context = chromium.new_context(viewport={"width": 390, "height": 844}, **how)
        self.page = self.context.new_page()
        self.touches = self.typed = self.pages = 0

    def open(self, url):
        """Scan a code, or open a page."""
        self.pages += 1
        self.page.goto(url)

    def touch(self, selector):
        self.touches += 1
        self.page.locator(selector).click()

    def type(self, selector, text):
        self.typed += 1
        self.page.locator(selector).fill(text)

    def sign_in(self, name="Ann"):
        self.touch(f"[data-name={name}]")
        self.page.wait_for_selector(f"[data-name={name}][aria-pressed=true]")
        for digit in PIN:
            self.touch(f"[data-digit='{digit}']")
        self.touch(".keypad .main")

    def choose(self, house, use, network="own", **fields):
        """Open the page of the choice, by the code on the machine's screen, and save a choice."""
        self.open(f"{house.origin}/judge/start")
        if self.page.locator(".keypad").count():
            self.sign_in()
        self.page.wait_for_selector("#save[aria-disabled=false]")
        if not self.page.locator(f"[name=use][value={use}]").is_checked():
            self.touch(f"label:has([name=use][value={use}])")
        if not self.page.locator(f"[name=network][value={network}]").is_checked():
            self.touch(f"label:has([name=network][value={network}])")
        for name, text in fields.items():
            self.type(f"#{name}", text)
        self.touch("#save")
        self.page.wait_for_selector("#done:not([hidden])")


@contextmanager
def running_hub(folder):
    """Run broker and hub of the files in `folder`, as the card's units do; provide the hub and its director's page."""
    port = int(re.search(r"^listener (\d+)", (folder / "mosquitto.conf").read_text(), re.MULTILINE)[1])
    broker, said = Mosquitto.of_files(folder, port).start(), []
    run, closing, loop = HubRun(folder, said.append, shows=False), asyncio.Event(), asyncio.new_event_loop()
    thread = threading.Thread(target=run_to_its_end, args=(loop, run.run(closing)))
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(run.wait_until_listening(), loop).result(PATIENCE_S)
        assert not any("PIN" in line for line in said), "the head judge is the director"
        yield run, re.search(r"(https://\S+director)", "\n".join(said))[1]
    finally:
        loop.call_soon_threadsafe(closing.set)
        thread.join(PATIENCE_S)
        broker.kill()


def linked(house):
    """Return the table of a card, linked to the hub by what stands in its settings."""
    hub = read_settings(house.machine.file).hub
    password = read_password(Path(hub.password_file))
    return Played(
        house.machine.state / "played.sqlite",
        Broker(hub.address, hub.port, hub.table, password, check_ca_file(hub.ca)),
    )


def test_three_cards_become_a_tournament_of_eight_teams(tmp_path, chromium, monkeypatch):
    monkeypatch.setattr(first_start, "OWN_ADDRESS", "127.0.0.1")
    monkeypatch.setattr(first_start, "BROKER_PORT", free_port())
    monkeypatch.setattr(first_start, "_PAGE", '[page]\nhost = "127.0.0.1"\nport = 0\nhttps = 0\n')
    with ExitStack() as stack:
        houses = [CardHouse(tmp_path / name) for name in ("hub", "second", "third")]
        for house in houses:
            stack.callback(house.close)
        phone = Phone(chromium)
        stack.callback(phone.context.close)
        first, *others = houses

        phone.choose(first, "both")
        assert (first.machine.folders.run / "hub").exists()
        wifi = first.describe()
        for house in others:
            phone.choose(house, "gathering", "join", name=wifi.name, password=wifi.password)
            assert house.machine.machine.wifi.network == wifi.name

        run, director = stack.enter_context(running_hub(first.machine.state / "hub"))
        console = Phone(chromium)
        stack.callback(console.context.close)
        console.open(director)
        console.sign_in()
        console.page.wait_for_function(UPDATED)
        for house, table in zip(others, ("t02", "t03"), strict=True):
            console.type("[data-join=open] [name=table]", table)
            console.touch("[data-join=open] button")
            line = console.page.locator("#join-codes .join-code", has_text=table).locator("code").text_content()
            phone.choose(house, "gathering", "join", code=line)
            assert read_settings(house.machine.file).hub.table == table

        tables = [linked(house) for house in houses]
        for table in tables:
            stack.callback(table.close)
        console.type("[data-do=plan] [name=title]", "Wacipi")
        console.touch("[data-do=plan] .buttons button:not([type=reset])")
        console.page.wait_for_selector("[data-do=enter]")
        for n, team in enumerate(TEAMS, 1):
            console.type("[data-do=enter] [name=team]", team)
            console.touch("[data-do=enter] button")
            console.page.wait_for_function("n => document.querySelectorAll('ul.chips li bdi').length === n", arg=n)
        console.type("[data-do=draw] [name=seed]", "7")
        console.touch("[data-do=draw] button.main")

        def plays():
            for table in tables:
                table.step()
            return all(table.match for table in tables)

        wait_until(console.page, plays)
        assert all(table.match for table in tables)
        assert {call.table for call in run.director.now.calls.values()} == {"t01", "t02", "t03"}
        playing = {team for table in tables for team in (table.table.view.teams["A"], table.table.view.teams["B"])}
        assert len(playing) == 6
        assert playing < set(TEAMS)
        touches, typed = phone.touches + console.touches, phone.typed + console.typed
        pages = phone.pages + console.pages
        print(f"touches {touches}, typed fields {typed}, pages {pages}")
        assert touches <= MAX_TOUCHES
        assert typed <= MAX_TYPED
        assert pages <= MAX_PAGES
