import pytest

from pi_controller.errors import UsageError
from pi_controller.games.options import Choice, Flag, Names, OptionalNumber, Whole, chosen, from_text, names, table

OPTIONS = (
    Whole("points", 5, "How many win.", 1, 99),
    Choice("payer", "hider", "Who pays.", ("hider", "middle_first")),
    OptionalNumber("seconds", None, "Time for a hit.", 1, 600),
    Flag("killing", True, "Whether horses are sent back."),
)


def test_nothing_chosen_leaves_the_defaults():
    assert dict(chosen("game", OPTIONS, {})) == {"points": 5, "payer": "hider", "seconds": None, "killing": True}


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("points", "1", 1),
        ("points", " 99 ", 99),
        ("points", 7, 7),
        ("payer", "middle_first", "middle_first"),
        ("seconds", "none", None),
        ("seconds", None, None),
        ("seconds", "45", 45),
        ("seconds", "2.5", 2.5),
        ("seconds", 2.5, 2.5),
        ("seconds", 45.0, 45),
        ("killing", "false", False),
        ("killing", "True", True),
        ("killing", False, False),
    ],
)
def test_values_come_as_text_or_typed(name: str, given: object, value: object):
    got = chosen("game", OPTIONS, {name: given})[name]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("points", "0"),
        ("points", "100"),
        ("points", "-3"),
        ("points", "five"),
        ("points", ""),
        ("points", "5.0"),
        ("points", "1_0"),
        ("points", "٣"),
        pytest.param("points", "9" * 5000, id="long"),
        ("points", 5.0),
        ("points", True),
        ("points", None),
        ("points", [5]),
        pytest.param("points", 10**5000, id="huge"),
        ("payer", "Hider"),
        ("payer", ""),
        ("payer", 1),
        ("payer", None),
        ("seconds", "0"),
        ("seconds", "601"),
        ("seconds", "nan"),
        ("seconds", "inf"),
        ("seconds", "1e2"),
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        pytest.param("seconds", 10**400, id="huge seconds"),
        ("seconds", True),
        ("killing", "yes"),
        ("killing", 1),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(name: str, given: object):
    with pytest.raises(UsageError) as caught:
        chosen("game", OPTIONS, {name: given})
    assert f"option {name} cannot be" in caught.value.what
    assert caught.value.todo.startswith(f"{name} takes ")
    assert "\n" not in caught.value.what + caught.value.todo
    assert len(caught.value.what) < 120


def test_misspellings_are_met_with_the_nearest_word():
    with pytest.raises(UsageError) as caught:
        chosen("game", OPTIONS, {"point": "3"})
    assert caught.value.what == "game has no option 'point'; did you mean points?"
    assert caught.value.todo == "options of game: points, payer, seconds, killing"
    with pytest.raises(UsageError) as caught:
        chosen("game", OPTIONS, {"payer": "middle-first"})
    assert caught.value.what == "option payer cannot be 'middle-first'; did you mean middle_first?"
    assert caught.value.todo == "payer takes hider or middle_first"


def test_what_is_chosen_cannot_be_changed_later():
    with pytest.raises(TypeError):
        chosen("game", OPTIONS, {})["points"] = 1  # type: ignore[index]


def test_assignments_are_split_at_the_first_equals_sign():
    assert from_text(["points=3", "players=a=b", "note="]) == {"points": "3", "players": "a=b", "note": ""}


@pytest.mark.parametrize("wrong", [["points"], ["=3"], [""], ["points=3", "points=4"]])
def test_what_is_no_assignment_is_refused(wrong: list[str]):
    with pytest.raises(UsageError):
        from_text(wrong)


def test_help_names_every_option_with_its_values_and_default():
    text = "\n".join(table(OPTIONS))
    assert "points: a whole number from 1 to 99 (default 5)" in text
    assert "payer: hider or middle_first (default hider)" in text
    assert "seconds: none or a number from 1 to 600 (default none)" in text
    assert "killing: true or false (default true)" in text


PLAYERS = (Names("players", "A,B", "Who plays.", 2, 8),)


@pytest.mark.parametrize(
    ("given", "players"),
    [
        (None, ("A", "B")),
        ("Ann,Bo,Cy", ("Ann", "Bo", "Cy")),
        (" Ann , Bo Lee ", ("Ann", "Bo Lee")),
        ("ᐙᐴᔥ,Ȟaŋté,👩\u200d🎤,=", ("ᐙᐴᔥ", "Ȟaŋté", "👩\u200d🎤", "=")),
        ("a,A", ("a", "A")),
        ("1,2,3,4,5,6,7,8", tuple("12345678")),
        ("x" * 40 + ",y", ("x" * 40, "y")),
    ],
)
def test_names_stand_between_commas(given: str | None, players: tuple[str, ...]):
    settings = chosen("game", PLAYERS, {} if given is None else {"players": given})
    assert names(settings["players"]) == players
    assert chosen("game", PLAYERS, settings) == settings


@pytest.mark.parametrize(
    "given",
    [
        "",
        "A",
        "A,",
        ",A",
        "A, ,B",
        "A,A",
        "A, A",
        "1,2,3,4,5,6,7,8,9",
        "x" * 41 + ",y",
        "A,B\x07C",
        "A\n,B",
        "\ud800,B",
        None,
        2,
        True,
        ["A", "B"],
    ],
)
def test_names_that_do_not_fit_are_refused(given: object):
    with pytest.raises(UsageError) as caught:
        chosen("game", PLAYERS, {"players": given})
    assert caught.value.what.startswith("option players cannot be ")
    assert caught.value.todo == "players takes 2 to 8 different names between commas, each of 1 to 40 characters"
    assert "\n" not in caught.value.what
