"""The list of all sentences and the catalogues: up to date with the sources, shipped, and with nothing made up."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import extract
import polib
import pytest
from extract import sentences, sources, template, template_sentences

from pi_controller.display.catalogue import AUTHORITY, read_catalogue
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH, LOCALES, TEMPLATE
from pi_controller.errors import UsageError

ROOT = Path(__file__).parents[2]
CATALOGUES = sorted(LOCALES.glob("*.po"))


def test_template_and_catalogues_are_up_to_date(capsys):
    assert (extract.main(["--check"]), capsys.readouterr().out) == (0, ""), "run: python tests/support/extract.py"


@pytest.mark.slow
def test_added_and_removed_sentences_are_out_of_date(tmp_path, monkeypatch, capsys):
    """The comparison can fail, and what was filled in is kept when it is brought up to date."""
    (tmp_path / TEMPLATE.name).write_bytes(TEMPLATE.read_bytes())
    catalogue = template()
    catalogue.find("Bageswin (Fish Game)").msgstr = "Bageswin"
    catalogue.save(str(tmp_path / "oj.po"))
    monkeypatch.setattr(extract, "LOCALES", tmp_path)
    monkeypatch.setattr(extract, "TEMPLATE", tmp_path / TEMPLATE.name)
    assert extract.main(["--check"]) == 0
    made = template()
    made.append(polib.POEntry(msgid="A sentence that is new."))
    made.remove(made.find("Bageswin (Fish Game)"))
    monkeypatch.setattr(extract, "template", lambda: made)
    assert extract.main(["--check"]) == 1
    assert capsys.readouterr().out == f"out of date: {TEMPLATE.name}\nout of date: oj.po\n"
    assert "A sentence that is new." not in (tmp_path / "oj.po").read_text("utf-8"), "--check writes nothing"
    assert extract.main([]) == 0
    brought = polib.pofile(str(tmp_path / "oj.po"))
    assert brought.find("A sentence that is new.").msgstr == ""
    (kept,) = brought.obsolete_entries()
    assert (kept.msgid, kept.msgstr) == ("Bageswin (Fish Game)", "Bageswin")
    assert extract.main(["--check"]) == 0
    with pytest.raises(UsageError, match="--chek"):
        extract.main(["--chek"])


def test_sentences_are_found_wherever_they_stand():
    source = """
text("one"); self.text("two" " joined"); self.tr.text("three", n=n); mark("four")
f"{text('in an f-string')} {x}"
plural("{n} stick", "{n} sticks", n); tr.plural("pad", "pads", 2, pads=3)
text(value); text(f"{x}"); print("not one"); other.context("nor this")
{"key": mark("five"), **{k: lambda: text("six")}}
"""
    assert list(sentences(source)) == [
        ("one", ""),
        ("two joined", ""),
        ("three", ""),
        ("four", ""),
        ("in an f-string", ""),
        ("{n} stick", "{n} sticks"),
        ("pad", "pads"),
        ("five", ""),
        ("six", ""),
    ]


def test_every_text_call_in_templates_is_extracted():
    source = """{% macro m(said) %}{{ said }}{% endmacro %}{# text("a comment") #}
<p title="{{ text('one') }}">{{ (text("two {n}")|escape).format(n=text(value)) }}
{{ m(text("three")) }} text("not one")</p>
"""
    assert [one for one, _ in template_sentences(source)] == ["one", "two {n}", "three"]
    for path in (path for path in sources() if path.suffix == ".html"):
        html = path.read_text("utf-8")
        assert len(re.findall(r"\btext\(", html)) == len([*template_sentences(html)]), path.name


def test_translator_aliases_are_known_to_the_extractor():
    """`say = self.tr.text` would hide every `say("...")` from the list."""
    for path in (path for path in sources() if path.suffix == ".py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Assign):
                continue
            target = node.targets[0]
            many = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            for name, value in zip(target.elts, node.value.elts, strict=False) if many else [(target, node.value)]:
                if isinstance(value, ast.Attribute) and ast.unparse(value.value).endswith("tr"):
                    assert value.attr not in {"text", "plural"} or ast.unparse(name) == value.attr, path.name


def test_every_english_sentence_can_be_filled_in():
    for entry in template():
        for said in filter(None, (entry.msgid, entry.msgid_plural)):
            assert said == said.strip(), said
            names = re.findall(r"\{([^{}]*)\}", said)
            assert all(name.isidentifier() for name in names), said
            assert said.count("{") == said.count("}") == len(names), said


def test_packaged_catalogues_name_authority_without_faults():
    """A catalogue is its speakers': it comes with the package once it names by whose word it is."""
    for found in map(read_catalogue, CATALOGUES):
        assert not found.faults
        assert found.header[AUTHORITY]


def test_template_asks_for_its_authority():
    assert template().metadata[AUTHORITY] == ""
    assert "LANGUAGES.md" in template().header


def test_games_own_words_are_not_translatable():
    listed = {entry.msgid for entry in template()}
    own = {known.shown for known in get_show("dakota", ENGLISH).words.values() if known.sounds}
    assert own
    assert not own & listed
    assert not {"Hampa Apena", "Lahal (Slahal)", "Pa-tol"} & listed
    assert {get_show("dakota", ENGLISH).word(call).shown for call in ("it_stays", "foul", "game")} <= listed


def test_catalogues_and_their_guide_are_packaged():
    """Hatchling packs every file there that git does not ignore. Catalogues are read as `.po`, none is compiled."""
    ignored = subprocess.run(
        ["git", "check-ignore", *map(str, LOCALES.iterdir())], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ignored.stdout == ""
    assert {path.name for path in LOCALES.iterdir()} == {
        TEMPLATE.name,
        "LANGUAGES.md",
        *(path.name for path in CATALOGUES),
    }
