"""Content of the hub's pages: tables, bracket and standings, teams, results, and the director's console."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import Translator
from pi_controller.display.shown_names import isolate_name
from pi_controller.hub.decision_log import (
    DAY_CHOICES,
    DAY_FORM,
    DAY_MINUTES,
    LATER_MATCH_CHOICES,
    DecisionLog,
    format_time,
)
from pi_controller.hub.hall import WHOLE_CHARS, wall_parts
from pi_controller.hub.join_server import Joining
from pi_controller.hub.table_cards import format_judge_requests, tables_markup
from pi_controller.hub.table_names import name_tables, same_names
from pi_controller.rules import registry
from pi_controller.text import Sentence, join_words, mark
from pi_controller.tournament import decisions as d
from pi_controller.tournament.director import Tournament
from pi_controller.tournament.schedule import Break, break_end, end_without_breaks, natural_order
from pi_controller.tournament.timetable import (
    MIN_PLAYED,
    ExpectedStart,
    Timetable,
    estimate_timetable,
    measure_durations,
)
from pi_controller.web.bracket_page import bracket_values, name_match
from pi_controller.web.bracket_sheets import bracket_sheets
from pi_controller.web.host_marks import HostMarks
from pi_controller.web.room_page import score_lines
from pi_controller.web.templates import render, text_size

if TYPE_CHECKING:
    from pi_controller.hub.director import Director, GameAtTable, PlayedGame
    from pi_controller.hub.hub import TableStatus
    from pi_controller.tournament.competition import Pairing

_HERE = Path(__file__).parent
TIMETABLE_S = 20.0
"""A timetable is used for this long if no decision was made since."""
DOUBT_S = 900.0
"""If the range of an estimate is longer than this, or than its time ahead, it is shown."""
CALLED_CHARS = 110, 300, 500
"""Limits above which the called matches are set smaller on the wall, so that they take two or three lines."""
ON_DECK = 2
"""How many of the next matches the announcer sees."""
SPREADSHEET_MARKS = ("=", "+", "-", "@", "\t")
"""Characters that make a spreadsheet read a field as a formula."""


_FINISHES: Mapping[str, str] = {"king_moved": mark("The king was moved too early")}
"""How a game can end that the captains' slip must name: `competition.Finish` and the label on the page."""


class Boards:
    """Renders the pages in the language of `tr` from the state of `director` and the tables.

    `clock` returns s since 1970; the machine's clock is `ahead` of it. `joining` returns the tables that may join or
    have joined, None before tables can; `host` are the host's marks.
    """

    def __init__(
        self,
        director: Director,
        clock: Callable[[], float],
        tr: Translator,
        joining: Callable[[], Joining | None] = lambda: None,
        host: HostMarks | None = None,
        ahead: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.director = director
        self.host = host
        self._joining = joining
        self._clock, self._ahead = clock, ahead
        self.tables: tuple[TableStatus, ...] = ()
        self._tr = tr
        self.log = DecisionLog(director, self.table_name, tr, self._format_time)
        self._estimated: tuple[tuple[object, ...], float, Timetable | None] | None = None
        self._final: tuple[int, PlayedGame | None] | None = None
        self._reading_final = threading.Lock()
        self._named: tuple[Tournament | None, Mapping[str, str]] = None, {}

    def _format_time(self, t: float | None, form: str = "%H:%M:%S") -> str:
        """Return `t` of the hub's clock as the machine's time of day."""
        return format_time(None if t is None else t + self._ahead(), form)

    @property
    def now(self) -> Tournament:
        """The current state of the tournament."""
        return self.director.now

    def title(self) -> str:
        """Return the tournament's title."""
        return self.now.plan.title if self.now.plan else self._tr.text("All tables")

    def regions(self, page: str) -> dict[str, str]:
        """Return the changing parts of a page as {element id: HTML}."""
        return {name: str(part) for name, part in self._parts(page).items()}

    def page(self, page: str, **more: Any) -> str:
        """Return a whole page: `boards`, `hall`, `bracket`, `announcer` or `director`."""
        parts = self._parts(page)
        values = {"title": self.title(), "regions": parts, "host": self.host, **more}
        values["joins"] = self._joining() is not None
        return render(_HERE / f"{page}.html", self._tr, **values)

    def encrypted_page(self, where: str) -> str:
        """Return the page that leads to the sign-in at the address `where`; "" if there is no encryption yet."""
        return render(_HERE / "encrypted.html", self._tr, where=where)

    def team(self, number: int) -> str | None:
        """Return the page of team `number`, counted in order of seeds from 1; None if there is no such team."""
        if not (team := self._team_name(number)):
            return None
        values = {"title": self.title(), "host": self.host, "team": team, "number": number}
        return render(_HERE / "team.html", self._tr, regions=self._parts(f"team/{number}"), **values)

    def _team_name(self, number: int) -> str:
        """Return the name of team `number`, counted in order of seeds from 1; "" if there is no such team."""
        teams = self.now.state.teams or self.now.entered
        return teams[number - 1] if 1 <= number <= len(teams) else ""

    def _call_of_team(self, number: int) -> str:
        """Return where team `number` is called to as a sentence, "" if it is not called."""
        team = self._team_name(number)
        call = next((one for one in self.now.calls.values() if team in one.teams and not one.started), None)
        if call is None:
            return ""
        where = self._tr.text("{table}, now", table=self.table_name(call.table))
        return f"{where}. {self._name_match(call.match)}."

    def _team(self, number: int) -> Markup:
        now = self.now
        teams = now.state.teams or now.entered
        team = teams[number - 1] if 1 <= number <= len(teams) else ""
        matches = [one for one in now.pairings if team in one.teams and all(one.teams)]
        standings = now.competition.standings(now.state) if now.state.teams else ()
        call = next((now.calls[one.id] for one in matches if one.id in now.calls), None)
        return self._render(
            "team",
            clock=self._clock_shown(),
            players=[(name, now.registration.out.get(name, "")) for name in now.registration.teams.get(team, ())],
            matches=[
                (one, next(name for name in one.teams if name != team), self._table_of(one.id)) for one in matches
            ],
            standing=next((row for row in standings if row["team"] == team), None),
            call=call,
            table=self.table_name(call.table) if call else "",
            ends=self._format_time(now.call_deadline(call), "%H:%M") if call else "",
            soon=self._next_start_of(team) if call is None else None,
            break_=self._break_text(),
            names=self._match_names(),
            over=now.is_over,
            champion=now.champion if now.is_over else None,
        )

    def _next_start_of(self, team: str) -> tuple[str, str] | None:
        """Return the next match of `team` and its expected start as text; None if the timetable has none."""
        timetable = self.timetable()
        mine = [one.id for one in self.now.pairings if team in one.teams and one.winner is None]
        starts = [timetable.starts[match] for match in mine if match in timetable.starts] if timetable else []
        first = min(starts, key=lambda one: one.expected, default=None)
        return None if first is None else (first.match, self.describe_start(first))

    def timetable(self) -> Timetable | None:
        """Return the expected starts of matches at the tables that can take one; None if there are none."""
        t, able = self._clock(), self.table_availability()
        stamp = (len(self.director.history.decisions), *able.items())
        known = self._estimated
        if known is None or known[0] != stamp or not 0 <= t - known[1] < TIMETABLE_S:
            tables = [table for table, can_take in able.items() if can_take]
            known = self._estimated = stamp, t, estimate_timetable(self.now, tables, t)
        return known[2]

    def describe_start(self, start: ExpectedStart) -> str:
        """Return when and where a match will be called, as text: with its range if that is wide."""
        t = self._clock()
        ahead = start.expected - t
        wide = start.latest - start.earliest > max(DOUBT_S, ahead)
        if ahead < 150.0:  # s
            when = self._tr.text("very soon")
        elif ahead < 3_600.0:
            when = self._tr.text("in about {n} minutes", n=_round_minutes(ahead))
        else:
            when = self._tr.text("at about {time}", time=self._format_time(_round_time(start.expected), "%H:%M"))
        if self.table_name(start.table):
            when = self._tr.text("{table} {when}", table=self.table_name(start.table), when=when)
        if not wide:
            return when
        first, last = (self._format_time(_round_time(max(t, one)), "%H:%M") for one in (start.earliest, start.latest))
        return self._tr.text("{when}, between {first} and {last}", when=when, first=first, last=last)

    def describe_durations(self, timetable: Timetable) -> str:
        """Return the durations from which a timetable was estimated, as text."""
        durations = timetable.durations
        middle, (low, high) = round(durations.median_s / 60), (round(one / 60) for one in durations.range_s)
        if not durations.is_measured:
            return self._tr.text(
                "Times are estimates: {n} minutes a match, until {count} are played.", n=middle, count=MIN_PLAYED
            )
        return self._tr.text(
            "Times are estimates: a match takes {n} minutes (usually {low} to {high}), measured in {played} matches.",
            n=middle,
            low=low,
            high=high,
            played=durations.played,
        )

    def describe_day(self) -> str:
        """Return how far the day is as text, with the time that is left if enough matches are measured."""
        now = self.now
        if not now.state.teams:
            return ""
        done = now.competition.progress(now.state)
        played = self._tr.text("{played} of {count} matches played", played=done.decided, count=done.matches)
        if now.is_over:
            won = self._tr.text("{team} has won the tournament", team=now.champion or "")
            return f"{won if now.champion else self._tr.text('There is no winner')}. {played}."
        parts = [self._tr.text("Round {number} of {count}", number=done.round, count=done.rounds), played]
        durations = measure_durations(now)
        if durations.is_measured:
            tables = max(1, len(self.table_availability().keys() - now.unused))
            spans = max((done.matches - done.decided) / tables, done.rounds - done.round + 1)
            t = self._clock()
            parts.append(self._describe_left(end_without_breaks(now.breaks, t, durations.median_s * spans) - t))
        return f"{', '.join(parts)}."

    def _describe_left(self, seconds: float) -> str:
        """Return about how long it takes as text: in steps of 5 minutes, from an hour on of half an hour."""
        if seconds < 3_300.0:
            return self._tr.text("about {n} minutes left", n=_round_minutes(seconds))
        return self._tr.text("about {n} h left", n=f"{round(seconds / 1_800) / 2:g}")

    def _break_text(self) -> str:
        """Return the break that is now or begins next, as text; "" without one."""
        t, breaks = self._clock(), self.now.breaks
        if (until := break_end(breaks, t)) is not None:
            why = next((one.why for one in breaks if one.begins <= t < one.ends), "")
            template = (
                mark("Break: no match is called before {time}: {why}.")
                if why
                else mark("Break: no match is called before {time}.")
            )
            return self._tr.text(template, time=self._format_time(until, "%H:%M"), why=why)
        coming = min((one for one in breaks if one.begins > t), key=lambda one: one.begins, default=None)
        if coming is None:
            return ""
        first, last = self._format_time(coming.begins, "%H:%M"), self._format_time(coming.ends, "%H:%M")
        template = mark("Break from {first} to {last}: {why}.") if coming.why else mark("Break from {first} to {last}.")
        return self._tr.text(template, first=first, last=last, why=coming.why)

    def results(self) -> list[dict[str, Any]]:
        """Return a row for each game that counts, in the order in which they ended."""
        now, names = self.now, self._match_names()
        rows: list[dict[str, Any]] = []
        for pairing in now.pairings:
            for n, game in enumerate(now.state.games.get(pairing.id, ())):
                source = now.sources[pairing.id][n] if n < len(now.sources.get(pairing.id, ())) else None
                rows.append(
                    {
                        "match": pairing.id,
                        "name": names[pairing.id],
                        "game": n + 1,
                        "round": pairing.round,
                        "bracket": pairing.side,
                        "teams": list(pairing.teams),
                        "winner": game.winner,
                        "sweep": game.sweep,
                        "sticks": dict(game.sticks),
                        "walkover": game.walkover,
                        "table": source.table if source else "",
                        "journal": source.epoch if source else "",
                        "judge": source.judge if source else "",
                        "ended": source.t if source else None,
                    }
                )
        return sorted(rows, key=lambda row: (row["ended"] is None, row["ended"] or 0.0))

    def results_csv(self) -> str:
        """Return the results as CSV."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(["match", "game", "team_1", "team_2", "winner", "walkover", "table", "judge", "ended"])
        for row in self.results():
            fields = [row["name"], row["game"], *row["teams"], row["winner"], row["walkover"], row["table"]]
            fields += [row["judge"], self._format_time(row["ended"], "%Y-%m-%d %H:%M:%S")]
            writer.writerow([_escape_formula(str(field)) for field in fields])
        return out.getvalue()

    def results_page(self, sheets: Mapping[str, str] | None = None) -> str:
        """Return the page of all results, to print; or with `sheets` that of a published site, without scripts.

        `sheets` has the address of each journal's files without the ending.
        """
        rows = [
            {
                **row,
                "table": self.table_name(row["table"]) if row["table"] else "",
                "ended": self._format_time(row["ended"], DAY_FORM),
                "sheet": (sheets or {}).get(row["journal"], ""),
            }
            for row in self.results()
        ]
        values = {"title": self.title(), "host": self.host, "regions": self._parts("results"), "rows": rows}
        if sheets is None:
            values["script"] = "print.js"
        return render(_HERE / "results.html", self._tr, **values)

    def tournament_json(self) -> dict[str, Any]:
        """Return the public state of the tournament."""
        now = self.now
        plan = now.plan
        if plan is None:
            return {"title": "", "game": "", "seed": "", "entered": list(now.entered), "calls": [], "announcement": ""}
        return {
            "title": plan.title,
            "game": plan.game,
            "format": plan.format,
            "best_of": plan.best_of,
            "seed": now.seed,
            "entered": list(now.entered),
            **now.competition.public_summary(now.state),
            "calls": [
                {"match": call.match, "teams": list(call.teams), "table": call.table, "begun": call.started}
                for call in now.calls.values()
            ],
            "announcement": now.announcement,
            "decisions": dict(zip(("seq", "hash"), self.director.head, strict=True)),
        }

    def tables_json(self) -> list[dict[str, Any]]:
        """Return the public state of all tables."""
        match, names = self._match_labels(), name_tables(self.tables)
        return [
            {
                "table": one.table,
                "name": names[one.table],
                "state": one.state,
                "match": match.get(one.table, ""),
                "view": one.view,
            }
            for one in self.tables
        ]

    def _match_names(self) -> Mapping[str, str]:
        """Return the names of all matches by their ids, made once after each decision."""
        now = self.now
        if self._named[0] is not now:
            pairings = now.pairings if now.plan else ()
            self._named = now, {one.id: name_match(now.competition, one, self._tr) for one in pairings}
        return self._named[1]

    def _match_labels(self) -> dict[str, str]:
        return {call.table: call.match for call in self.now.calls.values()}

    def table_name(self, table: str) -> str:
        """Return the display name of a table, or its id if it has none."""
        return isolate_name(name_tables(self.tables).get(table, table))

    def _table_of(self, match: str) -> str:
        now = self.now
        if (call := now.calls.get(match)) is not None:
            return self.table_name(call.table)
        sources = now.sources.get(match, ())
        return self.table_name(sources[-1].table) if sources and sources[-1].table else ""

    def _parts(self, page: str) -> dict[str, Markup]:
        now = self.now
        if page.startswith("team/"):
            number = int(page.removeprefix("team/"))
            return {"team": self._team(number), "news": Markup.escape(self._call_of_team(number))}
        found: dict[str, Markup] = {
            "title": Markup.escape(self.title()),
            "notice": self._render("notice", text_=now.announcement),
        }
        if page in ("boards", "hall", "tables", "director"):
            found["tables"] = self._tables(page)
            found["wanted"] = Markup.escape(format_judge_requests(self.tables, self._tr))
        if page in ("boards", "results"):
            number, seal = self.director.head
            found["chain"] = self._render("chain", number=number, seal=seal)
        if page in ("boards", "hall", "bracket", "results") and now.plan is not None:
            found["bracket"] = self._bracket(page)
        if page in ("hall", "announcer"):
            found["end"] = self._end()
        if page == "hall":
            found["wall"] = self._wall()
        if page in ("boards", "hall", "director"):
            found["clock"] = self._clock_shown()
            queue = self._queue()
            spoken = "".join(f"{table} {' - '.join(call.teams)}" for call, table, _ in queue["calls"])
            called = self._render("called", calls=queue["calls"], length=text_size(spoken, CALLED_CHARS))
            found |= {"queue": self._render("queue", **queue), "called": called}
        if page == "announcer":
            found["announcer"] = self._announcer()
        if page == "director":
            found |= self._console()
        return found

    def _clock_shown(self) -> Markup:
        clock = self.now.round_clock
        return self._render("clock", clock=clock, ends=self._format_time(clock.ends if clock else None))

    def _bracket(self, page: str) -> Markup:
        now = self.now
        shown = bracket_values(now.competition, now.state, self._tr) if now.state.teams else None
        teams = {team: n for n, team in enumerate(now.state.teams or now.entered, 1)}
        return self._render(
            "bracket_part",
            shown=shown,
            now=now,
            plan=now.plan,
            rounds_too=page in ("bracket", "results"),
            sheets=() if page == "hall" else bracket_sheets(now.competition, now.state, self._tr),
            linked=page != "results",
            teams=teams,
        )

    def _tables(self, page: str) -> Markup:
        """Return the tables' cards; the wall has none after the final: their last matches are over."""
        if page == "hall" and self.now.is_over:
            return Markup()
        names = self._match_names()
        matches = {table: names[match] for table, match in self._match_labels().items()}
        return tables_markup(self.tables, self._tr, matches, self._clock())

    def _wall(self) -> Markup:
        parts = wall_parts(self.now.competition, self.now.state, self._tr) if self.now.state.teams else ()
        return self._render("wall", parts=parts, whole=WHOLE_CHARS)

    def _end(self) -> Markup:
        """Return the champion with the result of the final, or with the next two places; nothing before the end."""
        now = self.now
        if not now.is_over:
            return Markup()
        champion, final = now.champion, next((one for one in reversed(now.pairings) if one.side == "final"), None)
        places = [row["team"] for row in now.competition.standings(now.state) if row["place"] in {2, 3}]
        values: dict[str, Any] = {"over": True, "champion": champion, "final": "", "places": places[:2], "lines": ()}
        if champion is not None and final is not None:
            values |= self._describe_final(champion, final)
        return self._render("end", **values)

    def _describe_final(self, champion: str, final: Pairing) -> dict[str, Any]:
        """Return the result of the final as text, and the lines of its last game's scores."""
        other = next((team for team in final.teams if team != champion), "")
        if not other:
            return {}
        played = self._final_game(final.id)
        won = self.now.competition.games_won(self.now.state, final)
        if played is not None and self.now.competition.best_of == 1:
            won = {team: played.scores[side] for side, team in played.teams.items()}
        text = self._tr.text("Final against {team}", team=other)
        if played is not None or self.now.competition.best_of > 1:
            score = {"n": won.get(champion, 0), "m": won.get(other, 0)}
            text = self._tr.text("Final: {n} to {m} against {team}", team=other, **score)
        if played is None or played.course is None:
            return {"final": text}
        sides = {side.lower(): team for side, team in played.teams.items()}
        course = {side.lower(): scores for side, scores in played.course.scores.items()}
        return {"final": text, "lines": score_lines(course), "sides": sides}

    def _final_game(self, match: str) -> PlayedGame | None:
        """Return the last game of the final, read once after each decision; meanwhile what was read before."""
        seq = len(self.director.history.decisions)
        if (self._final is None or self._final[0] != seq) and self._reading_final.acquire(blocking=False):
            try:
                self._final = seq, self.director.played_game(match)
            finally:
                self._reading_final.release()
        return self._final[1] if self._final is not None else None

    def _queue(self) -> dict[str, Any]:
        """Return the values of the called and the waiting matches, in the order in which they will be called."""
        now = self.now
        waiting: Sequence[Any] = ()
        if now.state.teams and not now.is_over:
            _, waiting = now.schedule((), self._clock())
        calls = [
            (call, self.table_name(call.table), self._format_time(now.call_deadline(call), "%H:%M"))
            for call in now.calls.values()
            if not call.started
        ]
        timetable = self.timetable() if waiting else None
        starts: Mapping[str, ExpectedStart] = timetable.starts if timetable else {}
        order = {match: n for n, match in enumerate(starts)}
        return {
            "calls": calls,
            "waiting": sorted(waiting, key=lambda one: order.get(one.match, len(order))),
            "soon": {one.match: self.describe_start(starts[one.match]) for one in waiting if one.match in starts},
            "basis": self.describe_durations(timetable) if timetable and starts else "",
            "break_": self._break_text(),
            "drawn": bool(now.state.teams),
            "names": self._match_names(),
        }

    def _announcer(self) -> Markup:
        """Return the matches to announce now, and those on deck."""
        values, now = self._queue(), self.now
        return self._render(
            "announcer",
            next_up=values.pop("waiting")[:ON_DECK],
            over=now.is_over,
            said=now.said,
            missing=set(now.state.teams) - now.here if now.here else (),
            **values,
        )

    def start_list(self) -> str:
        """Return the list of the matches that are not decided, with their players, to print."""
        now, timetable = self.now, self.timetable()
        starts: Mapping[str, ExpectedStart] = timetable.starts if timetable else {}
        rows: list[dict[str, Any]] = []
        for one in now.pairings:
            if not one.open:
                continue
            table, t = "", None
            if call := now.calls.get(one.id):
                table, t = call.table, call.t
            elif start := starts.get(one.id):
                table, t = start.table, max(self._clock(), _round_time(start.expected))
            rows.append({"match": one, "table": self.table_name(table), "t": t, "time": self._format_time(t, "%H:%M")})
        rows.sort(key=lambda row: (row["match"].id not in now.calls, row["t"] is None, row["t"]))
        return render(
            _HERE / "start_list.html",
            self._tr,
            title=self.title(),
            host=self.host,
            rows=rows,
            players=now.registration.teams,
            names=self._match_names(),
        )

    def _console(self) -> dict[str, Markup]:
        now, clock = self.now, self.now.round_clock
        ready = [pairing for pairing in now.ready if pairing.id not in now.calls]
        if now.minutes is not None:
            ready = [pairing for pairing in ready if pairing.round == now.round]
        here = [(one.table, self.table_name(one.table)) for one in self.tables]
        able = self.table_availability()
        taken = {call.table for call in now.calls.values()}
        judging = {call.judge for call in now.calls.values()}
        judges = now.registration.judges if now.plan is not None and now.plan.judges == "hub" else ()
        protests = [
            (one.table, self.table_name(one.table), one.view.teams.get(one.view.protest, one.view.protest))
            for one in self.tables
            if one.view is not None and one.view.protest
        ]
        undo, describe = self.director.history.undo_target, self.log.describe
        undo = None if undo is not None and isinstance(undo.fact, d.Moved) else undo  # it is moved back instead
        log = [
            (
                one.seq,
                self._format_time(one.t),
                self._tr.text("automatic") if one.actor == d.HUB else one.actor,
                describe(one),
            )
            for one in self.log.newest()
        ]
        decided = [pairing for pairing in now.pairings if pairing.id in now.state.games]
        joining, names = self._joining() or Joining(), self._match_names()
        return {
            "day": Markup.escape(self.describe_day()),
            "alerts": self._render("alerts", notes=self._alerts()),
            "reports": self._render("reports", reports=list(now.reports.values()), name=self.table_name, names=names),
            "protests": self._render("protests", protests=now.open_protests, at_tables=protests, names=names),
            "clock_buttons": self._render(
                "clock_buttons",
                clock=clock,
                over=clock is not None and clock.remaining_s(self._clock()) <= 0,
            ),
            "matches": self._render(
                "matches",
                plan=now.plan,
                counted=now.plan is not None and now.plan.format in {"round_robin", "groups"},
                judges=sorted(judges, key=judging.__contains__),  # idle judges come first
                free=sorted(  # in the order of automatic calls
                    (one for one in here if able.get(one[0]) and one[0] not in taken),
                    key=lambda one: (now.used.get(one[0], 0), now.freed.get(one[0], 0.0)),
                ),
                ready=ready,
                calls=list(now.calls.values()),
                pending={report.fact.match for report in now.reports.values()},
                decided=decided,
                walkovers=[pairing for pairing in decided if now.state.games[pairing.id][-1].walkover],
                finishes=[
                    (value, self._tr.text(label))
                    for value, label in _FINISHES.items()
                    if now.plan is not None and value in registry.game_class(now.plan.game).finishes
                ],
                then=[(value, self._tr.text(label)) for value, label in LATER_MATCH_CHOICES],
                tables=here,
                name=self.table_name,
                names=names,
            ),
            "breaks": self._render(
                "breaks",
                planned=now.plan is not None,
                breaks=[
                    (one, self._format_time(one.begins, "%a %H:%M"), self._format_time(one.ends, _end_form(one)))
                    for one in now.breaks
                    if one.ends > self._clock()
                ],
            ),
            "setup": self._render(
                "setup",
                now=now,
                names=names,
                day_choices=[
                    (field, self._tr.text(label), [(value, self._tr.text(word)) for value, word in choices])
                    for field, label, choices in DAY_CHOICES
                ],
                day_minutes=[(field, self._tr.text(label)) for field, label in DAY_MINUTES],
                defaults={"rest_s": d.DEFAULT_REST_S, "grace_s": d.DEFAULT_GRACE_S},
                games=[(game, get_show(game, self._tr).name) for game in registry.names()],
                playing=[(call.match, call.teams) for call in now.calls.values()]
                + [(pairing.id, pairing.teams) for pairing in (*ready, *decided)],
                players=[
                    (team, [name for name in players if name not in now.registration.out])
                    for team, players in now.registration.teams.items()
                ],
                absent=join_words(team for team in now.entered if team not in now.here) if now.here else "",
                alive=[team for team in now.state.teams if team not in now.state.withdrawn],
            ),
            "joining": self._render(
                "joining",
                waiting=[(one.table, self._format_time(one.ends)) for one in joining.waiting],
                joined=[(table, self.table_name(table)) for table in sorted(joining.joined, key=natural_order)],
            ),
            "stream": self._render("stream_part", tables=here, pointed=now.stream, unused=now.unused),
            "log": self._render("log", log=log, undo="" if undo is None else describe(undo)),
        }

    def table_availability(self) -> dict[str, bool]:
        """Return the connected tables: {table: whether it can take a match}."""
        sitting = {game.table for game in self.director.teams_in_void_games().values()}
        return {
            one.table: one.table not in sitting and (one.view is None or one.view.free)
            for one in self.tables
            if one.state == "ready"
        }

    def insert_names(self, sentence: Sentence) -> Sentence:
        """Return `sentence` with the display names of its values `table`, and of those that begin with `match`."""
        names = self._match_names()

        def insert(name: str, value: object) -> object:
            if name == "table":
                return self.table_name(str(value))
            return names.get(str(value), value) if name.startswith("match") else value

        return sentence.map(insert)

    def explain_blocked_correction(self, matches: Sequence[str]) -> tuple[str, str]:
        """Return the message and hint for a correction that is refused because later `matches` have begun."""
        choices = ", ".join(f"“{self._tr.text(label)}”" for _, label in LATER_MATCH_CHOICES)
        return (
            self._tr.text("later matches have begun: {matches}", matches="; ".join(map(self._name_match, matches))),
            self._tr.text(
                "choose under “{label}”: {choices}", label=self._tr.text("If later matches have begun"), choices=choices
            ),
        )

    def _name_match(self, match: str) -> str:
        return self._match_names().get(match, match)

    def _describe_game(self, one: GameAtTable | d.Call) -> dict[str, str]:
        """Return table, match and teams as text, for a sentence."""
        names = {"table": self.table_name(one.table), "match": self._name_match(one.match)}
        return names | {"teams": join_words(one.teams)}

    def _alerts(self) -> list[str]:
        """Return what needs the director's attention, each with its table and what to do."""
        found = [self._describe_void_game(game) for game in self.director.games_at_tables()]
        found += [self._describe_call(call) for call in self.now.calls.values()]
        found += [
            self._tr.text(
                "{count} tables are called “{name}”: {tables}. Give each its own name ([table] name in its settings), "
                "then start it again.",
                count=len(tables),
                name=isolate_name(name),
                tables=join_words(tables),
            )
            for name, tables in same_names(self.tables)
        ]
        found += [self._tr.text(self.insert_names(note)) for note in list(self.director.notes.values())]
        return sorted({*filter(None, found)})

    def _describe_void_game(self, game: GameAtTable) -> str:
        """Return the alert about a game that was begun and does not count at its table, "" if there is none."""
        connected = game.table in self.table_availability()
        if not game.void or not game.begun or game.table in self.now.unused:
            return ""
        values = self._describe_game(game)
        if game.undone:
            what = self._tr.text(
                "The judge at {table} took back the end of a game after its result counted: {match} ({teams})."
            )
            hint = self._tr.text("If the result is wrong, correct it under “Matches”.")
            return f"{what} {hint}".format(**values)
        if game.void == "moved":
            if not connected:
                return ""  # the people have left it
            what = self._tr.text("{table} gets no new match: it still shows one that was moved, {match}.")
        elif game.void == "decided":
            what = self._tr.text("{table} is still playing a match whose result is entered: {match} ({teams}).")
        else:
            what = self._tr.text("{table} is still playing a match that no longer counts: {match} ({teams}).")
        hint = (
            self._tr.text("Ask the judge to touch “Close game, take next match” on the judge's page.")
            if connected
            else self._tr.text(
                "It is not connected: go there and stop the game, then choose “No matches here” for {table}."
            )
        )
        return f"{what} {hint}".format(**values)

    def _describe_call(self, call: d.Call) -> str:
        """Return the alert about a called match, "" if there is none.

        A lost table cannot tell whether its match has begun or ended, so nobody is late there.
        """
        now, values = self.now, self._describe_game(call)
        if now.current_order(call) in now.reports:
            return ""
        if call.table in {one.table for one in self.tables if one.state != "ready"}:
            if call.table in now.unused:
                return ""
            if not call.started:
                what = self._tr.text(
                    "{table} has no connection; a match was called there: {match} ({teams}).", **values
                )
                return f"{what} {self._tr.text('Go there and look whether they play, before you decide anything.')}"
            what = self._tr.text("{table} has no connection; it plays {match} ({teams}).")
            hint = self._tr.text(
                "Go there and look: its game goes on without the hub. If the table itself has failed, "
                "move the match to a free table, or enter its result, under “Matches”."
            )
            return f"{what} {hint}".format(**values)
        begun = {game.order for game in self.director.games_at_tables() if game.begun}
        if call not in now.overdue_calls(self._clock()) or now.current_order(call) in begun:
            return ""
        what = self._tr.text("{teams} were called to {table} ({match}) but have not started in time.")
        hint = self._tr.text("If a team did not come, enter it under “Withdraw a team” or “A team loses one match”.")
        return f"{what} {hint}".format(**values)

    def _render(self, part: str, **values: Any) -> Markup:
        return Markup(render(_HERE / "parts" / f"{part}.html", self._tr, **values))  # noqa: S704 - escaped by `render`


def _end_form(one: Break) -> str:
    """Return the form of the time at which a break ends: with its day if that is another than the first."""
    return "%H:%M" if format_time(one.begins, "%j") == format_time(one.ends, "%j") else "%a %H:%M"


def _round_minutes(seconds: float) -> int:
    """Return minutes in steps of 5, which are not more exact than the estimate."""
    return max(5, 5 * round(seconds / 300))


def _round_time(t: float) -> float:
    return 300.0 * round(t / 300)


def _escape_formula(field: str) -> str:
    return f"'{field}" if field.startswith(SPREADSHEET_MARKS) else field
