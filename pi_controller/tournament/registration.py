"""Registration: who plays for which team, and who may judge; frozen with the first game.

The roster is a rule of the game that is played (`games.base.Roster`): Hampa Apena registers five, of whom four play;
Mille Lacs three; a line of Lahal has a First Guesser. No player is in two teams. A team plays on with fewer when one
is absent, leaves or is disqualified, and nobody is replaced (Hampa Apena, chapter 12).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from pi_controller.games.base import IllegalActionError, Roster
from pi_controller.games.wording import listed, shown
from pi_controller.tournament.team_names import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Absence = Literal["absent", "left", "disqualified"]


@dataclass(frozen=True, slots=True)
class Registration:
    """The players of each team, in the order in which they are registered, and who of them plays no more.

    `frozen` from the first game on. `judges` are the people who may judge: players of a team, or of none.
    """

    roster: Roster
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    leaders: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    out: Mapping[str, Absence] = field(default_factory=lambda: MappingProxyType({}))
    judges: tuple[str, ...] = ()
    frozen: bool = False

    def register(self, team: str, players: Sequence[object], leader: str | None = None) -> Registration:
        """Return the registration with `players` for `team`, in place of those it had.

        Raises `InvalidActionError` for what are no names, `IllegalActionError` where a player is in another team, there
        are too many, the game wants a leader and none is named, or the first game has been played.
        """
        if self.frozen:
            raise IllegalActionError("the teams are frozen since the first game", "a team plays on with fewer")
        names = names_of(list(players), "player", fewest=1)
        most = self.roster.registered
        if most is not None and len(names) > most:
            raise IllegalActionError(f"a team registers at most {most} players, not {len(names)}")
        for name in names:
            if (held := self.team_of(name)) not in {None, team}:
                raise IllegalActionError(f"{shown(name)} plays for {shown(held)}", "nobody is in two teams")
        if self.roster.leader and leader is None:
            raise IllegalActionError(f"{shown(team)} has no {self.roster.leader}", "name one of its players")
        if leader is not None and leader not in names:
            raise IllegalActionError(f"{shown(leader)} is not among the players of {shown(team)}")
        leaders = {**self.leaders, team: leader} if leader is not None else dict(self.leaders)
        return replace(
            self,
            teams=MappingProxyType({**self.teams, team: names}),
            leaders=MappingProxyType(leaders),
        )

    def freeze(self) -> Registration:
        """Return the registration as it stays: the first game begins."""
        return replace(self, frozen=True)

    def leave(self, player: str, why: Absence = "left") -> Registration:
        """Return the registration without `player`, whom nobody replaces. Raises `IllegalActionError` for nobody's."""
        if self.team_of(player) is None:
            raise IllegalActionError(f"{shown(player)} plays for no team")
        return replace(self, out=MappingProxyType({**self.out, player: why}))

    def back(self, player: str) -> Registration:
        """Return the registration with `player` again, who was absent. Raises `IllegalActionError` for anybody else."""
        if self.out.get(player) != "absent":
            raise IllegalActionError(f"{shown(player)} was not absent")
        return replace(self, out=MappingProxyType({name: why for name, why in self.out.items() if name != player}))

    def appoint(self, judge: str) -> Registration:
        """Return the registration with one more who may judge, appointed or volunteering."""
        (name,) = names_of([judge], "judge", fewest=1)
        return replace(self, judges=tuple(dict.fromkeys((*self.judges, name))))

    def dismiss(self, judge: str) -> Registration:
        """Return the registration with one fewer who may judge."""
        return replace(self, judges=tuple(name for name in self.judges if name != judge))

    def team_of(self, player: str) -> str | None:
        """Return the team that a player is registered for; None for nobody's."""
        name = player.casefold()
        return next((team for team, players in self.teams.items() if name in map(str.casefold, players)), None)

    def present(self, team: str) -> tuple[str, ...]:
        """Return the players of `team` who may play; those beyond the number that plays are for singing."""
        return tuple(player for player in self.teams.get(team, ()) if player not in self.out)

    def missing(self, teams: Sequence[str]) -> str:
        """Return in words which of `teams` have nobody left to play; "" where all have."""
        return listed(shown(team) for team in teams if team in self.teams and not self.present(team))
