"""`python -m pi_controller.display.extract`: writes the list of all sentences anew, and brings each catalogue up to it.

The list is `locale/moccasin_mat.pot`. What a catalogue says is kept: a sentence that is new stands in it empty, one
that is not said any more stands at its end, out of use. With `--check` nothing is written, and what is out of date is
told.

The sources are read with the standard library's own parser, the templates with Jinja2's. Passed over: Babel and
xgettext, which read words, not syntax: they miss a sentence inside an f-string (Python 3.11), and take the names given
to a form's `text` field and to the templates' macro `mark` for sentences.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import polib
from jinja2 import Environment
from jinja2.ext import extract_from_ast

from pi_controller.display.i18n import AUTHORITY, DOMAIN, LOCALES
from pi_controller.errors import MatError, UsageError
from pi_controller.text import SUFFIX

TEMPLATE = LOCALES / f"{DOMAIN}.pot"
_PACKAGE = Path(__file__).parent.parent
_SPOKEN_TO_PEOPLE = ("display", "games", "web", "hub", "exhibit")
"""The folders whose sentences players and visitors read. Commands and their errors are the host's, and English."""
ONE, MANY = {"mark", "text", "gettext"}, {"plural", "ngettext"}
"""What a sentence, or a sentence for one and one for many, is given to in the sources."""
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
    """Return the list of all sentences of the sources, with the files they stand in."""
    entries: dict[str, polib.POEntry] = {}
    for path in sources():
        read = sentences if path.suffix == ".py" else template_sentences
        for one, many in read(path.read_text("utf-8")):
            entry = entries.setdefault(one, polib.POEntry(msgid=one, msgid_plural=many))
            if many:
                entry.msgid_plural, entry.msgstr_plural = many, {0: "", 1: ""}
            where = (path.relative_to(_PACKAGE).as_posix(), "")
            entry.occurrences += [] if where in entry.occurrences else [where]
    made = polib.POFile(wrapwidth=120)
    made.header, made.metadata = _HEADER, dict(_METADATA)
    made.extend(entries.values())
    return made


def sources() -> list[Path]:
    """Return the modules and templates whose sentences people at the table read."""
    files = (path for folder in _SPOKEN_TO_PEOPLE for path in (_PACKAGE / folder).rglob("*"))
    return sorted(path for path in files if path.suffix in {".py", ".html"})


def sentences(source: str) -> Iterator[tuple[str, str]]:
    """Return the sentences of a module in their order, each with the one for many, "" where it has none."""
    for call in _calls(ast.parse(source)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if name in ONE and texts:
            yield texts[0], ""
        elif name in MANY and len(texts) == 2:
            yield texts[0], texts[1]


def template_sentences(source: str) -> Iterator[tuple[str, str]]:
    """Return the sentences of a template in their order: what is given to `text`. None of them has a form for many."""
    for _, _, texts in extract_from_ast(Environment(autoescape=True).parse(source), ["text"]):
        if isinstance(texts, str):
            yield texts, ""


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child
        yield from _calls(child)


def outdated() -> dict[Path, str]:
    """Return the files that are not as the sources have it, with what they should hold."""
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
    """Write what is out of date, or with `--check` tell it; return 1 where `--check` found something."""
    if set(argv) - {"--check"}:
        raise UsageError(f"extract: unknown {' '.join(argv)}", "it takes --check or nothing")
    found = outdated()
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
