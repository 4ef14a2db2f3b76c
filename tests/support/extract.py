"""`python tests/support/extract.py`: extract all sentences for translation and update the catalogues.

It writes `locale/moccasin_mat.pot` and merges it into each catalogue: translations are kept, new sentences are added
without a translation, and unused ones are moved to the end as obsolete. `--check` writes no file and reports the
outdated ones.

It parses the sources with `ast` and the templates with Jinja2. Rejected: Babel and xgettext, which miss sentences
inside f-strings (Python 3.11) and mistake the arguments of a form's `text` field and of the macro `mark` for sentences.
"""

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import polib
from jinja2 import Environment, nodes

import pi_controller
from pi_controller.config import Settings, edit
from pi_controller.display.catalogue import AUTHORITY
from pi_controller.display.i18n import LOCALES, TEMPLATE
from pi_controller.errors import MatError, UsageError
from pi_controller.rules import registry
from pi_controller.rules.options import Choice
from pi_controller.text import SUFFIX, Sentence
from pi_controller.web.settings_form import describe_form

_PACKAGE = Path(pi_controller.__file__).parent
REFUSING = (
    "card/settings_request.py",
    "config",
    "display/sound.py",
    "entry_points.py",
    "exhibit",
    "games",
    "hub/director.py",
    "hub/join_server.py",
    "hub/pages.py",
    "hub/tokens.py",
    "referee",
    "rules",
    "table/commands.py",
    "table/table.py",
    "tournament",
    "web",
)
"""The folders and modules whose errors a page can show."""
ONE, MANY, ALL = (
    {"mark", "text", "Sentence", "hide_again", "withdraw_commitment"},
    {"plural"},
    {
        "fail",
        "fails",
        "passes",
        "absent",
        "make_fault",
        "SettingsIssue",
        "_down",
        "journal_errors",
        "PortError",
        "_takes",
        "_wrong",
        "require",
    },
)
"""The functions that mark a sentence, a singular and a plural, or all their texts."""
_HEADER = """Sentences of Moccasin Mat, for those who speak a language: see LANGUAGES.md.
Words called at the table are the game's own and are not in this list.
Words in braces, such as {hider}, are put in by the table: keep them as they are, in any order."""
_METADATA = {
    "Project-Id-Version": "moccasin-mat",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Transfer-Encoding": "8bit",
    AUTHORITY: "",
}


def template() -> polib.POFile:
    """Return the template of all catalogues: each sentence of the sources with its files."""
    entries: dict[str, polib.POEntry] = {}
    for path, found in _all_sentences():
        for one, many in found:
            entry = entries.setdefault(one, polib.POEntry(msgid=one, msgid_plural=many))
            if many:
                entry.msgid_plural, entry.msgstr_plural = many, {0: "", 1: ""}
            where = (path.relative_to(_PACKAGE).as_posix(), "")
            entry.occurrences += [] if where in entry.occurrences else [where]
    made = polib.POFile(wrapwidth=120)
    made.header, made.metadata = _HEADER, dict(_METADATA)
    made.extend(entries.values())
    return made


@cache
def _all_sentences() -> list[tuple[Path, list[tuple[str, str]]]]:
    """Return the sentences of each module and template, in order."""
    shown, refusing = sources(), refusing_sources()
    readers = [(path, sentences if path.suffix == ".py" else template_sentences) for path in shown]
    readers += [(path, refusals) for path in refusing]
    found = [(path, [*read(path.read_text("utf-8"))]) for path, read in sorted(readers, key=lambda one: one[0])]
    return [*found, (_PACKAGE / "config" / "model.py", [*form_sentences()])]


def form_sentences() -> Iterator[tuple[str, str]]:
    """Yield the sentences of the settings' form, which come from the model and the games' options."""
    for game in registry.names():
        sections = edit.list_settings(Settings.model_validate({"game": {"name": game}}))
        yield from ((one, "") for one in _templates(describe_form(sections)))
        choices = (option for option in registry.game_class(game).options if isinstance(option, Choice))
        yield from ((rule, "") for option in choices for rule in option.rules)


def _templates(value: object) -> Iterator[str]:
    if isinstance(value, Sentence):
        if re.search(r"[^\W\d_]", re.sub(r"\{\w+\}", "", value.template)):
            yield value.template
        value = value.values
    if isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _templates(one)


def sources() -> list[Path]:
    """Return the modules and templates, which may have sentences for players and visitors."""
    return sorted(path for path in _PACKAGE.rglob("*") if path.suffix in {".py", ".html"})


def sentences(source: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a module in order, each with its plural form or ""."""
    for call in _calls(source):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        texts = [text for arg in call.args for text in constants(arg)]
        if name in MANY and len(texts) == 2:
            yield texts[0], texts[1]
        elif name in ONE:
            yield from ((text, "") for arg in call.args[:1] for text in constants(arg))
        elif name in ALL:
            yield from ((text, "") for text in texts)


def constants(node: ast.expr) -> list[str]:
    """Return the texts that an expression can be, as far as they stand in it."""
    match node:
        case ast.Constant(value=str(text)) if text:
            return [text]
        case ast.IfExp(body=first, orelse=second):
            return constants(first) + constants(second)
        case _:
            return []


def refusing_sources() -> list[Path]:
    """Return the modules whose errors a page can show."""
    return sorted(
        path for name in REFUSING for path in [_PACKAGE / name, *(_PACKAGE / name).rglob("*.py")] if path.is_file()
    )


def error_calls(source: str) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield the class and the sentences, message and hint, of each of the project's errors that a module makes."""
    for call in _calls(source):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name.endswith("Error") and not hasattr(builtins, name):
            yield name, call.args[1:] if name == "RequestError" else call.args  # a request's code comes first


def refusals(source: str) -> Iterator[tuple[str, str]]:
    """Yield the messages and hints of a module's errors in order, as `sentences` does."""
    for _, texts in error_calls(source):
        yield from ((one, "") for text in texts for one in constants(text))


def template_sentences(source: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a template, the arguments of `text`, in order; templates have no plural forms."""
    for call in Environment(autoescape=True).parse(source).find_all(nodes.Call):
        texts = [arg.value for arg in call.args if isinstance(arg, nodes.Const) and isinstance(arg.value, str)]
        if isinstance(call.node, nodes.Name) and call.node.name == "text" and texts:
            yield texts[0], ""


@cache
def _calls(source: str) -> list[ast.Call]:
    """Return the calls of a module in order, an outer one before those in its arguments."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def find_outdated() -> dict[Path, str]:
    """Return the outdated files with their new contents."""
    made = template()
    wanted = {TEMPLATE: str(made)}
    for path in sorted(LOCALES.glob(f"*{SUFFIX}")):
        catalogue = polib.pofile(str(path), encoding="utf-8", wrapwidth=120)
        catalogue.merge(made)
        order = {entry.msgid: n for n, entry in enumerate(made)}
        catalogue.sort(key=lambda entry: order.get(entry.msgid, len(order)))
        for entry in [one for one in catalogue if one.obsolete and not (one.msgstr or any(one.msgstr_plural.values()))]:
            catalogue.remove(entry)
        wanted[path] = str(catalogue)
    return {path: text for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text}


def main(argv: Sequence[str]) -> int:
    """Write the outdated files, or report them with `--check`; return 1 if `--check` found any."""
    if set(argv) - {"--check"}:
        raise UsageError(f"extract: unknown {' '.join(argv)}", "it takes --check or nothing")
    found = find_outdated()
    for path, text in found.items():
        if not argv:
            path.write_text(text, "utf-8")
        print(f"{'out of date' if argv else 'written'}: {path.name}")
    return 1 if found and argv else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except MatError as error:
        sys.exit(str(error))
