"""Registration: the players of each team and the judges; frozen with the first game.

The roster is a rule of the game that is played (`rules.base.Roster`): Hampa Apena registers five, of whom
four play; Mille Lacs three; a line of Lahal has a First Guesser. No player is in two teams. A team plays on with fewer
if a player is absent, leaves or is disqualified; there are no replacements (Hampa Apena, chapter 12).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from pi_controller.rules.base import IllegalActionError, Roster
from pi_controller.text import (
    format_value,
    join_words,
)
from pi_controller.tournament.team_names import parse_names

Absence = Literal["absent", "left", "disqualified"]


@dataclass(frozen=True, slots=True)
class Registration:
    """The players of each team in the order of registration, and the withdrawn players.

    `frozen` from the first game on. `judges` may be players or other people.
    """

    roster: Roster
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    leaders: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    out: Mapping[str, Absence] = field(default_factory=lambda: MappingProxyType({}))
    judges: tuple[str, ...] = ()
    frozen: bool = False

    def register(self, team: str, players: Sequence[str], leader: str | None = None) -> Registration:
        """Return the registration with `players` for `team`, in place of its earlier ones.

        Raises `InvalidActionError` for invalid names; `IllegalActionError` if a player is in another team, there are
        too many, the game requires a leader and none is given, or the first game has been played.
        """
        if self.frozen:
            raise IllegalActionError(
                "the teams cannot change after the first game began", "the team plays on with fewer players"
            )
        names = parse_names(players, "player", fewest=1)
        most = self.roster.registered
        if most is not None and len(names) > most:
            raise IllegalActionError("a team has at most {most} players, not {names}", most=most, names=len(names))
        for name in names:
            if (held := self.team_of(name)) not in {None, team}:
                raise IllegalActionError(
                    "{name} plays for {held}",
                    "a player can be in one team only",
                    name=format_value(name),
                    held=format_value(held),
                )
        if self.roster.leader and leader is None:
            raise IllegalActionError(
                "{team} has no {leader}", "name one of its players", team=format_value(team), leader=self.roster.leader
            )
        if leader is not None and leader not in names:
            raise IllegalActionError(
                "{leader} is not among the players of {team}", leader=format_value(leader), team=format_value(team)
            )
        leaders = {**self.leaders, team: leader} if leader is not None else dict(self.leaders)
        return replace(
            self,
            teams=MappingProxyType({**self.teams, team: names}),
            leaders=MappingProxyType(leaders),
        )

    def freeze(self) -> Registration:
        """Return the frozen registration: the first game begins."""
        return replace(self, frozen=True)

    def leave(self, player: str, why: Absence = "left") -> Registration:
        """Return the registration without `player`. Raises `IllegalActionError` if the player is in no team."""
        if self.team_of(player) is None:
            raise IllegalActionError("{player} is not in a team", player=format_value(player))
        return replace(self, out=MappingProxyType({**self.out, player: why}))

    def return_player(self, player: str) -> Registration:
        """Return the registration with `player` again. Raises `IllegalActionError` if the player was not absent."""
        if self.out.get(player) != "absent":
            raise IllegalActionError("{player} was not absent", player=format_value(player))
        return replace(self, out=MappingProxyType({name: why for name, why in self.out.items() if name != player}))

    def appoint(self, judge: str) -> Registration:
        """Return the registration with `judge` added, appointed or volunteering."""
        (name,) = parse_names([judge], "judge", fewest=1, known=self.judges)
        return replace(self, judges=tuple(dict.fromkeys((*self.judges, name))))

    def dismiss(self, judge: str) -> Registration:
        """Return the registration without `judge`."""
        return replace(self, judges=tuple(name for name in self.judges if name != judge))

    def team_of(self, player: str) -> str | None:
        """Return the team of a player; None without one."""
        name = player.casefold()
        return next((team for team, players in self.teams.items() if name in map(str.casefold, players)), None)

    def present(self, team: str) -> tuple[str, ...]:
        """Return the players of `team` who may play; those beyond the number that plays may sing."""
        return tuple(player for player in self.teams.get(team, ()) if player not in self.out)

    def teams_without_players(self, teams: Sequence[str]) -> str:
        """Return the names of the `teams` without players, as a text; "" if there are none."""
        return join_words(format_value(team) for team in teams if team in self.teams and not self.present(team))


# The drawing: places the teams in a random order that anybody can check.
#
# The lot of each team is SHA-256 of the seed, a slash and the team's name, all in UTF-8; the teams are placed by their
# lots, the lowest first. `printf '%s' 'SEED/TEAM' | sha256sum` gives a lot on any computer. The seed should be a text
# that no single person can choose: numbers from all captains, or dice thrown in front of them.
def lot(seed: str, team: str) -> str:
    """Return the lot of a team, 64 hexadecimal digits.

    >>> lot("4 1 6 2", "Long Hollow")[:8]
    'a97e4d3e'
    """
    return sha256(f"{seed}/{team}".encode()).hexdigest()


def draw(teams: Iterable[str], seed: str) -> tuple[str, ...]:
    """Return the teams in the order of their lots, independent of their order in `teams`."""
    return tuple(sorted(teams, key=lambda team: (lot(seed, team), team)))
