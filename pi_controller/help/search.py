"""Search in the help: its passages in a full-text index of SQLite, the best one of each page.

Words count as their stem ("judges" finds "judge"), with or without hyphens ("wifi" finds "Wi-Fi"). A word in a page's
title counts for more than one in a heading, and that for more than one in the text; tables of the reference come last.
"""

import re
import sqlite3
import threading
from functools import cache
from typing import NamedTuple

from pi_controller.help.contents import Page, list_pages, list_passages, list_sections

MAX_RESULTS = 8
MAX_WORDS = 12
EXCERPT_CHARS = 240
SECTION_WEIGHTS = {"Reference": 0.3, "Why": 0.6, "Develop": 0.6}
"""Pages for those who look something up or change the program stand behind those for a task."""
_WEIGHTS = "10.0, 8.0, 1.0"
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about am an and are as at be by can cannot could did do does for from get had has have how i if in into "
        "is it its make me my need no not of on or our so some somebody someone that the their them then there "
        "they this to too want was we were what when where which who whom whose why will with would you your",
    )
)
_HYPHENATED = re.compile(r"\w+(?:[-\u2011]\w+)+")
_NO_HYPHENS = str.maketrans("", "", "-\u2011")
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")
_lock = threading.Lock()  # one connection answers all threads


class SearchResult(NamedTuple):
    """A page, its heading and that heading's anchor ("" for the top), and the sentence that fits best."""

    page: Page
    heading: str
    anchor: str
    excerpt: str


def search(query: str) -> list[SearchResult]:
    """Return the pages that have words of `query`, the best first, each with its best passage."""
    found = re.findall(r"\w+", _join_hyphens(query.casefold()))
    words = ([word for word in found if word not in _STOP_WORDS] or found)[:MAX_WORDS]
    if not words:
        return []
    with _lock:
        rows = _index().execute(
            f"SELECT page, anchor, heading, shown, bm25(passages, {_WEIGHTS}) * weight AS rank FROM passages"  # noqa: S608 - a constant
            " WHERE passages MATCH ? ORDER BY rank",
            [" OR ".join(f'"{word}"' for word in words)],
        )
        best: dict[str, SearchResult] = {}
        for address, anchor, heading, shown, _ in rows:
            best.setdefault(address, SearchResult(list_pages()[address], heading, anchor, _excerpt(shown, words)))
    return list(best.values())[:MAX_RESULTS]


@cache
def _index() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(
        "CREATE VIRTUAL TABLE passages USING fts5(title, heading, body, page UNINDEXED, anchor UNINDEXED,"
        " shown UNINDEXED, weight UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    for section in list_sections():
        weight = SECTION_WEIGHTS.get(section.title, 1.0)
        for page in section.pages:
            for heading, anchor, text in list_passages(page.source):
                row = (*map(_join_hyphens, (page.title, heading, text)), page.address, anchor, text, weight)
                database.execute("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return database


def _join_hyphens(text: str) -> str:
    """Return `text` with each hyphenated word once more as one word."""
    return _HYPHENATED.sub(lambda found: f"{found[0]} {found[0].translate(_NO_HYPHENS)}", text)


def _excerpt(text: str, words: list[str]) -> str:
    """Return the sentence of `text` with the most of `words`."""
    sentences = _SENTENCE_END.split(text)
    best = max(sentences, key=lambda one: sum(word[:5] in _join_hyphens(one.casefold()) for word in words), default="")
    return best if len(best) <= EXCERPT_CHARS else f"{best[:EXCERPT_CHARS].rsplit(' ', 1)[0]} …"
