"""The same hide with the bead at each of the four places: the same is heard, at the same time, until a hit shows it."""

from __future__ import annotations

import pytest

from pi_controller.display import voice as voice_module
from pi_controller.display.announcement import Announcement
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.journal.journal import MemoryJournal
from pi_controller.referee.judge import JudgeAnswer
from pi_controller.referee.selection import referee_for
from pi_controller.rules import registry
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import Table


def a_hide(t, place, winner="toss_a"):
    """Return a hide with the bead under pad `place`, up to where a hit is owed."""
    yield Link(t, up=True)
    if winner:
        yield Button(t + 0.1, winner)
    for n, pad in enumerate((3, 1, 4, 2)):
        yield HandIn(t + 1.0 + n, pad)
        yield HandOut(t + 1.5 + n, pad)
        yield BeadsAtRest(t + 1.7 + n, (Bead(place, marked=True),))
    yield Button(t + 6.0, "ready")
    yield BeadsAtRest(t + 7.0, (Bead(place, marked=True),))


def sounds(heard, record, tmp_path, place, then=()):
    """Return what is heard of a hide with the bead under pad `place`, and its views."""
    for call in get_show("dakota", ENGLISH).words:
        record("dakota", call, seconds=0.2)
    said = []

    def speak(sentence):
        said.append((one.clock.t, sentence))
        return record_of(sentence)

    def record_of(sentence):
        from pi_controller.display.word_recordings import load

        return load(record("dakota", "spoken", seconds=0.3))

    one = heard(folder=tmp_path, speak=speak)
    one.clock.t = 0.0
    rules = registry.game("dakota")
    count = iter(range(10**6))
    referee = referee_for(rules, None, lambda n: next(count).to_bytes(n, "big"))
    table = Table(MemoryJournal(), rules, {"A": "Red", "B": "Blue"}, referee)
    one.hear(table.view)
    for event in [*a_hide(0.0, place), *then]:
        one.run(event.t - one.clock.t)
        table.judge(event) if isinstance(event, JudgeAnswer) else table.mat_event(event)
        table.tick(event.t)
        one.hear(table.view)
    one.run(6.0)
    return said, one.sound.played, table.view


BEFORE_THE_HIT = [
    [],
    [Link(9.0, up=False, why="unplugged"), Link(10.0, up=True)],
    [Strike(9.0, (1, 2, 3, 4))],
    [Strike(9.0, (1, 2)), JudgeAnswer(10.0, "none")],
]


@pytest.mark.parametrize("then", BEFORE_THE_HIT, ids=len)
def test_sounds_before_a_hit_match_for_every_bead(heard, record, tmp_path, then):
    told = [sounds(heard, record, tmp_path, place, then) for place in (1, 2, 3, 4)]
    assert told[0][0], "an English voice has said something"
    assert len({repr(one[:2]) for one in told}) == 1
    assert all(view.commit is not None and view.calls == () for _, _, view in told)


def test_sounds_after_a_hit_differ_by_bead(heard, record, tmp_path):
    """The comparison can fail: a hit that finds the bead is heard, one that does not is heard otherwise."""
    told = [sounds(heard, record, tmp_path, place, [Strike(9.0, (1,))]) for place in (1, 2)]
    assert repr(told[0][:2]) != repr(told[1][:2])


def test_comparison_detects_a_voice_that_leaks_the_bead(heard, record, tmp_path, monkeypatch):
    """The comparison can fail: a voice that calls another word by the place is told from an honest one."""
    told = []
    for place, word in ((1, "paguga"), (2, "wheya")):
        monkeypatch.setattr(
            voice_module, "announcement", lambda before, view, word=word: Announcement((word,) if view.commit else ())
        )
        told.append(sounds(heard, record, tmp_path, place))
    assert repr(told[0][:2]) != repr(told[1][:2])
