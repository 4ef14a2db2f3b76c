"""Catalogues as people write them: what is wrong is told with its line and never reaches a table; and the verb."""

from __future__ import annotations

import json
import logging

import pytest
from extract import template

from pi_controller.cli import main as cli
from pi_controller.config import read_settings
from pi_controller.display import i18n
from pi_controller.display.catalogue import read_catalogue
from pi_controller.display.i18n import TEMPLATE, translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.terminal import render_text
from pi_controller.errors import SettingsError
from pi_controller.runtime.assembly import in_language

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n{more}\n'
FILLED = 'msgid "The bead is hidden"\nmsgstr "one"\n'


@pytest.fixture(autouse=True)
def _forget():
    yield
    i18n.HOST_CATALOGUES.clear()
    i18n.translator.cache_clear()


@pytest.fixture
def write(tmp_path):
    """Return what writes a catalogue of `entries`: `write(FILLED)` -> its path."""

    def write(entries, more="", name="dak.po"):
        path = tmp_path / name
        path.write_text(HEADER.format(more=more) + entries, "utf-8")
        return path

    return write


def test_untranslated_sentences_fall_back_to_english(write, view):
    code = i18n.resolve_language(str(write(FILLED)))
    assert code == "dak"
    assert Phrases(translator(code)).sentence(view(phase="hide", hider=None)) == "one"
    assert Phrases(translator(code)).sentence(view()) == "First hit: Long Hollow"
    assert render_text(view(phase="hide"), tr=translator(code))


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("{hiter} hits", "has no {hiter}"),
        ("{hider} und {pad}", "has no {hider} and {pad}"),
        ("{hitter", "without its }"),
        ("hitter}", "without its }"),
        ("{hitter!r}", "without its }"),
        ("{hitter:>9999999}", "without its }"),
        ("{0}", "without its }"),
        ("{hitter.__class__}", "without its }"),
        ("a\\nb", "control character"),
        (" {hitter}", "begins or ends with a space"),
    ],
)
def test_faulty_translation_is_reported_and_stays_english(write, view, caplog, said, fault):
    path = write(f'msgid "First hit: {{hitter}}"\nmsgstr "{said}"\n\n{FILLED}')
    (told,) = read_catalogue(path).faults
    assert told.startswith("line ")
    assert fault in told
    with caplog.at_level(logging.WARNING):
        code = i18n.resolve_language(str(path))
    assert "English is shown there" in caplog.text
    assert Phrases(translator(code)).sentence(view()) == "First hit: Long Hollow"
    assert Phrases(translator(code)).sentence(view(phase="hide", hider=None)) == "one"


def test_fuzzy_translation_stays_english(write, view):
    path = write("#, fuzzy\n" + FILLED)
    assert read_catalogue(path).filled == frozenset()
    assert (
        Phrases(translator(i18n.resolve_language(str(path)))).sentence(view(phase="hide", hider=None))
        == "The bead is hidden"
    )


def test_changed_english_sentence_is_reported(write):
    (told,) = read_catalogue(write('msgid "First hit: {hitter"\nmsgstr "one"\n')).faults
    assert "the English sentence was changed" in told


def test_forms_for_numbers_by_the_languages_own_rule(write):
    more = '"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);\\n"'
    forms = "".join(f'msgstr[{n}] "{said} {{pads}}"\n' for n, said in enumerate(("one", "two", "many")))
    code = i18n.resolve_language(str(write('msgid "pad {pads}"\nmsgid_plural "pads {pads}"\n' + forms, more)))
    told = [translator(code).plural("pad {pads}", "pads {pads}", n, pads=n).split()[0] for n in (1, 2, 3, 99)]
    assert told == ["one", "two", "many", "many"]


@pytest.mark.parametrize(
    "rule", ["nplurals=2; plural=(n / 0);", "nplurals=2; plural=__import__('os');", "nplurals=x; plural=n n;"]
)
def test_invalid_plural_forms_rule_is_refused(write, rule):
    path = write(FILLED, f'"Plural-Forms: {rule}\\n"')
    with pytest.raises(SettingsError, match="Plural-Forms") as caught:
        read_catalogue(path)
    assert "nplurals=2" in caught.value.hint


@pytest.mark.parametrize("charset", ["utf-16", "no-such-set", ""])
def test_catalogue_is_read_as_utf_8_despite_header(write, charset):
    path = write('msgid "The bead is hidden"\nmsgstr "Ŋ Ȟ"\n')
    path.write_text(path.read_text("utf-8").replace("charset=utf-8", f"charset={charset}"), "utf-8")
    assert read_catalogue(path).sentences.gettext("The bead is hidden") == "Ŋ Ȟ"


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b'msgid "a"\nmsgid "b"\n', bytes(range(256)), 'msgid "é'.encode("latin-1")],
)
def test_invalid_catalogue_file_is_refused_with_hint(tmp_path, content):
    path = tmp_path / "dak.po"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"dak\.po") as caught:
        i18n.resolve_language(str(path))
    assert "LANGUAGES.md" in caught.value.hint


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SettingsError, match="there is no catalogue"):
        i18n.resolve_language(str(tmp_path / "dak.po"))


def test_language_setting_takes_a_code_or_po_file(write, tmp_path, view):
    path = tmp_path / "mat.toml"
    for said in ("dak", str(write(FILLED))):
        path.write_text(f'[web]\nlanguage = "{said}"\n', "utf-8")
        assert in_language(read_settings(path)).web.language == "dak"
    assert Phrases(translator("dak")).sentence(view(phase="hide", hider=None)) == "one"
    for wrong in ("", "english please", "/srv/dak.mo", "/srv/no code.po"):
        path.write_text(f'[web]\nlanguage = "{wrong}"\n', "utf-8")
        with pytest.raises(SettingsError, match=r"mat\.toml:2: \[web\] language: must be a language's code") as caught:
            read_settings(path)
        assert "such as /srv/dak.po" in caught.value.message


@pytest.mark.slow
def test_languages_command_lists_languages_and_their_approval(write, capsys, monkeypatch, tmp_path):
    all_of_them = len(template())
    assert cli(["words", "languages"]) == 0
    assert capsys.readouterr().out == f"en   {all_of_them} of {all_of_them} sentences\n"
    write("")
    write(FILLED, name="oj.po")
    monkeypatch.setattr(i18n, "LOCALES", tmp_path)
    assert cli(["words", "languages"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"en   {all_of_them} of {all_of_them} sentences",
        f"dak  0 of {all_of_them} sentences, not approved by a speaker (X-Authority in the header is empty)",
        f"oj   1 of {all_of_them} sentences, not approved by a speaker (X-Authority in the header is empty)",
    ]


def test_the_verb_looks_at_one_catalogue(write, capsys):
    more = '"X-Authority: the language office, 2026\\n"'
    assert cli(["words", "languages", str(write(FILLED, more))]) == 0
    assert "dak  1 of" in (said := capsys.readouterr().out)
    assert "approved by the language office, 2026" in said
    wrong = write(FILLED + '\nmsgid "First hit: {hitter}"\nmsgstr "{hiter}"\n', more)
    assert cli(["words", "languages", str(wrong), "--missing"]) == 1
    said = capsys.readouterr().out
    assert "has no {hiter}; English is shown there" in said
    assert "\n  First hit: {hitter}\n" in said
    assert "\n  The bead is hidden\n" not in said
    assert cli(["words", "languages", str(wrong), "--json"]) == 1
    dak = json.loads(capsys.readouterr().out)["languages"]["dak"]
    assert (dak["authority"], len(dak["faults"])) == ("the language office, 2026", 1)
    assert "First hit: {hitter}" in dak["missing"]


def test_languages_command_prints_template_as_valid_catalogue(capsys, tmp_path):
    assert cli(["words", "languages", "--template"]) == 0
    said = capsys.readouterr().out
    assert said == TEMPLATE.read_text("utf-8")
    path = tmp_path / "lkt.po"
    path.write_text(said, "utf-8")
    assert read_catalogue(path).filled == frozenset()


def test_languages_command_refuses_missing_file(capsys, tmp_path):
    assert cli(["words", "languages", str(tmp_path / "dak.po")]) == 2
    assert "there is no catalogue" in capsys.readouterr().err
