"""Pictures of the director's desk on a day that goes wrong: `python tests/hub/desk_pictures.py FOLDER`.

Two tables of the hall have one name, a result is entered for a match that nobody began, the settings of the day change,
and the mat of a table breaks in the middle of a match, which moves to another table. On two more days without tables a
match is played again, one is protested, one is lost by both teams, a team comes late, another gets a new name, a slip
is refused, and of two teams that share the first place one leaves. Each step is done with the page itself, in Chromium
at a laptop's and a phone's size. Needs Chromium and Mosquitto.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from brokers import VENUE, Mosquitto, RunningHub
from headless import ARGUMENTS, CHROMIUM, UPDATED, wait_until
from hub_hall import Played
from hub_site import Site
from tournament_day import Phone

from pi_controller.hub.table_link import TableLink

TEAMS = ("Lower Sioux", "Spirit Lake", "Prairie Island", "Upper Sioux", "Big Coulee", "Long Hollow", "Veblen", "Peever")
LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
WALL = {"width": 1920, "height": 1080}
NAMES = {"t01": "Table 1", "t02": "Table 2", "t03": "Table 1", "t04": "Table 4"}


class NamedTable(Played):
    """A table that has the name of its settings."""

    def start(self):
        super().start()
        self.link.close()
        name = NAMES[self.broker.user]
        self.link = TableLink(self.broker, VENUE, name, self.path, command_queue=self.queue)
        self.step()


class ShownHub(RunningHub):
    """A hub whose tables are on the pages of `site`."""

    def __init__(self, site, broker):
        self._pages = site.pages
        super().__init__(site.inbox, broker, site.director)

    def _show(self, tables):
        super()._show(tables)
        self._pages.publish(tables)


class Desk(Phone):
    """The director's page, whose clicks show on a laptop's and a phone's picture; `folder` gets the pictures."""

    def __init__(self, browser, site, folder, tables):
        super().__init__(browser)
        self.browser, self.site, self.folder, self.tables, self.number = browser, site, folder, tables, 0
        site.share_session(self.context)
        self.page.set_viewport_size(LAPTOP)
        self.open(f"{site.origin}/director")
        self.page.wait_for_function(UPDATED)

    def until(self, holds):
        def stepped():
            for table in self.tables.values():
                table.step()
            return holds()

        wait_until(self.page, stepped)
        assert holds()

    def seen(self, selector, **how):
        self.page.locator(selector, **how).first.wait_for(state="attached")

    def look(self, name, selector):
        """Take a picture of the console at `selector`, for both sizes."""
        for size, kind in ((LAPTOP, "laptop"), (PHONE, "phone")):
            self.page.set_viewport_size(size)
            self.page.locator(selector).first.evaluate("one => one.scrollIntoView({ block: 'center' })")
            self.take(self.page, f"{name}-{kind}")
        self.page.set_viewport_size(LAPTOP)

    def look_at(self, name, address, size):
        """Take a picture of a public page."""
        tab = self.browser.new_page(viewport=size, reduced_motion="reduce")
        tab.goto(self.site.origin + address)
        tab.evaluate("document.fonts.ready")
        self.take(tab, name)
        tab.close()

    def take(self, page, name):
        self.number += 1
        page.screenshot(path=self.folder / f"{self.number:02}-{name}.png")

    @property
    def now(self):
        return self.site.director.now


def show_day(desk):
    """Do each thing once."""
    tables = desk.tables
    desk.until(lambda: all(table.match for table in tables.values()))
    desk.seen(".alarm", has_text="are called")
    desk.look("equal-names", ".alarm")
    desk.look_at("equal-names-wall", "/hall", WALL)
    desk.look_at("equal-names-announcer", "/announcer", PHONE)
    tables["t03"].link.close()
    NAMES["t03"] = "Table 3"
    tables["t03"].close()
    tables["t03"].start()
    desk.page.locator(".alarm", has_text="are called").wait_for(state="detached")

    match = next(call.match for call in desk.now.calls.values() if call.table == "t02")
    winner = desk.now.calls[match].teams[0]
    desk.touch(f"[data-send*='{match}']:has-text('{winner} won')")
    desk.look("by-hand", "[data-asked]")
    desk.touch("[data-asked]")
    desk.until(lambda: match not in desk.now.calls and tables["t02"].table.view.void in {"decided", ""})
    desk.page.wait_for_timeout(500)
    desk.look("no-false-alert", "[data-region=alerts]")
    desk.look_at("by-hand-wall", "/hall", WALL)

    desk.unfold("[data-do=settings]")
    desk.type("[data-do=settings] [name=grace_s]", "15")
    desk.pick("[data-do=settings] [name=calling]", "by the director")
    desk.touch("[data-do=settings] button:not([type=reset])")
    desk.look("settings", "[data-do=settings] .buttons")
    desk.touch("[data-asked]")
    desk.until(lambda: desk.now.plan.calling == "director" and desk.now.plan.grace_s == 900.0)
    desk.look("settings-changed", "[data-region=log]")

    match = next(call.match for call in desk.now.calls.values() if call.table == "t01")
    tables["t01"].do("toss A", "found", "missed", "missed", "found")
    desk.until(lambda: desk.now.calls[match].started)
    desk.unfold("[data-do=move]")
    desk.look("move", "[data-do=move]")
    target = desk.page.locator("[data-do=move] [name=table]").input_value()
    desk.touch("[data-do=move] button:not([type=reset])")
    desk.look("move-asked", ".ask[role=alert]")
    desk.touch("[data-asked]")
    moved = tables[target]
    desk.until(lambda: moved.match == match and tables["t01"].table.view.void == "moved")
    desk.until(lambda: desk.site.inbox.record_counts()[target].get(moved.journal.meta.epoch) == moved.journal.seq)
    assert moved.table.story.state == tables["t01"].table.story.state
    desk.page.wait_for_timeout(500)
    desk.look("moved", "[data-region=matches]")
    desk.look("moved-log", "[data-region=log]")
    desk.look_at("moved-wall", "/hall", WALL)
    desk.look_at("moved-boards", "/", PHONE)

    lost = tables.pop(target)
    lost.close()
    desk.seen(".table-card[data-state=stopped]")
    desk.seen(".alarm", has_text="no connection")
    if not desk.page.locator("[data-row] details p.quiet").is_visible():
        desk.touch("[data-row] details:has(p.quiet) > summary")
    desk.look("lost-table", ".alarm")
    desk.touch("[data-row$=' t04'] [data-send*=recall]")
    desk.seen("[data-do=move]")
    desk.touch("[data-do=move] button:not([type=reset])")
    desk.read_question()
    desk.touch("[data-asked]")
    desk.until(lambda: tables["t04"].match == match)
    desk.seen("[data-row$=' t04']", has_text=match)
    assert tables["t04"].table.story.state == lost.table.story.state
    desk.page.wait_for_timeout(500)
    desk.look("moved-from-lost-table", "[data-region=matches]")


def show_rulings(desk):
    """Rule on matches and teams of a double elimination; results are entered by hand."""
    first, second, third = (one.id for one in desk.now.ready)
    _win(desk, first, 0)
    _win(desk, second, 1)
    desk.unfold("[data-do=protest]")
    desk.page.locator("[data-do=protest] [name=match]").select_option(value=first)
    desk.type("[data-do=protest] [name=text]", "the sleeve")
    desk.look("protest", "[data-do=protest]")
    desk.touch("[data-do=protest] button:not([type=reset])")
    desk.until(lambda: desk.now.protests)
    desk.page.wait_for_timeout(500)
    desk.look("protest-holds", "[data-region=protests]")
    desk.unfold("[data-do=replay]")
    desk.page.locator("[data-do=replay] [name=match]").select_option(value=first)
    desk.touch("[data-do=replay] button:not([type=reset])")
    desk.look("replay", ".ask[role=alert]")
    desk.touch("[data-asked]")
    desk.until(lambda: desk.now.pairing(first).winner is None)
    desk.page.wait_for_timeout(500)
    desk.look("replayed", "[data-region=matches]")

    for team in (0, 1):
        desk.unfold("[data-do=forfeit]")
        label = f"{desk.now.pairing(third).teams[team]} ({third})"
        desk.pick("[data-do=forfeit] [name=match]", label)
        desk.touch("[data-do=forfeit] button:not([type=reset])")
        desk.read_question()
        desk.touch("[data-asked]")
        desk.page.wait_for_timeout(500)
    desk.look("nobody-wins", "[data-region=log]")

    desk.unfold("[data-do=add]")
    desk.type("[data-do=add] [name=team]", "Granite Falls")
    desk.touch("[data-do=add] button:not([type=reset])")
    desk.look("late-team", ".ask[role=alert]")
    desk.touch("[data-asked]")
    desk.until(lambda: "Granite Falls" in desk.now.entered)

    desk.unfold("[data-do=rename]")
    desk.pick("[data-do=rename] [name=team]", "Veblen")
    desk.type("[data-do=rename] [name=name]", "Old Agency")
    desk.touch("[data-do=rename] button:not([type=reset])")
    desk.look("rename", ".ask[role=alert]")
    desk.touch("[data-asked]")
    desk.until(lambda: "Old Agency" in desk.now.entered)
    desk.page.wait_for_timeout(500)
    desk.look("renamed-and-late", "[data-region=log]")
    desk.look_at("rulings-bracket", "/", LAPTOP)


def show_places(desk):
    """Refuse a slip of Lahal, and let one of two teams that share the first place leave a round robin."""
    match = desk.now.ready[0]
    desk.unfold("[data-do=result]")
    desk.pick("[data-do=result] [name=match]", f"{match.id}: {match.teams[0]} won")
    desk.type("[data-do=result] [name=sticks_winner]", "9")
    desk.type("[data-do=result] [name=sticks_other]", "9")
    desk.touch("[data-do=result] button:not([type=reset])")
    desk.read_question()
    desk.touch("[data-asked]")
    desk.seen("#said[data-value=bad]")
    desk.look("slip-refused", "[data-do=result]")
    best, other, *_ = desk.now.entered
    # these two win all their other matches, and neither wins their own: a play-off is due
    while not (one := desk.now.ready[0]).id.startswith("P"):
        winner = next((team for team in one.teams if team in {best, other}), one.teams[0])
        sticks = {team: 7 if team == winner else 4 for team in one.teams}
        won = {"do": "result", "winner": winner, "sticks": sticks}
        answer = desk.site.decide(match=one.id, **({"do": "tie"} if {*one.teams} == {best, other} else won))
        assert answer.status_code == 200, answer.text
    desk.page.reload()
    desk.unfold("[data-do=withdraw]")
    desk.pick("[data-do=withdraw] [name=team]", best)
    desk.touch("[data-do=withdraw] button:not([type=reset])")
    desk.look("leaves-tied", ".ask[role=alert]")
    desk.touch("[data-asked]")
    desk.until(lambda: desk.now.champion == other)
    desk.page.wait_for_timeout(500)
    desk.look("champion", "[data-region=log]")
    desk.look_at("champion-boards", "/", LAPTOP)


def _win(desk, match, team):
    winner = desk.now.pairing(match).teams[team]
    desk.unfold("[data-do=result]")
    desk.pick("[data-do=result] [name=match]", f"{match}: {winner} won")
    desk.touch("[data-do=result] button:not([type=reset])")
    desk.read_question()
    desk.touch("[data-asked]")
    desk.until(lambda: desk.now.pairing(match).winner == winner)
    desk.page.wait_for_timeout(500)


def show_without_tables(browser, folder, number, show, teams, **plan):
    """Open a site of its own with `teams` drawn, and show its desk; return how many pictures there are."""
    with tempfile.TemporaryDirectory() as place:
        site = Site(Path(place))
        site.sign_in()
        for fact in (
            {"do": "plan", "title": "Wacipi", "results": "confirm", "rest_s": 0, **plan},
            {"do": "enter", "teams": [{"name": team} for team in teams]},
            {"do": "draw", "order": [*teams]},
        ):
            assert site.decide(**fact).status_code == 200
        desk = Desk(browser, site, folder, {})
        desk.number = number
        show(desk)
        site.close()
        return desk.number


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        broker = Mosquitto(Path(place) / "broker", [*NAMES]).start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        site = Site(Path(place))
        site.sign_in()
        plan = {"title": "Wacipi", "results": "confirm", "rest_s": 0, "options": {"points": "5"}}
        for fact in (
            {"do": "plan", **plan},
            {"do": "enter", "teams": [{"name": team} for team in TEAMS]},
            {"do": "draw", "order": [*TEAMS]},
        ):
            assert site.decide(**fact).status_code == 200
        hub = ShownHub(site, broker.account("hub"))
        tables = {name: NamedTable(Path(place) / f"{name}.sqlite", broker.account(name)) for name in NAMES}
        try:
            desk = Desk(browser, site, folder, tables)
            show_day(desk)
            number = show_without_tables(browser, folder, desk.number, show_rulings, TEAMS[:7])
            rules = {"game": "slahal", "format": "round_robin"}
            show_without_tables(browser, folder, number, show_places, TEAMS[:4], **rules)
        finally:
            for table in tables.values():
                table.close()
            hub.close()
            site.close()
            browser.close()
            broker.kill()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
