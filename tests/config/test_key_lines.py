"""`key_lines` finds the line of every key of a TOML text."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.config.load import key_lines


def lines(text):
    tomllib.loads(text)  # or the test itself is wrong
    return {".".join(keys): line for keys, line in key_lines(text).items()}


def test_inline_tables():
    assert lines('pins = { ready = 5, "shown" = 6, in = { x = 1 } }\nz = {}\n') == {
        "pins": 1, "pins.ready": 1, "pins.shown": 1, "pins.in": 1, "pins.in.x": 1, "z": 2,
    }  # fmt: skip


def test_quoted_keys():
    assert lines('"a.b" = 1\n\'c d\' = 2\n"\\u00e9\\"" = 3\n"" = 4') == {"a.b": 1, "c d": 2, 'é"': 3, "": 4}


@pytest.mark.parametrize(
    "value",
    [
        '"""\nb = 2\n[c]\n"""',
        "'''\nb = 2\n[c]\n'''",
        '"""ends in quotes\n"""""',
        '"""\\"""\n"""',
        "[\n 1, # b = 2\n [ 2, 3 ],\n { b = 1 },\n]",
        "'\\'\n",
        '"# \\" b = 2"\n',
        "1979-05-27 07:32:00\n",
        "-1_000.5e3 # b = 1\n",
    ],
)
def test_text_inside_a_value_is_no_key(value):
    text = f"a = {value}\nlast = 1\n"
    assert lines(text) == {"a": 1, "last": text.count("\n", 0, text.index("last")) + 1}


def test_lists_of_sections_are_found_at_the_first():
    assert lines("[[a]]\nb = 1\n[[a]]\nb = 2\n") == {"a": 1, "a.b": 2}


keys = st.text("abcxyz_-é. #=[", min_size=1, max_size=6)
values = st.one_of(
    st.integers(-9, 9).map(str),
    st.booleans().map(lambda flag: str(flag).lower()),
    st.text("ab#=[]{}'\"\\\n,é", max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.text('ab#=[]{}"\\\n,é', max_size=8).map(lambda text: f"'''{text}'''"),
    st.lists(st.sampled_from(["1", '"]"', "'#'", "[2]", "{b = 3}"]), max_size=3).map(
        lambda items: "[\n" + " ,#]\n".join(items) + "\n]"
    ),
)


@settings(deadline=None)
@given(st.dictionaries(keys, st.dictionaries(keys, values, max_size=4), max_size=4), st.integers(0, 2))
def test_every_key_is_found_on_its_line(document, blank):
    text, expected = "", {}
    for section, content in document.items():
        text += "#\n" * blank + f"[{json.dumps(section, ensure_ascii=False)}]"
        expected[(section,)] = text.count("\n") + 1
        text += "  # x = 1\n"
        for key, value in content.items():
            expected[(section, key)] = text.count("\n") + 1
            text += f"{json.dumps(key, ensure_ascii=False)} = {value}\n"
    tomllib.loads(text)
    assert key_lines(text) == expected
