import pytest

from pi_controller.errors import UsageError
from pi_controller.games.bageswin.rules import BANK
from pi_controller.rules import registry
from pi_controller.rules.options import (
    Choice,
    Flag,
    Names,
    OptionalNumber,
    WholeNumber,
    describe_options,
    from_text,
    names,
    resolve_options,
)

OPTIONS = (
    WholeNumber("points", 5, "How many win.", 1, 99),
    Choice("payer", "hider", "Who pays.", ("hider", "middle_first")),
    OptionalNumber("seconds", None, "Time for a hit.", 1, 600),
    Flag("killing", True, "Whether horses are sent back."),
)


def test_empty_settings_give_the_defaults():
    assert dict(resolve_options("game", OPTIONS, {})) == {
        "points": 5,
        "payer": "hider",
        "seconds": None,
        "killing": True,
    }


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
    got = resolve_options("game", OPTIONS, {name: given})[name]
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
def test_invalid_value_is_refused_with_valid_ones(name: str, given: object):
    with pytest.raises(UsageError) as caught:
        resolve_options("game", OPTIONS, {name: given})
    assert f"option {name} cannot be" in caught.value.message
    assert caught.value.hint.startswith(f"{name} takes ")
    assert "\n" not in caught.value.message + caught.value.hint
    assert len(caught.value.message) < 120


def test_misspellings_are_met_with_the_nearest_word():
    with pytest.raises(UsageError) as caught:
        resolve_options("game", OPTIONS, {"point": "3"})
    assert caught.value.message == "game has no option 'point'; did you mean points?"
    assert caught.value.hint == "options of game: points, payer, seconds, killing"
    with pytest.raises(UsageError) as caught:
        resolve_options("game", OPTIONS, {"payer": "middle-first"})
    assert caught.value.message == "option payer cannot be 'middle-first'; did you mean middle_first?"
    assert caught.value.hint == "payer takes hider or middle_first"


def test_resolved_options_are_immutable():
    with pytest.raises(TypeError):
        resolve_options("game", OPTIONS, {})["points"] = 1  # type: ignore[index]


def test_assignments_are_split_at_the_first_equals_sign():
    assert from_text(["points=3", "players=a=b", "note="]) == {"points": "3", "players": "a=b", "note": ""}


@pytest.mark.parametrize("wrong", [["points"], ["=3"], [""], ["points=3", "points=4"]])
def test_malformed_assignment_is_refused(wrong: list[str]):
    with pytest.raises(UsageError):
        from_text(wrong)


def test_help_lists_options_with_values_and_defaults():
    text = "\n".join(describe_options(OPTIONS))
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
        ("x" * 60 + ",y", ("x" * 60, "y")),
    ],
)
def test_names_stand_between_commas(given: str | None, players: tuple[str, ...]):
    settings = resolve_options("game", PLAYERS, {} if given is None else {"players": given})
    assert names(settings["players"]) == players
    assert resolve_options("game", PLAYERS, settings) == settings


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
        "x" * 61 + ",y",
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
        resolve_options("game", PLAYERS, {"players": given})
    assert caught.value.message.startswith("option players cannot be ")
    assert caught.value.hint == "players takes 2 to 8 different names between commas, each of 1 to 60 characters"
    assert "\n" not in caught.value.message


def test_choice_named_by_year_or_place_has_source():
    for name in registry.names():
        for option in registry.game_class(name).options:
            if isinstance(option, Choice):
                named = {word for word in option.choices if word[-4:].isdecimal() or word == "mille_lacs"}
                assert named <= set(option.sources), option.name
                assert set(option.sources) <= set(option.choices)
                assert len(option.rules) == len(option.choices)
                assert all(word[-4:] in option.sources[word] for word in named if word[-4:].isdecimal())


def test_an_odd_number_of_sticks_cannot_be_split():
    for sticks in (1, 99):
        with pytest.raises(UsageError, match="cannot split"):
            registry.game("bageswin", {"sticks": sticks})
    assert registry.game("bageswin", {"sticks": 99, "players": "A,B,C"}).opening().sticks[BANK] == 99
