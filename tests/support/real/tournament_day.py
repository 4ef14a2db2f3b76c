"""A day of a tournament, driven in a browser: from three cards that were never used to the champion, with its troubles.

Real are the pages, the machine's unit and its start (in a folder), the hub, and the tables' links. Made are the
Wi-Fi (all is on loopback), the time that a Pi takes to start again, and the games: the judges' lines are typed.
"""

import random
import re
from contextlib import ExitStack, contextmanager
from unittest import mock

from card_machine import CardMachine
from headless import wait_until
from judge_house import PIN
from linked_table import LinkedTable
from ports import free_port
from real_hub import RealHub
from served_house import ServedHouse as House

from pi_controller.card import first_start
from pi_controller.config import read_settings
from pi_controller.display.i18n import ENGLISH
from pi_controller.hub.table_link import LinkError, make_client
from pi_controller.web.bracket_page import name_match
from pi_controller.web.start_page import StartPage, start_routes

TEAMS = ("Lower Sioux", "Spirit Lake", "Prairie Island", "Upper Sioux", "Big Coulee", "Long Hollow", "Veblen", "Peever")
HIDE_S, WALK_S, PAPER_HIDES = 30, 300, 50
"""What a hide, and the way from a call to the first hide, are taken to last; the hides of a match played on paper."""


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

    def add_pages(self):
        self.judges.routes.extend(
            start_routes(StartPage(self.judges.api, self.judges.command_queue, self, lambda: None))
        )

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

    def pick(self, selector, label):
        """Choose from a list: a touch that opens it and one on the line."""
        self.touches += 2
        self.page.locator(selector).select_option(label=label)

    def unfold(self, inside):
        """Open the folded part that has `inside`."""
        part = self.page.locator(f"details:has({inside})")
        if part.get_attribute("open") is None:
            self.touch(f"details:has({inside}) > summary")

    def touch_twice(self, selector):
        """Touch a button that asks for a second touch, and read the question."""
        self.touch(selector)
        self.read_question()
        self.touch("[data-second]")

    def read_question(self):
        """Read the question that waits for a second touch: all of it is to be on the screen, above the last line."""
        self.page.wait_for_selector(".ask[role=alert]")
        edges = """() => {
            const said = document.querySelector("#said");
            return [document.querySelector(".ask[role=alert]").getBoundingClientRect().bottom,
                    said.offsetHeight ? said.getBoundingClientRect().top : innerHeight];
        }"""
        bottom, top = self.page.evaluate(edges)
        assert bottom <= top, "the question is below the screen"

    def sign_in(self, name="Ann"):
        self.touch(f"[data-name={name}]")
        self.page.wait_for_selector(f"[data-name={name}][aria-pressed=true]")
        for digit in PIN:
            self.touch(f"[data-digit='{digit}']")
        self.touch(".keypad .main")

    def choose(self, house, use, network="own", look=lambda *_: None, **fields):
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
        look("first-start", "The first start: what this card is", self.page)
        self.touch("#save")
        self.page.wait_for_selector("#done:not([hidden])")
        look("first-saved", "The choice is saved", self.page)


@contextmanager
def running_hub(folder):
    """Run the hub of the files in `folder`, as the card's unit does; provide it and its director's page."""
    hub = RealHub(folder, shows=False)
    try:
        assert not any("PIN" in line for line in hub.said), "the head judge is the director"
        yield hub.run, re.search(r"(https://\S+director)", "\n".join(hub.said))[1]
    finally:
        hub.close()


def linked(house):
    """Return the table of a card, linked to the hub by what stands in its settings."""
    hub = read_settings(house.machine.file).hub
    return LinkedTable(house.machine.state / "played.sqlite", hub.table, lambda: make_client(hub))


class Day:
    """One day: `begin` to the first calls, `play` to the champion.

    `look(name, caption, page, selector)` is called at each step; without a page `name` has the hub's public pages.
    `phone` chooses what each card is, `console` is the director's phone.
    """

    def __init__(self, folder, browser, look=lambda *_: None):
        self.folder, self.browser, self.look = folder, browser, look
        self.stack, self.dice = ExitStack(), random.Random(5)
        self.free_at = {}
        for name, value in (
            ("OWN_ADDRESS", "127.0.0.1"),
            ("_PAGE", f'[page]\nhost = "127.0.0.1"\nport = 0\nhttps = {free_port()}\n'),
        ):
            self.stack.enter_context(mock.patch.object(first_start, name, value))

    def close(self):
        self.stack.close()

    @property
    def minutes(self):
        """Return when the last match ended, min after the first call."""
        return max(self.free_at.values(), default=0.0)

    def new_phone(self):
        phone = Phone(self.browser)
        self.stack.callback(phone.context.close)
        return phone

    @property
    def counts(self):
        """Return the touches, typed fields and opened pages so far."""
        both = (self.phone, self.console)
        return tuple(sum(getattr(one, name) for one in both) for name in ("touches", "typed", "pages"))

    @property
    def now(self):
        return self.run.director.now

    def until(self, holds):
        """Step the tables until `holds()`."""

        def stepped():
            for table in self.tables.values():
                table.step()
            return holds()

        wait_until(self.console.page, stepped)
        assert stepped()

    def seen(self, selector, **how):
        """Wait until the console shows `selector`."""
        self.console.page.locator(selector, **how).first.wait_for(state="attached")

    def begin(self):
        """Come from three new cards to the first matches at their tables."""
        self.houses = [CardHouse(self.folder / name) for name in ("hub", "second", "third")]
        for house in self.houses:
            self.stack.callback(house.close)
        self.phone = phone = self.new_phone()
        first, *others = self.houses
        phone.choose(first, "both", look=self.look)
        assert (first.machine.folders.run / "hub").exists()
        wifi = first.describe()
        for house in others:
            phone.choose(house, "gathering", "join", name=wifi.name, password=wifi.password)
            assert house.machine.machine.wifi.network == wifi.name
        self.run, director = self.stack.enter_context(running_hub(first.machine.state / "hub"))
        self.console = console = self.new_phone()
        console.open(director)
        console.sign_in()
        for house, table in zip(others, ("t02", "t03"), strict=True):
            console.type("[data-join=open] [name=table]", table)
            console.touch("[data-join=open] button")
            line = console.page.locator("#join-codes .join-code", has_text=table).locator("code").text_content()
            self.look(
                f"code-{table}", f"The director shows the code by which {table} joins", console.page, ".join-code"
            )
            phone.choose(house, "gathering", "join", code=line)
            assert read_settings(house.machine.file).hub.table == table
        self.look("joined", "The table's card has joined by the code", phone.page)
        self.tables = {f"t{n:02}": linked(house) for n, house in enumerate(self.houses, 1)}
        self.stack.callback(lambda: [table.close() for table in self.tables.values()])
        console.type("[data-do=plan] [name=title]", "Wacipi")
        console.unfold("[name=rest_s]")
        console.type("[data-do=plan] [name=rest_s]", "0")
        self.look("plan", "The plan of the tournament", console.page, "[data-do=plan]")
        console.touch("[data-do=plan] .buttons button:not([type=reset])")
        console.page.wait_for_selector("[data-do=enter]")
        for n, team in enumerate(TEAMS, 1):
            console.type("[data-do=enter] [name=team]", team)
            console.touch("[data-do=enter] button")
            console.page.wait_for_function("n => document.querySelectorAll('ul.chips li bdi').length === n", arg=n)
        self.look("entered", "Eight teams are entered", console.page, "ul.chips")
        console.unfold("[data-send*=check_in]")
        for n, team in enumerate(TEAMS, 1):
            console.touch(f"[data-send*=check_in]:has-text('{team}')")
            self.seen(f"summary:has-text('({n}/8)')")
        self.look("checked-in", "All captains are here", console.page, "details:has([data-send*=check_in])")
        console.type("[data-do=draw] [name=seed]", "7")
        console.touch("[data-do=draw] button.main")
        self.until(lambda: all(table.match for table in self.tables.values()))
        self.seen("[data-region=matches] b", has_text="round 1, match 3")
        self.look("called", "Three matches are called", console.page, "[data-region=matches]")

    def play(self):
        """Come to the champion; a team does not come, a table dies, and a result was wrong."""
        (team, *_) = self.now.calls["W1-1"].teams
        number = self.now.state.teams.index(team) + 1
        self.look(f"team/{number}", f"{team} are called: the page of their phone")
        self.look("hall hall#bracket boards announcer", "The first matches are called")
        for table in self.tables.values():
            table.do("toss A", "missed")
        self.until(lambda: all(call.started for call in self.now.calls.values()))
        self.look("hall boards", "Three matches are played")
        self.lose_table()
        self.finish(self.table_of("W1-1"))
        self.until(lambda: "W1-4" in self.now.calls)
        self.miss_team("W1-4")
        self.finish(self.table_of("W1-2"))
        self.restore_table()
        self.correct_result("W1-1", "W2-1")
        halfway = final = False
        while self.now.champion is None:
            self.until(lambda: self.now.calls or self.now.champion is not None)
            match = next(iter(self.now.calls))
            if match.startswith("F") and not final:
                final = True
                self.until(lambda m=match: self.table_of(m).match == m)
                self.look("hall hall#bracket boards announcer", "The final is called")
            self.finish(self.table_of(match))
            if len(self.now.calls) and match.startswith("W2") and not halfway:
                halfway = True
                self.look("hall#bracket bracket", "The bracket in the middle of the day")
        self.seen("[data-region=log]", has_text=self.now.champion)
        self.look("hall hall#bracket hall#standings boards", f"{self.now.champion} have won")
        self.look("results", "The results, to print")
        self.look("director", "The director's page at the end", self.console.page, "[data-region=log]")

    def name_of(self, match):
        """Return the name of `match` on the pages."""
        return name_match(self.now.competition, self.now.pairing(match), ENGLISH)

    def table_of(self, match):
        return self.tables[self.now.calls[match].table]

    def finish(self, table):
        """Play the match at `table` to its end; the director confirms the result."""
        name = next(name for name, one in self.tables.items() if one is table)
        call = next(call for call in self.now.calls.values() if call.table == name)
        self.until(lambda: table.match == call.match and not table.table.view.void)
        hides = 0
        while table.table.view.winner is None:
            phase = table.table.view.phase
            table.do("toss A" if phase == "toss" else self.dice.choice(("found", "missed")))
            hides += phase == "hit"
        self.pass_time(call, hides)
        self.until(lambda: any(one.fact.match == call.match for one in self.now.reports.values()))
        row = f'[data-region=reports] .row:has(b:text-is("{self.name_of(call.match)}"))'
        self.seen(row)
        if call.match == "W1-1":
            self.look("pending", "A result waits for the director", self.console.page, "[data-region=reports]")
        self.console.touch(f"{row} button.main")
        self.until(lambda: call.match not in self.now.calls)

    def pass_time(self, call, hides):
        """Let the time of a match pass for its table and its teams, from when all three were free."""
        begins = max(self.free_at.get(one, 0.0) for one in (call.table, *call.teams))
        self.free_at |= dict.fromkeys((call.table, *call.teams), begins + (WALK_S + hides * HIDE_S) / 60)

    def lose_table(self):
        """Let the table of W1-3 die; the director gives it no more matches and enters what was played on paper."""
        console, name = self.console, self.now.calls["W1-3"].table
        table, winner = self.tables.pop(name), self.now.calls["W1-3"].teams[1]
        with mock.patch.object(table.link, "_post", side_effect=LinkError("no power")):  # it says no goodbye
            table.close()
        self.dead = name, table
        self.seen(".table-card[data-state=lost]")
        self.look(
            "lost-table",
            f"{name} has died in its match: the director's page",
            console.page,
            ".table-card[data-state=lost]",
        )
        self.look("hall boards", f"{name} has died in its match")
        console.touch(f"[data-send*='\"{name}\"']:has-text('No matches here')")
        self.seen(f"[data-send*='\"{name}\"'][aria-pressed=true]")
        button = f"[data-send*='W1-3']:has-text('{winner} won')"
        console.touch(button)
        self.look(
            "by-hand",
            "The match was played to its end on paper; its result is entered by hand",
            console.page,
            "[data-region=matches]",
        )
        console.touch("[data-second]")
        self.until(lambda: "W1-3" not in self.now.calls)

    def restore_table(self):
        """Let the dead table start again: its match no longer counts there, and it gets matches again."""
        name, table = self.dead
        table.start()
        self.tables[name] = table
        self.until(lambda: table.table.view.void)
        self.look("hall boards", f"{name} is back; its match no longer counts there")
        table.do("close void")
        self.console.touch(f"[data-send*='\"{name}\"']:has-text('No matches here')")
        self.until(lambda: name not in self.now.unused)

    def miss_team(self, match):
        """Withdraw the first team of `match`, which did not come."""
        console, team = self.console, self.now.calls[match].teams[0]
        console.unfold("[data-do=withdraw]")
        console.pick("[data-do=withdraw] [name=team]", team)
        console.pick("[data-do=withdraw] [name=why]", "did not come")
        console.touch("[data-do=withdraw] button:not([type=reset])")
        self.look("no-show", f"{team} did not come", console.page)
        console.read_question()
        console.touch("[data-second]")
        self.until(lambda: match not in self.now.calls and team in self.now.state.withdrawn)

    def correct_result(self, wrong, later):
        """Correct the result of `wrong` after the match `later`, which depends on it, has begun."""
        console = self.console
        self.until(lambda: later in self.now.calls and self.table_of(later).match == later)
        table = self.table_of(later)
        table.do("toss A", "missed")
        self.until(lambda: self.now.calls[later].started)
        pairing = next(one for one in self.now.pairings if one.id == wrong)
        right = next(team for team in pairing.teams if team != pairing.winner)
        console.unfold("[data-do=correct]")
        console.pick("[data-do=correct] [name=match]", f"{self.name_of(wrong)}: {right} won")
        console.touch_twice("[data-do=correct] button:not([type=reset])")
        self.seen("#said:not(:empty)")
        self.look(
            "correct-asked", "A result was wrong, but a later match has begun: the page asks what to do", console.page
        )
        console.pick("[data-do=correct] [name=then]", "play them again")
        console.touch_twice("[data-do=correct] button:not([type=reset])")
        self.until(lambda: table.table.view.void)
        self.look("hall boards", "The result is corrected: the table of the later match is told to stop playing")
        table.do("close void")
        self.until(lambda: later in self.now.calls and right in self.now.calls[later].teams)
