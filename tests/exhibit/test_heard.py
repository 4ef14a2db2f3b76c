"""The voice at an installation: a visitor's game is heard as at any table, the one that attract shows is not."""

import time
from contextlib import ExitStack

import numpy as np
import pytest
from memory_sound import MemorySound

from pi_controller.config import read_settings
from pi_controller.display import voice as at_table
from pi_controller.display.game_display import words_of
from pi_controller.runtime.assembly import assemble_exhibit

STEP_S = 0.25


@pytest.fixture
def sound(monkeypatch, tmp_path):
    """Record every word of the game as a tone, and return the loudspeaker."""
    import soundfile

    (tmp_path / "words" / "dakota").mkdir(parents=True)
    for word in words_of("dakota"):
        tone = 0.5 * np.sin(np.arange(800) / 4)
        soundfile.write(tmp_path / "words" / "dakota" / f"{word}.wav", tone, 8000)
    made = MemorySound(time.monotonic)
    monkeypatch.setattr(at_table, "AplaySound", lambda _: made)
    return made


def play(folder, voice, sound):
    """Let attract show a game, then play a session to its end; return how much was heard in each."""
    settings = folder / "table.toml"
    settings.write_text(f'[web]\nport = 0\n[voice]\nfolder = "words"\n{voice}')
    t = 1000.0
    with ExitStack() as stack:
        daemon = assemble_exhibit(read_settings(settings), folder, lambda: t, stack)
        exhibit = daemon.table.exhibit
        while t < 1120.0:
            t += STEP_S
            daemon.step(t)
        time.sleep(0.2)  # the voice's own thread
        yield
        exhibit.touch(t, "start")
        exhibit.touch(t, "game:mat")
        while exhibit.stage.name == "play":
            calls = exhibit.game.view.calls
            if touches := exhibit.game.touches:
                exhibit.touch(t, touches[-1])
            t += STEP_S
            daemon.step(t)
            if exhibit.game is not None and exhibit.game.view.calls != calls:
                time.sleep(0.05)
        until = time.monotonic() + 20.0
        while not sound.played and time.monotonic() < until:  # a loaded machine comes to it later
            time.sleep(0.01)
        yield


def test_a_visitors_game_is_heard_and_the_shown_one_is_not(tmp_path, sound):
    steps = play(tmp_path, "volume = 0.7\n", sound)
    next(steps)
    assert sound.played == []
    next(steps)
    assert sound.played
    assert {name for _, name, _ in sound.played} <= set(words_of("dakota"))
    assert {gain for *_, gain in sound.played} == {0.7}
    steps.close()


def test_quiet_hours_are_obeyed(tmp_path, sound):
    steps = play(tmp_path, 'volume = 0.7\nquiet_volume = 0.1\nquiet_from = "00:01"\nquiet_to = "00:00"\n', sound)
    next(steps)
    next(steps)
    assert sound.played
    assert {gain for *_, gain in sound.played} <= {0.1, 0.7}
    assert 0.1 in {gain for *_, gain in sound.played}
    steps.close()
