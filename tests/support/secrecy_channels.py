"""Everything that leaves a running table, by name, and what is kept of it: at what time, by which way, which bytes.

The list is the proof's own weak spot, so it is checked against the program (`test_channels.py`): a route, an observer,
a section of the settings or a file that is not named here fails a test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CHANNELS = {
    "light": "a frame for the strip, as the scene makes it",
    "wire": "bytes from the host to the mat board: orders, the strip that hangs on the board, the clock's questions",
    "page": "an answer to GET: status, headers and body",
    "stream": "a piece of an event stream, when it is sent",
    "answer": "what the console says to a command",
    "terminal": "what is printed, on either stream, and what is answered to what is typed",
    "log": "a logging record of any level",
    "service": "what the service manager is told",
    "file": "a file beside the table: its name, who may read it and its size, when one of them has changed",
    "row": "a record of the journal, when it is in the file",
    "copy": "a record of the journal's copy on the stick",
    "hit": "a row of the hits kept beside the journal",
    "recording": "the bytes of a sensor recording, when they have changed",
    "voice": "what is played or said",
    "report": "what the table posts to the tournament's hub",
    "hub": "what the hub, which runs a tournament, answers",
    "crash": "the traceback that is left of a program that failed",
}
"""What leaves a table."""

PUBLIC = ("/", "/room", "/overlay", "/find", "/check", "/rules", "/games", "/view.json", "/healthz")
SIGNED_IN = (
    "/judge", "/judge/sign-in", "/judge/state.json", "/judge/hits.json", "/judge/hit/1.svg", "/judge/people",
    "/judge/settings",
)  # fmt: skip
DOWNLOADS = ("/judge/settings/report.zip", "/judge/settings/journal.sqlite")
"""For the head judge: the machine's disk and warnings, other ones at each look, and the journal, refused in a hide."""
STREAMS = ("/events", "/events?page=overlay", "/judge/events")
STATIC = ("/static/{name}", "/openapi.json", "/help", "/help/search", "/help/{path:path}")
"""The same for all tables: files, the documentation, and what is made of the program's types alone."""
ARCHIVED = ("/games/{stamp}",)
"""Games in journals that are closed: `tests/web/test_games_page.py`."""
COMMANDS = (
    "/judge/command", "/judge/sign-in", "/judge/sign-out", "/judge/people", "/judge/settings/save",
    "/judge/settings/restart",
)  # fmt: skip
"""Take a POST; only the first one speaks to the table."""
WRITTEN = {"/judge/hit/1.svg": "/judge/hit/{n:int}.svg", "/events?page=overlay": "/events"}
"""How the program writes an address that has a part to fill in."""
ROLES = ("scorekeeper", "judge", "head")
"""Who is signed in at the console in every test."""
SECTIONS = frozenset(
    [
        "table",
        "game",
        "teams",
        "mat",
        "board",
        "board_b",
        "strips",
        "buttons",
        "web",
        "voice",
        "strikes",
        "recording",
        "backup",
        "referee",
        "hub",
        "observers",
        "marks",
        "exhibit",
    ]
)
"""The sections of the settings that were looked through for ways out. `run` does nothing by that of the exhibit, which
is another program. Observers of other packages are told what the stream shows, and records between two
hides as the hub is (`tests/runtime/test_plugins.py`).
"""
REPORTED = {
    "report": frozenset({"since", "name", "state", "mark", "records", "view", "health", "reply"}),
    "hub": frozenset({"hub", "now", "ack", "mark", "order"}),
}
"""What each of the two sends."""
OBSERVERS = frozenset({"StrikeClipper", "Recorder", "Backup", "TableLink"})
"""Who looks on at the daemon, sensors and all."""

_HEX = re.compile(rb"\b[0-9a-f]{64}\b|\b[0-9a-f]{16}(?=\xe2\x80\xa6)")
"""A hash, or the beginning of one that a terminal has room for."""
Left = list[tuple[float, str, bytes]]


@dataclass
class Told:
    """What has left so far, in order."""

    all: Left = field(default_factory=list)

    def say(self, t: float, channel: str, *what: object) -> None:
        """Keep what left by `channel` at `t`, virtual seconds."""
        if channel not in CHANNELS:
            raise KeyError(f"{channel} is not among the ways by which anything leaves a table")
        data = b" | ".join(part if isinstance(part, bytes) else str(part).encode() for part in what)
        self.all.append((round(t, 6), channel, data))

    def until(self, end: float) -> Left:
        """Return what left before `end`, each commitment and each hash of the journal's chain masked.

        They are hashes of a nonce nobody knows and of one another: two of them say nothing but that they differ. That
        there is one, when, and which are the same stays.
        """
        seen: dict[bytes, bytes] = {}

        def masked(found: re.Match[bytes]) -> bytes:
            return seen.setdefault(found[0], b"<hash %d>" % len(seen))

        left = [entry for entry in self.all if entry[0] < end]
        # which of several watchers is served first is the order of a set, another each time
        left.sort(key=lambda entry: (entry[0], entry[1], entry[2].split(b" | ")[:2] if entry[1] == "stream" else []))
        return [(t, channel, _HEX.sub(masked, data)) for t, channel, data in left]

    def of(self, channel: str) -> list[bytes]:
        """Return what left by `channel`."""
        return [data for _, name, data in self.all if name == channel]


def difference(one: Left, other: Left) -> str:
    """Return the first thing that tells two tables apart, "" where nothing does."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            at = next((n for n, (x, y) in enumerate(zip(a[2], b[2], strict=False)) if x != y), 0)
            return "\n".join(f"{t:.3f} s, {name}: ... {data[max(0, at - 80) : at + 160]!r}" for t, name, data in (a, b))
    if len(one) != len(other):
        longer = max(one, other, key=len)
        t, channel, data = longer[min(len(one), len(other))]
        return f"only one says, at {t:.3f} s by {channel}: {data[:240]!r}"
    return ""


def kinds(path: Path) -> str:
    """Return what sort of file of a table `path` is; "" for one that no part of the table is known to write."""
    if path.name.startswith("judges.sqlite"):
        return "people"
    for end, kind in (
        (".hits", "hits"), (".hits-journal", "hits"), (".sensors", "recording"), (".sensors-journal", "recording"),
        ("j.sqlite", "journal"), ("j.sqlite-journal", "journal"), ("j.sqlite.lock", "journal"),
        (".sqlite.hub", "hub"), (".sqlite", "copy"),
    ):  # fmt: skip
        if path.name.endswith(end):
            return kind
    return "folder" if path.is_dir() else ""
