"""What the hub's pages show: tables, bracket and standings, a team, results; the director's console."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from pi_controller.fleet.director import described
from pi_controller.fleet.tables_page import tables_markup, wanted
from pi_controller.games import registry
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import inline
from pi_controller.web.bracket_page import parts
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_controller.fleet.director import Director
    from pi_controller.fleet.enrolment import Waiting
    from pi_controller.fleet.hub import TableShown
    from pi_controller.tournament.decisions import Fact
    from pi_controller.tournament.director import Tournament

_HERE = Path(__file__).parent
LOG = 30
"""Decisions that the console tells."""
SPREADSHEET_MARKS = ("=", "+", "-", "@", "\t")
"""What a spreadsheet would take for a formula at the beginning of a field."""


class Boards:
    """Fills the pages in `language` from what `director` and the tables say now; `clock` gives s since 1970.

    `joining` gives the tables that may join now; None where none ever can.
    """

    def __init__(
        self,
        director: Director,
        clock: Callable[[], float],
        language: str = "en",
        joining: Callable[[], Sequence[Waiting] | None] = lambda: None,
    ) -> None:
        self.director = director
        self._joining = joining
        self._clock = clock
        self.tables: tuple[TableShown, ...] = ()
        self.rival = ""
        self._language = language

    @property
    def now(self) -> Tournament:
        """The tournament."""
        return self.director.now

    def title(self) -> str:
        """Return what the tournament is called."""
        return self.now.plan.title if self.now.plan else catalogue(self._language).gettext("All tables")

    def regions(self, page: str) -> dict[str, str]:
        """Return the parts of a page that change, as HTML by their ids."""
        return {name: str(part) for name, part in self._parts(page).items()}

    def page(self, page: str, **more: Any) -> str:
        """Return the whole page: `boards`, `bracket`, `director`."""
        values = {"title": self.title(), "regions": self._parts(page), **more}
        values["joins"] = self._joining() is not None
        return render(_HERE / f"{page}.html", self._language, **values)

    def team(self, number: int) -> str | None:
        """Return the page of the team with this number, in the order of seeds; None where there is none."""
        now = self.now
        teams = now.state.teams or now.entered
        if not 1 <= number <= len(teams):
            return None
        team, part = teams[number - 1], self._team(number)
        return render(_HERE / "team.html", self._language, title=self.title(), team=team, number=number, part=part)

    def _team(self, number: int) -> Markup:
        now = self.now
        teams = now.state.teams or now.entered
        team = teams[number - 1] if 1 <= number <= len(teams) else ""
        pairings = now.competition.pairings(now.state) if now.state.teams else ()
        matches = [one for one in pairings if team in one.teams and None not in one.teams]
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
        )

    def results(self) -> list[dict[str, Any]]:
        """Return a row for each game that counts, in the order in which they ended."""
        now = self.now
        if not now.state.teams:
            return []
        rows: list[dict[str, Any]] = []
        for pairing in now.competition.pairings(now.state):
            for n, game in enumerate(now.state.games.get(pairing.id, ())):
                source = now.sources[pairing.id][n] if n < len(now.sources.get(pairing.id, ())) else None
                rows.append(
                    {
                        "match": pairing.id,
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
        """Return the results for a spreadsheet."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(["match", "game", "team_1", "team_2", "winner", "walkover", "table", "judge", "ended"])
        for row in self.results():
            ended = (
                "" if row["ended"] is None else f"{datetime.fromtimestamp(row['ended']).astimezone():%Y-%m-%d %H:%M:%S}"
            )
            fields = [row["match"], row["game"], *row["teams"], row["winner"], row["walkover"]]
            writer.writerow([_harmless(str(field)) for field in (*fields, row["table"], row["judge"], ended)])
        return out.getvalue()

    def tournament_json(self) -> dict[str, Any]:
        """Return what everybody may know of the tournament."""
        now = self.now
        plan = now.plan
        if plan is None:
            return {"title": "", "game": "", "seed": "", "entered": [], "calls": [], "announcement": ""}
        return {
            "title": plan.title,
            "game": plan.game,
            "format": plan.format,
            "best_of": plan.best_of,
            "seed": now.seed,
            "entered": list(now.entered),
            **now.competition.answer(now.state),
            "calls": [
                {"match": call.match, "teams": list(call.teams), "table": call.table, "begun": call.begun}
                for call in now.calls.values()
            ],
            "announcement": now.announcement,
        }

    def table_name(self, table: str) -> str:
        """Return what people call a table."""
        return next((inline(one.name) for one in self.tables if one.table == table and one.name), table)

    def _table_of(self, match: str) -> str:
        now = self.now
        if (call := now.calls.get(match)) is not None:
            return self.table_name(call.table)
        sources = now.sources.get(match, ())
        return self.table_name(sources[-1].table) if sources and sources[-1].table else ""

    def _parts(self, page: str) -> dict[str, Markup]:
        now = self.now
        if page.startswith("team/"):
            return {"team": self._team(int(page.removeprefix("team/")))}
        found: dict[str, Markup] = {
            "title": Markup.escape(self.title()),
            "notice": self._render("notice", text_=now.announcement),
        }
        if page in ("boards", "tables", "director"):
            labels = {call.table: call.match for call in now.calls.values()}
            found["tables"] = tables_markup(self.tables, self._language, labels, self._clock())
            found["wanted"] = Markup.escape(wanted(self.tables, self._language))
        if page in ("boards", "bracket") and now.plan is not None:
            found["bracket"] = self._bracket(page)
        if page in ("boards", "director"):
            found["clock"] = self._clock_shown()
            found["queue"] = self._queue()
        if page == "director":
            found |= self._console()
        return found

    def _clock_shown(self) -> Markup:
        """Return the clock of the round that is played, where rounds have one."""
        clock = self.now.round_clock
        return self._render("clock", clock=clock, ends=_time_of(clock.ends if clock else None))

    def _bracket(self, page: str) -> Markup:
        now = self.now
        shown = parts(now.competition, now.state, self._language) if now.state.teams else None
        teams = {team: n for n, team in enumerate(now.state.teams or now.entered, 1)}
        return self._render(
            "bracket_part", shown=shown, now=now, plan=now.plan, rounds_too=page == "bracket", teams=teams
        )

    def _queue(self) -> Markup:
        """Return the matches at tables and those that wait, in the order in which they will be called."""
        now = self.now
        waiting: Sequence[Any] = ()
        if now.state.teams and now.champion is None:
            _, waiting = now.schedule((), self._clock())
        calls = [(call, self.table_name(call.table)) for call in now.calls.values() if not call.begun]
        return self._render("queue", calls=calls, waiting=waiting, drawn=bool(now.state.teams))

    def _console(self) -> dict[str, Markup]:
        now, director, clock = self.now, self.director, self.now.round_clock
        ready = [pairing for pairing in now.ready if pairing.id not in now.calls]
        if now.minutes is not None:
            ready = [pairing for pairing in ready if pairing.round == now.round]
        pairings = now.competition.pairings(now.state) if now.state.teams else ()
        decided = [pairing for pairing in pairings if now.state.games.get(pairing.id)]
        here = [(one.table, self.table_name(one.table)) for one in self.tables]
        taken = {call.table for call in now.calls.values()}
        away = {one.table for one in self.tables if one.state != "ready"}
        judging = {call.judge for call in now.calls.values()}
        judges = now.registration.judges if now.plan is not None and now.plan.judges == "hub" else ()
        protests = [
            (one.table, self.table_name(one.table), one.view.teams.get(one.view.protest, one.view.protest))
            for one in self.tables
            if one.view is not None and one.view.protest
        ]
        undo = director.history.undoable
        when = datetime.fromtimestamp
        log = [
            (one.seq, f"{when(one.t).astimezone():%H:%M:%S}", one.actor, _tag(one.fact), described(one))
            for one in director.history.decisions[-LOG:][::-1]
        ]
        rival = {"rival": self.rival} if self.rival else {}
        return {
            "alerts": self._render("alerts", notes=sorted({*director.notes.values()}), **rival or {"rival": ""}),
            "reports": self._render("reports", reports=list(now.reports.values()), name=self.table_name),
            "protests": self._render("protests", protests=now.open_protests, at_tables=protests),
            "clock_buttons": self._render(
                "clock_buttons",
                clock=clock,
                over=clock is not None and clock.left(self._clock()) <= 0,
            ),
            "matches": self._render(
                "matches",
                plan=now.plan,
                counted=now.plan is not None and now.plan.format in {"round_robin", "groups"},
                judges=sorted(judges, key=judging.__contains__),  # who has nothing to do comes first
                free=sorted(  # as they would be called by themselves
                    (one for one in here if one[0] not in taken),
                    key=lambda one: (one[0] in away, now.freed.get(one[0], 0.0)),
                ),
                ready=ready,
                calls=list(now.calls.values()),
                decided=decided,
                tables=here,
                name=self.table_name,
            ),
            "setup": self._render(
                "setup",
                now=now,
                games=registry.names(),
                playing=[(call.match, call.teams) for call in now.calls.values()]
                + [(pairing.id, pairing.teams) for pairing in ready],
                players=[
                    (team, [name for name in players if name not in now.registration.out])
                    for team, players in now.registration.teams.items()
                ],
                alive=[team for team in now.state.teams if team not in now.state.gone],
            ),
            "joining": self._render(
                "joining",
                waiting=None
                if (found := self._joining()) is None
                else [(one.table, _time_of(one.ends)) for one in found],
            ),
            "stream": self._render("stream_part", tables=here, pointed=now.stream, unused=now.unused),
            "log": self._render("log", log=log, undo="" if undo is None else f"{_tag(undo.fact)} {described(undo)}"),
        }

    def _render(self, part: str, **values: Any) -> Markup:
        return Markup(render(_HERE / "parts" / f"{part}.html", self._language, **values))  # noqa: S704 - escaped by it


def _time_of(t: float | None) -> str:
    return "" if t is None else f"{datetime.fromtimestamp(t).astimezone():%H:%M:%S}"


def _tag(fact: Fact) -> str:
    return str(fact.__struct_config__.tag)


def _harmless(field: str) -> str:
    return f"'{field}" if field.startswith(SPREADSHEET_MARKS) else field


def tables_json(tables: Sequence[TableShown], calls: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return all tables as everybody may see them."""
    return [
        {"table": one.table, "name": one.name, "state": one.state, "match": calls.get(one.table, ""), "view": one.view}
        for one in tables
    ]
