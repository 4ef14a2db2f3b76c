"""Whole tournaments, end to end: hub, broker and tables are the real programs, everything is driven in a real Chromium.

Four tables have mats: the simulated world's sensors, firmware's frames through a pseudo-terminal, the simulated players
strike and hide. One more has none: its judge plays every match on the console, on a phone. The director plans, enters a
list of teams, draws, confirms, withdraws a team, undoes; the committee decides a protest; a captain looks at the team's
page and a board hangs on the wall. At the end all of it is checked against the tables' own journals.

    python tests/hub/whole_tournaments.py dakota --teams 24 --tables 4
    python tests/hub/whole_tournaments.py slahal --teams 8 --tables 4 --minutes 1
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

from pi_controller.board.buttons import MockButtons
from pi_controller.config import read_settings
from pi_controller.errors import MatError
from pi_controller.hub.store import TournamentLog
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import MatchGiven
from pi_controller.referee.history import fold
from pi_controller.rules import registry
from pi_controller.runtime.assembly import assemble
from pi_controller.runtime.run import Stop, steady_clock
from pi_controller.simulation.mat import SimMat
from pi_controller.simulation.simulation import TICK_S, people_for
from pi_controller.tournament.director import History
from pi_controller.web.accounts import FILE, PinHasher, Users

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from headless import ARGUMENTS, CHROMIUM
from ports import free_port

PIN = "271828"
LOOK_S = 0.3
IDLE_S = 0.1
"""A table without a match takes a step so often, unless it is paced."""
PATIENCE_S = 120.0
PLAYERS = 5
BY_HAND = {
    "dakota": ("[data-id=toss-A]", "[data-id=missed]"),
    "slahal": (
        "[data-id=answer-time]",
        "[data-id=duo-1]",
        "[data-row=signal] [data-value='2']",
        "[data-row=actual] [data-value='0']",
    ),
}
"""What the judge touches at the table without a mat, the first that is there."""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def play_table(path, seed, paced):
    """Run the table of the settings at `path` until SIGTERM, on a simulated mat whose people play each match.

    With `paced` in real time; else as fast as the machine can, time at the table running ahead.
    """
    stop, wall = Stop(), steady_clock()
    stop.at_signals()
    with ExitStack() as stack:
        mat = stack.enter_context(SimMat(seed))
        text = path.read_text("utf-8").replace('port = "none"', f'port = "{mat.device}"')
        path.write_text(text, "utf-8")
        t = wall()
        made = assemble(read_settings(path), path.parent, lambda: t, stack)
        daemon, queue, pressed = made.daemon, made.command_queue, MockButtons()
        daemon._buttons = pressed
        pressed.listen(daemon._queue_press)
        people, epoch, sent, played = None, "", 0, 0
        while not stop.requested:
            table, about = daemon.table, daemon.table.journal.meta
            if about is not None and about.epoch != epoch:
                epoch, played = about.epoch, played + 1
                of_a_match = any(isinstance(fact, MatchGiven) for _, fact in table.journal.read())
                people = None
                if of_a_match:
                    people = people_for(
                        table.game,
                        100 * seed + played,
                        mat.world,
                        lambda name: pressed.press(name, t),  # noqa: B023 - now is now
                        lambda call: judged(daemon.table, call),
                    )
                    people.watch(table.view)
            if people is not None and table.view.phase == "over":
                people = None
            if people is not None:
                people.act(t)
            n = mat.advance(TICK_S, sent)
            t += TICK_S
            before = daemon.sent
            daemon.step(t, at_least=n)
            sent = daemon.sent - before
            queue.serve(daemon.table, t)
            if people is not None:
                people.watch(daemon.table.view)
            if paced or people is None:
                stop.wait(max(0.0, t - wall()) if paced else IDLE_S)


def judged(table, call):
    try:
        table.judge(call)
    except MatError as error:  # the mat was quicker
        print(error.message, file=sys.stderr)


class Venue:
    """Hub and tables of a tournament in `folder`, each a program of its own; close it."""

    def __init__(self, folder, game, tables, *, paced, options=""):
        self.folder, self.game = folder, game
        self._stack = ExitStack()
        self.broker, self.port, self.judge_port = free_port(), free_port(), free_port()
        (folder / "hub.toml").write_text(f"[broker]\nport = {self.broker}\n[page]\nport = {self.port}\n")
        with closing(Users(folder / FILE)) as users:
            for name, role in (("Ann", "head"), ("Com", "committee")):
                users.add(name, role, PinHasher().hash(PIN))
        self.url = f"http://127.0.0.1:{self.port}"
        self.errors = folder / "errors.log"
        with self.errors.open("ab") as log:
            self._start([sys.executable, "-m", "pi_controller", "hub", "run", str(folder)], log)
            for n in range(1, tables + 1):
                settings = self._settings(f"t{n:02}", "[web]\nenabled = false\n")
                how = ["--table", str(settings), "--seed", str(n), *(["--paced"] if paced else [])]
                self._start([sys.executable, __file__, game, *how], log)
            web = f'[web]\nhost = "127.0.0.1"\nport = {self.judge_port}\njudges = true\n'
            settings = self._settings(f"t{tables + 1:02}", web)
            with closing(Users(settings.parent / f"t{tables + 1:02}" / FILE)) as users:
                users.add("Jo", "judge", PinHasher().hash(PIN))
            self._start([sys.executable, "-m", "pi_controller", "run", "--settings", str(settings)], log)
        self.by_hand = f"t{tables + 1:02}"

    def _settings(self, name, web):
        (self.folder / name).mkdir()
        path = self.folder / f"{name}.toml"
        path.write_text(
            f'[table]\nname = "Table {int(name[1:])}"\njournal = "{name}/table.sqlite"\n[board]\nport = "none"\n'
            f'[game]\nname = "{self.game}"\n{web}'
            f'[hub]\naddress = "127.0.0.1"\nport = {self.broker}\ntable = "{name}"\n',
            "utf-8",
        )
        return path

    def _start(self, command, log):
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        self._stack.callback(self._stop, process)

    @staticmethod
    def _stop(process):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def get(self, path):
        return httpx.get(f"{self.url}/{path}", timeout=60, verify=False).json()

    def close(self):
        self._stack.close()


class People:
    """Director, committee, captain, judge and the board on the wall, each with a browser of their own."""

    def __init__(self, venue, browser, complaints):
        self.venue, self.complaints = venue, complaints
        self.director = self._page(browser, viewport={"width": 1366, "height": 900})
        self.committee = self._page(browser, **PHONE)
        self.captain = self._page(browser, **PHONE)
        self.board = self._page(browser, viewport={"width": 1920, "height": 1080})
        self.judge = self._page(browser, **PHONE)
        for page, name in ((self.director, "Ann"), (self.committee, "Com")):
            self._sign_in(page, f"{venue.url}/director", name)
            page.wait_for_selector("[data-region=log]")
        self.board.goto(venue.url)
        self.judged = 0

    def _page(self, browser, **how):
        page = browser.new_context(reduced_motion="reduce", **how).new_page()
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    @staticmethod
    def _sign_in(page, url, name):
        end = time.monotonic() + 120
        while True:
            try:
                page.goto(url)
                break
            except PlaywrightError:  # it starts
                if time.monotonic() > end:
                    raise
                time.sleep(0.3)
        page.fill("#name", name)
        page.fill("#pin", PIN)
        page.press("#pin", "Enter")

    def answer(self, page=None):
        """Return what the console answered, and wait for it."""
        page = page or self.director
        page.wait_for_function("() => document.querySelector('#said').textContent")
        text, good = page.evaluate(
            "[document.querySelector('#said').textContent, document.querySelector('#said').dataset.value]"
        )
        page.evaluate("document.querySelector('#said').textContent = ''")
        return good == "good", text

    def sent(self, form, **fields):
        """Fill a form of the director's console and send it."""
        self.director.locator(form).evaluate("form => form.closest('details')?.setAttribute('open', '')")
        for name, value in fields.items():
            field = self.director.locator(f"{form} [name={name}]")
            if field.evaluate("one => one.tagName") == "SELECT":
                field.select_option(value)
            else:
                field.fill(value)
        self.director.locator(f"{form} button").first.click()
        if self.director.locator(f"{form}[data-ask]").count():
            self.director.locator(f"{form} [data-asked]").click()
        return self.answer()

    def plan(self, **fields):
        """Plan the tournament, without the rest between two matches that the form proposes."""
        self.director.locator("[data-do=plan] details").evaluate("one => { one.open = true; }")
        good, text = self.sent("[data-do=plan]", rest_s="0", **fields)
        assert good, text

    def enter(self, teams):
        rows = [",".join([team, *(f"{team} {n}" for n in range(1, PLAYERS + 1))]) for team in teams]
        path = self.venue.folder / "teams.csv"
        path.write_text("\n".join(rows), "utf-8-sig")
        self.director.set_input_files("[data-file] [type=file]", path)
        self.director.locator("[data-file] button").click()
        good, text = self.answer()
        assert good, text

    def confirm(self):
        """Confirm the results that wait; return whether there was one."""
        button = self.director.locator("[data-region=reports] button.main")
        if not button.count():
            return False
        try:
            button.first.click(timeout=5_000)
        except PlaywrightError:  # it was taken back, or the page has just changed
            return False
        return self.answer()[0]

    def undo(self):
        return self.twice("[data-undo]")

    def twice(self, selector):
        """Touch a button, and once more when it asks for that; on a slow machine it may have stopped asking."""
        button = self.director.locator(selector)
        while True:
            button.first.click()
            asked = self.director.locator(f"{selector}[data-asked]")
            try:
                asked.click(timeout=3_000)
            except PlaywrightError:
                continue
            return self.answer()

    def play_by_hand(self, game):
        """Do the next thing at the table without a mat, on its judge's console."""
        page = self.judge
        if not self.judged:
            self._sign_in(page, f"http://127.0.0.1:{self.venue.judge_port}/judge", "Jo")
            page.wait_for_function("() => document.querySelector('#play')?.dataset.shape !== undefined")
        self.judged += 1
        for one in BY_HAND[game]:
            button = page.locator(f"#play {one}:visible, #question {one}:visible")
            if button.count():
                try:
                    button.first.click(timeout=3_000)
                    page.wait_for_function("() => !document.querySelector('[data-busy]')")
                except PlaywrightError:  # the table has moved on
                    pass
                return


def tournament(game, teams, tables, points, minutes, seed, folder, pictures=None, limit_s=3600.0):
    """Play one whole tournament; return its figures. `AssertionError` for whatever is wrong."""
    began, complaints, figures = time.monotonic(), [], Counter()
    names = [f"Team {n}" for n in range(1, teams + 1)]
    judges = [f"Judge {n}" for n in range(1, tables + 1)] + [f"{names[n]} {PLAYERS}" for n in range(min(2, teams))]
    with ExitStack() as stack:
        venue = Venue(folder, game, tables, paced=game == "slahal")
        stack.callback(venue.close)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        stack.callback(browser.close)
        people = People(venue, browser, complaints)
        options = f"points={points}" if game == "dakota" else f"minutes={minutes}"
        kind = "double" if game == "dakota" else "round_robin"
        people.plan(
            title="A whole tournament", game=game, options=options, format=kind, judges="hub", calling="automatic"
        )
        people.enter(names)
        for judge in judges:
            assert people.sent("[data-do=appoint]", judge=judge)[0]
        assert people.sent("[data-do=draw]:has([name=seed])", seed=f"dice {seed}")[0]
        drawn = venue.get("tournament.json")
        assert sorted(drawn["teams"]) == sorted(names)
        people.captain.goto(f"{venue.url}/team/1")
        withdrawn = names[-1]
        todo = ["announce", "protest", "withdraw", "undo", "unused"]
        while (now := venue.get("tournament.json"))["champion"] is None:
            assert time.monotonic() - began < limit_s, (
                "it takes too long",
                now["calls"],
                venue.errors.read_text()[-2000:],
            )
            seen(now["calls"], venue, people, figures)
            if game == "slahal":
                start_clock(people, figures, now, tables + 1)
            if any(call["table"] == venue.by_hand for call in now["calls"]):
                people.play_by_hand(game)
            due = (5 - len(todo)) * teams // 8
            if todo and len(venue.get("results.json")["results"]) >= due and now["calls"]:
                something(todo.pop(0), people, venue, figures, withdrawn, now["calls"][0])
            figures["confirmed"] += people.confirm()
            if not people.judged or now["calls"]:
                time.sleep(LOOK_S if game == "slahal" else 0.15)
            if pictures and figures["looks"] % 200 == 20:
                people.board.screenshot(path=pictures / f"{game}-board.png", full_page=True)
                people.director.screenshot(path=pictures / f"{game}-director.png", full_page=True)
                people.captain.screenshot(path=pictures / f"{game}-team.png", full_page=True)
        figures["seconds"] = round(time.monotonic() - began)
        champion = now["champion"]
        people.board.wait_for_function(
            "champion => document.body.textContent.includes(champion)", arg=f"Winner: {champion}"
        )
        checked(venue, people, game, figures, champion, names, todo)
    assert complaints == []
    return champion, figures


def start_clock(people, figures, now, tables):
    """Start the round's clock when all its matches are at tables."""
    button = people.director.locator("[data-region=clock_buttons] button.main")
    called = {call["match"] for call in now["calls"]}
    number = min((one["round"] for one in now["ready"]), default=0)
    wait = {one["match"] for one in now["ready"] if one["round"] == number} - called
    if not button.count() or not called or (wait and len(called) < tables):
        return
    shown = {one["table"]: set(one["view"]["teams"].values()) for one in people.venue.get("tables.json")["tables"]}
    if not all(shown.get(call["table"]) == set(call["teams"]) for call in now["calls"]):
        return  # a table has not taken its match yet
    if people.twice("[data-region=clock_buttons] button.main")[0]:
        figures["clocks"] += 1


def seen(calls, venue, people, figures):
    """Look as everybody does: nobody is at two tables, and the board on the wall says what the program is told."""
    figures["looks"] += 1
    playing = [team for call in calls for team in call["teams"]]
    assert len(set(playing)) == len(playing), calls
    assert len({call["table"] for call in calls}) == len(calls), calls
    if figures["looks"] % 20 == 1:
        for call in calls:
            until(lambda call=call: on_the_board(call, venue, people))
        figures["boards looked at"] += 1


def on_the_board(call, venue, people):
    """Return whether the wall shows the teams of `call` at a table; or that is over meanwhile."""
    shown = people.board.locator("[data-region=tables]").inner_text()
    orders = [(one["match"], one["table"]) for one in venue.get("tournament.json")["calls"]]
    return all(team in shown for team in call["teams"]) or (call["match"], call["table"]) not in orders


def until(holds):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(LOOK_S)


def something(what, people, venue, figures, withdrawn, call):
    """The things that happen at a tournament."""
    match what:
        case "announce":
            assert people.sent("[data-do=announce]", text="Soup is ready")[0]
            people.board.get_by_text("Soup is ready").wait_for()
            people.captain.reload()
            assert people.captain.locator("h1").inner_text()
        case "protest":
            assert people.sent("[data-do=protest]", match=call["match"], text="the sleeve")[0]
            form = people.committee.locator("[data-do=ruling]").first
            form.locator("[name=reason]").fill("nothing was seen")
            form.locator("[value=denied]").click()
            assert people.answer(people.committee)[0]
            figures["protests"] += 1
        case "withdraw":
            assert people.sent("[data-do=withdraw]", team=withdrawn)[0]
            figures["withdrawn"] += 1
        case "unused":
            button = people.director.locator("[data-region=stream] .row", has_text="Table 1").locator(
                "[data-send*='on']"
            )
            button.last.click()
            done, answer = people.answer()
            assert done, answer
            figures["tables taken out"] += 1
        case "undo":
            assert people.sent("[data-do=announce]", text="The wrong word")[0]
            people.board.get_by_text("The wrong word").wait_for()
            people.undo()
            people.board.get_by_text("Soup is ready").wait_for()
            figures["undone"] += 1


def checked(venue, people, game, figures, champion, names, todo):
    """Check the whole tournament against its log and the tables' own journals."""
    results = venue.get("results.json")["results"]
    standings = venue.get("tournament.json")["standings"]
    assert todo == [], "something has not happened"
    page = people.captain
    page.goto(f"{venue.url}/bracket")
    shown = page.locator("main").inner_text()
    for row in results:
        assert f"{row['teams'][0]} against {row['teams'][1]}" in shown
    for n, team in enumerate(venue.get("tournament.json")["teams"], 1):
        if team == champion:
            page.goto(f"{venue.url}/team/{n}")
            assert page.locator(".winner", has_text=champion).count() >= 3 - (len(names) < 4)
    venue.close()
    journals = {}
    for path in venue.folder.glob("t[0-9]*/*.sqlite"):
        if path.name != FILE:
            found = verify_journal(path)
            assert found.whole, (path, found)
            journals[found.epoch] = path
    for row in results:
        if row["walkover"]:
            figures["walkovers"] += 1
            continue
        assert row["journal"], row
        with Journal(journals[row["journal"]], read_only=True) as journal:
            given = next(fact for _, fact in journal.read() if isinstance(fact, MatchGiven))
            opened = journal.read_opening()
            rules = registry.game(opened.game, opened.options)
            story = fold(rules, journal.read())
        sheet, teams = rules.sheet(story.state), dict(story.teams)
        assert (given.match, teams[sheet["winner"]]) == (row["match"], row["winner"]), row
        assert sorted(teams.values()) == sorted(row["teams"])
        if game == "slahal":
            score = rules.score(story.state)
            assert {teams[side]: n for side, n in score.items()} == row["sticks"], row
        figures["matches"] += 1
        figures[f"at {row['table']}"] += 1
    history = History()
    with TournamentLog(venue.folder / "hub.sqlite") as log:
        for decision in log.read():
            now = history.add(decision)
            calls = list(now.calls.values())
            playing = [team for call in calls for team in call.teams]
            assert len(set(playing)) == len(playing), decision
            at_tables = [call.judge for call in calls if call.judge]
            assert len(set(at_tables)) == len(at_tables), decision
            assert not {now.registration.team_of(judge) for judge in at_tables} & set(playing), decision
    figures["decisions"] = len(history.decisions)
    assert history.now.champion == champion
    if game == "dakota":
        lost = Counter(team for row in results for team in row["teams"] if team != row["winner"])
        assert all(lost[team] == 2 for team in names if team != champion), lost
        assert len(results) in (2 * len(names) - 2, 2 * len(names) - 1)
    else:
        assert len([row for row in results if not row["match"].startswith("P")]) == len(names) * (len(names) - 1) // 2
        assert standings[0]["team"] == champion


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=("dakota", "slahal"))
    parser.add_argument("--teams", type=int, default=None, help="24 of dakota, 8 of slahal")
    parser.add_argument("--tables", type=int, default=4, help="with simulated sensors; there is one more without")
    parser.add_argument("--points", type=int, default=5, help="of a game of dakota")
    parser.add_argument("--minutes", type=int, default=1, help="of a round of slahal, which is played in real time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=3600.0, help="s after which it has failed")
    parser.add_argument("--pictures", type=Path, help="a folder for what the pages look like meanwhile")
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--paced", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.table:
        return play_table(args.table, args.seed, args.paced)
    with tempfile.TemporaryDirectory(prefix="whole-tournament-") as folder:
        teams = args.teams or {"dakota": 24, "slahal": 8}[args.game]
        champion, figures = tournament(
            args.game, teams, args.tables, args.points, args.minutes, args.seed, Path(folder), args.pictures, args.limit
        )
    print(f"{champion} has won: {', '.join(f'{name} {n}' for name, n in figures.items())}")
    return None


if __name__ == "__main__":
    sys.exit(main())
