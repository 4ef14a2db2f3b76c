"""A tournament that is directed by hand."""

from pi_controller.tournament import decisions as d
from pi_controller.tournament.decision_history import DecisionHistory

TEAMS = ("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim")


class Hall:
    """A tournament that is decided by hand; `do` takes facts in order."""

    def __init__(self, teams=TEAMS, **plan):
        self.history, self.t = DecisionHistory(), 0.0
        self.do(d.Planned("cup", **plan), d.Entered(tuple(d.Entry(team) for team in teams)))

    def do(self, *facts, actor="Ann"):
        for fact in facts:
            self.t += 1.0
            self.history.add(self.history.make_decision(self.t, actor, fact))
        return self.now

    def undo(self):
        return self.do(self.history.undo())

    @property
    def now(self):
        return self.history.now

    def match(self, name):
        return next(one for one in self.now.ready if one.id == name)

    def call(self, match, table="t01"):
        return self.do(d.Assigned(match, table, f"order{self.t:g}"), actor=d.HUB)

    def report(self, match, winner, table="t01"):
        order = self.now.current_order(self.now.calls[match])
        self.do(d.MatchStarted(match), d.Reported(match, order, table, "ab", 9, winner), actor=d.HUB)
        return order


def drawn(teams=TEAMS, **plan):
    """Return a hall whose teams are drawn in their order."""
    hall = Hall(teams, **plan)
    hall.do(d.TeamsDrawn(order=tuple(teams)))
    return hall


def seen(tournament):
    """Return all that is seen of a tournament."""
    found = {field: getattr(tournament, field) for field in tournament.__dataclass_fields__ if field != "state"}
    return {**found, "answer": tournament.competition.public_summary(tournament.state)}
