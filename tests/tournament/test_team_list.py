"""Lists of teams as spreadsheets, forms and phones save them: read right, or refused with the row."""

import pytest

from pi_controller.rules.base import InvalidActionError
from pi_controller.tournament import decisions as d
from pi_controller.tournament.team_list import read_teams

TWO = (d.Entry("Big Coulee", ("Ann", "Bea")), d.Entry("Łutki", ("Čed",)))
GOOD = {
    "commas": "Big Coulee,Ann,Bea\nŁutki,Čed\n",
    "semicolons with BOM and CR LF": "\ufeffTeam;Player 1;Player 2\r\nBig Coulee;Ann;Bea\r\nŁutki;Čed;\r\n",
    "tabs and an empty line": '"Big Coulee"\tAnn\tBea\n\nŁutki\tČed\n',
    "no line end": "Big Coulee,Ann,Bea\nŁutki,Čed",
    "spaces around": " Big Coulee , Ann , Bea \n Łutki , Čed ,, \n",
    "empty columns and rows": ",,,\nBig Coulee,Ann,,Bea\n,,\nŁutki,,,Čed\n,,,\n",
    "sep line": "sep=;\nBig Coulee;Ann;Bea\nŁutki;Čed\n",
    "quoted sep line": '"sep=|"\r\nBig Coulee|Ann|Bea\r\nŁutki|Čed\r\n',
    "heading of two words": "Team Name;Captain;Player 2\nBig Coulee;Ann;Bea\nŁutki;Čed;\n",
    "heading in capitals": "TEAM NAME,CAPTAIN,PLAYERS\nBig Coulee,Ann,Bea\nŁutki,Čed,\n",
    "name of the team": "Name of the team,Team captain,Member 2\nBig Coulee,Ann,Bea\nŁutki,Čed,\n",
    "seed first": "Seed,Team,Captain,Player\n1,Big Coulee,Ann,Bea\n2,Łutki,Čed,\n",
    "number sign": '#,Team,Players\n1,Big Coulee,"Ann, Bea"\n2,Łutki,Čed\n',
    "captain before the team": "Captain,Team,Player 2\nAnn,Big Coulee,Bea\nČed,Łutki,\n",
    "title row": "Wacipi 2026\nTeam,Player 1,Player 2\nBig Coulee,Ann,Bea\nŁutki,Čed,\n",
    "title row with empty cells": "Wacipi 2026,,\nTeam,Player 1,Player 2\nBig Coulee,Ann,Bea\nŁutki,Čed,\n",
    "form": "Timestamp,Email Address,Team Name,Captain,Members,Comments\n"
    '2026/11/01 9:05,a@b.example,Big Coulee,Ann,Bea,"vegetarian, two"\n2026/11/02 10:00,c@d.example,Łutki,Čed,,\n',
    "players in one cell": 'Team,Players\nBig Coulee,"Ann, Bea"\nŁutki,Čed\n',
    "players in one cell without heading": 'Big Coulee;"Ann, Bea"\nŁutki;Čed\n',
    "players on lines of a cell": 'Team,Players\nBig Coulee,"Ann\nBea"\nŁutki,Čed\n',
    "players by semicolons": "Team,Players\nBig Coulee,Ann; Bea\nŁutki,Čed\n",
    "more cells than headings": "Team,Captain\nBig Coulee,Ann,Bea\nŁutki,Čed\n",
    "quotation marks everywhere": '"Big Coulee","Ann","Bea"\r\n"Łutki","Čed",""\r\n',
    "tabs of a pasted table": "Team\tCaptain\tPlayer 2\r\nBig Coulee\tAnn\tBea\r\nŁutki\tČed\t\r\n",
}
OTHERS = {
    "first row alone": ("Long Hollow\nBig Coulee;Cy;Di\nVeblen;Ed;Flo\n", ["Long Hollow", "Big Coulee", "Veblen"]),
    "quoted commas": ('"Ash, Elm, Oak";Ann\nBig Coulee;Cy\n', ["Ash, Elm, Oak", "Big Coulee"]),
    "names alone": ("Big Coulee\nLong Hollow\n", ["Big Coulee", "Long Hollow"]),
    "names under a heading": ("Teams\nBig Coulee\nLong Hollow\n", ["Big Coulee", "Long Hollow"]),
    "one team": ("Big Coulee,Ann\n", ["Big Coulee"]),
    "a team called like a heading": ("Seed,Ann\nThe Players,Bea\n", ["Seed", "The Players"]),
    "a team called Name": ("Name,Ann\nLong Hollow,Bea\n", ["Name", "Long Hollow"]),
    "digits": ("49ers;Ann\n7 Fires;Bea\n", ["49ers", "7 Fires"]),
    "quotation marks in a name": ('"Big ""Bear"" Coulee",Ann\nVeblen,Bea\n', ['Big "Bear" Coulee', "Veblen"]),
    "semicolon in a name": ('"A; B",Ann\nVeblen,Bea\n', ["A; B", "Veblen"]),
    "right to left": ("قبيلة;أ\nفريق;ب\n", ["قبيلة", "فريق"]),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_saved_list_gives_teams_and_players(text):
    assert read_teams(text.encode()) == TWO


@pytest.mark.parametrize(("text", "names"), OTHERS.values(), ids=OTHERS)
def test_saved_list_gives_team_names(text, names):
    assert [team.name for team in read_teams(text.encode())] == names


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("Big Coulee\nRivière\n".encode("latin-1"), "line 2 is not UTF-8"),
        (b"\xef\xbb\xbfBig Coulee\nRivi\xe8re\n", "line 2 is not UTF-8"),
        ("Big Coulee".encode("utf-16"), "not UTF-8"),
        (b"", "no team"),
        (b",Ann\n", "no name"),
        (b"Big Coulee\rLong Hollow\r", "line 1 .*carriage return"),
        (b"Big Coulee,Ann\nLong\rHollow,Bea\n", "line 2 .*carriage return"),
        (b"Big Coulee\n" + b"x" * 131_073, "line 2: .*131072 characters"),
        (b'Big Coulee\n"' + b"x" * 140_000 + b'"\n', "line 2: .*131072 characters"),
        (b"Big Coulee,Ann\nLong Hollow\n\nBIG COULEE,Bea\n", "lines 1 and 4: two teams are called 'Big Coulee'"),
        ("A\u0301\nÁ\n".encode(), "lines 1 and 2: two teams"),
        ("Big Coulee\nBig\u00a0 Cou\u200dlee\n".encode(), "lines 1 and 2: two teams"),
        (b"team\nBig Coulee\nLong\x1b[2JHollow\n", "line 3: .*Long\\[2JHollow.*control character"),
        ("Big Coulee,Ann\nLong Hollow,\u202eBea\n".encode(), "line 2: .*control character"),
        ("Big Coulee,A\u2066nn\n".encode(), "line 1: .*control character"),
        (b"x" * (1 << 21), "too long"),
    ],
)
def test_invalid_team_list_is_refused_with_reason(data, why):
    with pytest.raises(InvalidActionError, match=why):
        read_teams(data)
