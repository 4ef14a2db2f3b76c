"""Registration: the roster of each game, no player in two teams, frozen with the first game, judges."""

from __future__ import annotations

import pytest

from pi_controller.rules import IllegalActionError, InvalidActionError, game
from pi_controller.tournament.teams import Registration

DAKOTA = Registration(game("dakota").roster)


def test_the_roster_is_a_rule_of_the_game():
    five = ["Ann", "Bo", "Cy", "Dee", "Eli"]
    assert DAKOTA.register("Long Hollow", five).present("Long Hollow") == tuple(five)
    with pytest.raises(IllegalActionError, match="at most 5 players, not 6"):
        DAKOTA.register("Long Hollow", [*five, "Flo"])
    with pytest.raises(IllegalActionError, match="at most 3"):
        Registration(game("ojibwe").roster).register("Long Hollow", five[:4])
    lahal = Registration(game("slahal").roster)
    with pytest.raises(IllegalActionError, match="no First Guesser"):
        lahal.register("Long Hollow", five)
    with pytest.raises(IllegalActionError, match="not among the players"):
        lahal.register("Long Hollow", five, "Flo")
    assert lahal.register("Long Hollow", [*five, *"FGHIJ"], "Bo").leaders == {"Long Hollow": "Bo"}


def test_player_cannot_be_in_two_teams():
    registration = DAKOTA.register("Long Hollow", ["Ann", "Bo"])
    with pytest.raises(IllegalActionError, match="'ann' plays for 'Long Hollow'"):
        registration.register("Big Coulee", ["ann"])
    assert registration.register("Long Hollow", ["Cy"]).register("Big Coulee", ["Ann"]).team_of("ann") == "Big Coulee"
    with pytest.raises(InvalidActionError, match="two players"):
        DAKOTA.register("Long Hollow", ["Ann", "ANN"])


def test_team_plays_on_short_without_replacements():
    registration = DAKOTA.register("Long Hollow", ["Ann", "Bo", "Cy"]).freeze()
    with pytest.raises(IllegalActionError, match="cannot change"):
        registration.register("Long Hollow", ["Ann", "Bo", "Flo"])
    registration = registration.leave("Bo", "absent").leave("Cy", "disqualified")
    assert registration.present("Long Hollow") == ("Ann",)
    assert registration.return_player("Bo").present("Long Hollow") == ("Ann", "Bo")
    with pytest.raises(IllegalActionError, match="was not absent"):
        registration.return_player("Cy")
    with pytest.raises(IllegalActionError, match="is not in a team"):
        registration.leave("Flo")
    assert registration.teams_without_players(["Long Hollow"]) == ""
    assert registration.leave("Ann").teams_without_players(["Long Hollow", "Big Coulee"]) == "'Long Hollow'"


def test_judge_is_appointed_and_dismissed():
    registration = DAKOTA.appoint("Ann").appoint("Ann").appoint("Bo")
    assert registration.judges == ("Ann", "Bo")
    assert registration.dismiss("Ann").judges == ("Bo",)
