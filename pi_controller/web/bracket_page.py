"""A tournament for people: names of matches and rounds, the matches of each round, and the standings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pi_controller.display.i18n import Translator
from pi_controller.text import mark
from pi_controller.tournament import Competition, Pairing, TournamentState
from pi_controller.tournament.bracket import LoserOf, Match, Seed, Source, WinnerOf
from pi_controller.tournament.elimination import AGAIN, Elimination
from pi_controller.tournament.groups import Groups


class Slot(NamedTuple):
    """A line of a match's box: a team or its source; whether it won, and its games won in a series."""

    text: str
    known: bool
    won: bool
    games: int | None


def bracket_values(competition: Competition, state: TournamentState, tr: Translator) -> dict[str, Any]:
    """Return the values for `bracket_parts.html`: standings, and rounds as text."""
    champion = competition.champion(state)
    rows = competition.standings(state)
    return {
        "rounds": _rounds(competition, competition.pairings(state), tr),
        "standings": sorted(rows, key=_standing_key) if champion is None else list(rows),
        "champion": champion,
        "over": competition.is_over(state),
    }


def _standing_key(row: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return the sort key of the standings: in an elimination, teams still in by losses; the others by place."""
    in_it = row["place"] is None and not row.keys() & {"points", "group"}
    return (0, row["losses"], -row["wins"]) if in_it else (1, 0, 0)


def find_elimination(competition: Competition, state: TournamentState) -> tuple[Elimination | None, TournamentState]:
    """Return the elimination of a tournament and its state; for groups only after the group stage."""
    if isinstance(competition, Groups):
        cup = competition.parts(state).cup
        return (competition.cup, cup) if cup is not None else (None, state)
    return (competition if isinstance(competition, Elimination) else None), state


def drawn_matches(competition: Elimination, state: TournamentState) -> list[Match]:
    """Return the matches of a bracket; the second match of a final only if it is played."""
    bracket, ids = competition.bracket(state), {pairing.id for pairing in competition.pairings(state)}
    return [match for match in (*bracket.matches, bracket.reset) if match is not None and match.id in ids]


def make_slots(
    competition: Elimination, state: TournamentState, match: Match, pairing: Pairing, tr: Translator
) -> tuple[Slot, Slot]:
    """Return the two lines of a match."""
    games = competition.games_won(state, pairing) if competition.best_of > 1 else {}

    def make(team: str | None, source: Source) -> Slot:
        text = _source_text(competition, state, match, source, tr) if team is None else team or tr.text("nobody")
        is_winner = bool(team) and team == pairing.winner
        return Slot(text, bool(team), is_winner, games.get(team) if team and games else None)

    return make(pairing.teams[0], match.a), make(pairing.teams[1], match.b)


def _source_text(competition: Elimination, state: TournamentState, match: Match, source: Source, tr: Translator) -> str:
    """Return whom a place of `match` is for: a seed, or the winner or loser of an earlier match by its name."""
    if isinstance(source, Seed):
        return tr.text("Team {number}", number=source.number)
    if not isinstance(source, WinnerOf | LoserOf):
        return ""
    before = next(one for one in competition.bracket(state).matches if one.id == source.match)
    if isinstance(source, WinnerOf) and match.side == "final" and competition.kind == "double":
        is_winners = before.side == "winners"
        return tr.text("Winner of the winners' side") if is_winners else tr.text("Winner of the losers' side")
    template = mark("Winner of round {round}, match {number}")
    if isinstance(source, LoserOf):
        template = mark("Loser of round {round}, match {number}")
    return tr.text(template, round=before.round, number=_place(before.id))


class Round(NamedTuple):
    """The matches of a round, each with its place in it as text; with the round's name."""

    name: str
    matches: tuple[tuple[str, Pairing], ...]


def name_match(competition: Competition, pairing: Pairing, tr: Translator) -> str:
    """Return the name of a match for people: its round, and its place in it if that has more."""
    if pairing.id.endswith(AGAIN):
        letter, _, place = pairing.id.removesuffix(AGAIN).partition("-")
        before = replace(pairing, id=f"{letter}-{place}", side="winners", round=int(letter[1:]))
        return tr.text("{match}, for the loser's place", match=name_match(competition, before, tr))
    round_ = name_round(competition, pairing, tr)
    if not name_place(pairing, tr):
        return round_
    return name_in_round(round_, pairing.id, tr)


def name_in_round(round_: str, match: str, tr: Translator) -> str:
    """Return the name of a match in the round with the name `round_`."""
    return tr.text("{round}, match {number}", round=round_, number=_place(match))


def name_place(pairing: Pairing, tr: Translator) -> str:
    """Return the name of a match below that of its round; "" if there is one such match."""
    if pairing.side in {"final", "third"} or _is_play_off(pairing):
        return ""
    if pairing.id.endswith(AGAIN):
        return tr.text("For the loser's place")
    return tr.text("Match {number}", number=_place(pairing.id))


def _place(match: str) -> str:
    return match.rpartition("-")[2]


def _is_play_off(pairing: Pairing) -> bool:
    return pairing.side is None and pairing.id.rpartition(".")[2].startswith("P")


def name_round(competition: Competition, pairing: Pairing, tr: Translator) -> str:
    """Return the name of the round of a match for people, with its side of the bracket or its group."""
    cup = competition.cup if isinstance(competition, Groups) else competition
    is_single = isinstance(cup, Elimination) and cup.kind == "single"
    group, dot, _ = pairing.id.partition(".")
    number = pairing.round
    if dot and _is_play_off(pairing):
        return tr.text("Group {group}, play-off", group=group)
    if dot:
        return tr.text("Group {group}, round {number}", group=group, number=number)
    match pairing.side:
        case "winners" if not is_single:
            return tr.text("Winners' side, round {number}", number=number)
        case "losers":
            return tr.text("Losers' side, round {number}", number=number)
        case "third":
            return tr.text("Third place")
        case "final":
            return tr.text("Final") if is_single else tr.text("Final, match {number}", number=number)
        case _:
            return tr.text("Play-off") if _is_play_off(pairing) else tr.text("Round {number}", number=number)


def _rounds(competition: Competition, pairings: Sequence[Pairing], tr: Translator) -> tuple[Round, ...]:
    """Return the rounds that have a match between two known teams."""
    found: dict[str, list[tuple[str, Pairing]]] = {}
    for pairing in pairings:
        if all(pairing.teams):
            found.setdefault(name_round(competition, pairing, tr), []).append((name_place(pairing, tr), pairing))
    return tuple(Round(name, tuple(matches)) for name, matches in found.items())
