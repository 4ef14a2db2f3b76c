from __future__ import annotations

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_controller.display.shown_names import clean_name, isolate_name, team_name


@settings(deadline=None)
@given(st.text(max_size=200))
@example("w" * 61)
@example("e\u200b\u0301")
@example("a\u0301\u200b\u0323")
def test_any_text_becomes_one_safe_line(text):
    name = clean_name(text)
    assert len(name) <= 60
    assert clean_name(name) == name
    assert name == name.strip()
    assert not any(unicodedata.category(c)[0] == "C" and c not in "\u200c\u200d" for c in name)
    name.encode()


def test_clean_name_preserves_spelling_and_strips_control_characters():
    assert clean_name("Oŋšpé  Dakȟóta\n") == "Oŋšpé Dakȟóta"
    assert clean_name("e\u0301") == "é"
    assert clean_name("e\u200b\u0301") == "é", "what goes does not keep a letter from its mark"
    assert clean_name("a\u0301\u200b\u0323") == "\u1ea1\u0301"
    assert clean_name("ab\u202etxt.exe") == "abtxt.exe"
    assert clean_name("a\x1b[31m") == "a[31m"
    assert clean_name("z" + "\u0335" * 30) == "z" + "\u0335" * 4
    assert clean_name("\ud800x") == "x"
    assert clean_name("w" * 60) == "w" * 60
    assert clean_name("w" * 61) == "w" * 59 + "…", "what is missing is not hidden"


def test_unnamed_team_is_named_by_its_letter(view):
    assert team_name(view(teams={"A": " \u200b "}), "A") == "Team A"
    assert team_name(view(teams={}), "B") == "Team B"


def test_right_to_left_names_alone_are_isolated():
    assert isolate_name("Big Coulee") == "Big Coulee"
    assert isolate_name("قبيلة") == "\u2068قبيلة\u2069"
