"""A voice that hangs changes nothing of what the table shows, nor when: a simulated game on virtual time."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from pi_controller.config.model import VoiceSection
from pi_controller.display.voice import MAX_WAITING_VIEWS, start_voice
from pi_controller.rules import registry
from pi_controller.simulation.simulation import Simulation

PLAYED_S = 75.0
CALLS = ("paguga", "it_stays", "obojun", "wheya", "foul", "game", "yawapi", "sahdogan", "eyeya", "eyeya_obojun")


def shown(path, folder=""):
    """Return all that a table shows, with its time; with a voice that plays `folder`."""
    told = []
    with ExitStack() as stack:
        hearers = []
        table = stack.enter_context(
            Simulation(3, path, registry.game("dakota"), publish=lambda view: [hear(view) for hear in hearers])
        )

        def page(view):
            told.append(
                (
                    table.t,
                    "page",
                    view.phase,
                    view.hide,
                    view.hits,
                    view.calls,
                    view.sheet["short"],
                    view.sheet["long"],
                    view.note,
                )
            )

        hearers.append(start_voice(VoiceSection(folder=str(folder)), table.view, page, stack))
        lit = []
        while table.t < PLAYED_S:
            table.tick()
            if table.strip.shown != lit:
                lit = table.strip.shown
                told.append((table.t, "lights", tuple(lit)))
    return told


@pytest.mark.slow
def test_hanging_voice_does_not_change_the_display(tmp_path, record, started):
    for call in CALLS:
        record("dakota", call, seconds=0.2)
    silent = shown(tmp_path / "silent.sqlite")
    with_voice = shown(tmp_path / "voice.sqlite", tmp_path)
    assert [len(voice.views) for voice in started] == [MAX_WAITING_VIEWS]
    assert len([one for one in silent if one[1] == "lights"]) > 10
    assert with_voice == silent
