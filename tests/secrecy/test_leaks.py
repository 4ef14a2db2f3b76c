"""The comparison can fail: a leak planted in each way out of a table is seen, and seen there first."""

import logging

import msgspec
import pytest
import secrecy_tables
from msgspec.structs import replace
from secrecy_channels import CHANNELS, difference
from secrecy_people import strikes

from pi_controller.board.board_strip import BoardStrip
from pi_controller.display import voice
from pi_controller.display.lights import StickWalk
from pi_controller.hub import messages, table_api
from pi_controller.hub.table_link import TableLink
from pi_controller.journal.journal import Journal
from pi_controller.recording import hits
from pi_controller.recording.recorder import Recorder
from pi_controller.referee import sealed
from pi_controller.referee.judge import JudgeClock
from pi_controller.runtime import run
from pi_controller.table import backup
from pi_controller.table.table import Table
from pi_controller.web import app, public_pages

PADS = (2, 3)
HIT_ME_T = secrecy_tables.READY_T + 0.9
"""Pad 1 is hit; what is watched goes on until its samples are kept."""


class Peek:
    """Knows where the bead lies: what a careless programmer might get hold of."""

    def __init__(self, monkeypatch):
        self.pad = 0
        self.put = monkeypatch.setattr
        real = sealed.commitment

        def commitment(game, hide, pad, *others):
            self.pad = pad
            return real(game, hide, pad, *others)

        self.put(sealed, "commitment", commitment)

    def after(self, where, name, change):
        """Let `name` of `where` return what `change` makes of its result and the pad."""
        real = getattr(where, name)
        self.put(where, name, lambda *args, **kwargs: change(real(*args, **kwargs), self.pad))

    def before(self, where, name, do):
        """Let `do(pad, *args)` be done before the method `name` of `where`."""
        real = getattr(where, name)

        def first(*args, **kwargs):
            do(self.pad, *args)
            return real(*args, **kwargs)

        self.put(where, name, first)


def light(peek):
    peek.after(StickWalk, "frame", lambda lit, pad: [(pad, 0, 0), *lit[1:]])


def wire(peek):
    real = BoardStrip.show
    peek.put(BoardStrip, "show", lambda self, lit: real(self, [(40 * peek.pad, 0, 0), *lit[1:]]))


def page(peek):
    peek.after(public_pages, "frame_page", lambda text, pad: text + " " * pad)


def stream(peek):
    peek.after(app, "event", lambda sent, pad: sent + b":\n" * pad)


def answer(peek):
    peek.after(Table, "command", lambda ruled, pad: ruled._replace(seq=ruled.seq + pad))


def terminal(peek):
    peek.after(run, "render_text", lambda text, pad: text + " " * pad)


def log(peek):
    peek.before(Journal, "append", lambda pad, *_: logging.debug("sealed: %d", pad))


def service(peek):
    peek.after(run, "service_status", lambda line, pad: f"{line} ({pad})")


def file(peek):
    peek.before(
        Journal, "append", lambda pad, journal, _: journal.path.with_name("j.sqlite.hits-new").write_bytes(bytes(pad))
    )


def row(peek):
    real = Journal.append

    def append(self, facts):
        return real(self, [replace(fact, t=fact.t + peek.pad * 1e-3) for fact in facts])

    peek.put(Journal, "append", append)


def copy(peek):
    real = backup.Backup.on_step

    def on_step(self, t, table, armed):
        if peek.pad != PADS[0]:
            real(self, t, table, armed)

    peek.put(backup.Backup, "on_step", on_step)


def hit(peek):
    peek.after(hits, "pack_stroke", lambda block, pad: block + bytes(pad))


def recording(peek):
    peek.before(Recorder, "on_step", lambda pad, recorder, *_: pad and recorder._release())


def spoken(peek):
    peek.after(voice, "announcement", lambda new, pad: new._replace(sentence=f"{new.sentence} {pad}") if pad else new)


def crash(peek):
    def fails(pad, *_):
        if pad:
            raise RuntimeError(f"pad {pad} is out of order")

    peek.before(Table, "tick", fails)


def report(peek):
    peek.after(TableLink, "_read_health", lambda health, pad: health and msgspec.structs.replace(health, t=pad))


def hub(peek):
    encode = messages.encode
    peek.put(table_api, "encode", lambda message: encode(message) + b" " * peek.pad)


LEAKS = {
    "light": (light, {"wire"}),
    "wire": (wire, set()),
    "page": (page, set()),
    "stream": (stream, set()),
    "answer": (answer, {"log"}),
    "terminal": (terminal, set()),
    "log": (log, set()),
    "service": (service, {"page", "stream"}),
    "file": (file, set()),
    "row": (row, {"page", "stream", "copy", "recording", "report"}),
    "copy": (copy, {"page", "stream", "terminal", "log", "file", "row"}),
    "hit": (hit, {"page"}),
    "recording": (recording, {"file"}),
    "voice": (spoken, set()),
    "report": (report, set()),
    "hub": (hub, set()),
    "crash": (crash, set(CHANNELS) - {"crash", "answer", "hit"}),
}
"""For each channel a leak, and the other channels that it spreads to."""
PLANTED = [
    ("wire", "page", "stream", "answer", "terminal", "file", "voice"),
    ("light", "log", "service", "row", "hit"),
    ("copy", "recording", "report"),
    ("hub",),
    ("crash",),
]
"""What is planted at once: no leak spreads to the channel of another, so that each is seen by itself."""


def told(folder):
    """Return what left the tables, with a hit that misses and a word that is said in it."""
    also = [
        *strikes(HIT_ME_T, 1),
        (HIT_ME_T + 0.3, lambda table: table.judge(JudgeClock(0.0, running=False), "judge")),
    ]
    end = HIT_ME_T + 1.2
    return [secrecy_tables.hide(folder, pad, also=also, end=end).until(end) for pad in PADS]


def test_each_channel_has_one_independent_planted_leak():
    assert sorted(channel for planted in PLANTED for channel in planted) == sorted(CHANNELS)
    for planted in PLANTED:
        assert not any(LEAKS[channel][1] & {*planted} for channel in planted)


@pytest.mark.parametrize("planted", PLANTED, ids=" ".join)
@pytest.mark.slow
def test_a_leak_in_each_channel_is_seen(planted, tmp_path, monkeypatch):
    peek = Peek(monkeypatch)
    for channel in planted:
        LEAKS[channel][0](peek)
    one, other = told(tmp_path)
    seen = set()
    for channel in CHANNELS:
        left = [[entry for entry in entries if entry[1] == channel] for entries in (one, other)]
        assert left[0] or channel not in planted
        if difference(*left):
            seen.add(channel)
    assert seen == {*planted}.union(*(LEAKS[channel][1] for channel in planted))


@pytest.mark.slow
def test_comparison_without_leak_finds_no_difference(tmp_path):
    one, other = told(tmp_path)
    assert difference(one, other) == ""
    assert {channel for _, channel, _ in one} == set(CHANNELS) - {"crash"}
