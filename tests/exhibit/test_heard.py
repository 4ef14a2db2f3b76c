"""The voice at an installation: a visitor's game is heard as at any table, the one that attract shows is not."""

from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from memory_sound import MemorySound

from pi_controller.config import read_settings
from pi_controller.display import voice as at_table
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.runtime.assembly import assemble_exhibit

STEP_S = 0.25


class Installation:
    """An exhibit whose voice has no thread of its own: each step of the daemon is followed by one of the voice."""

    def __init__(self, monkeypatch):
        self.t = 1000.0
        self.sound = MemorySound(lambda: self.t)
        self._voices = []
        monkeypatch.setattr(at_table, "AplaySound", lambda _: self.sound)
        monkeypatch.setattr(at_table, "time", SimpleNamespace(monotonic=lambda: self.t))

        def start(voice):
            self._voices.append(voice)

        monkeypatch.setattr(at_table.Voice, "start", start)

    def assemble(self, folder, voice, stack):
        settings = folder / "table.toml"
        settings.write_text(f'[web]\nport = 0\n[voice]\nfolder = "words"\n{voice}')
        self.daemon = assemble_exhibit(read_settings(settings), folder, lambda: self.t, stack)
        assert len(self._voices) == 1

    def step(self):
        self.t += STEP_S
        self.daemon.step(self.t)
        self._voices[0].step()

    def show_a_game(self):
        """Let attract play for two minutes."""
        while self.t < 1120.0:
            self.step()

    def play_until_heard(self):
        """Play sessions until a word was heard: in one of 40 none is called."""
        for _ in range(20):
            self.play_a_session()
            if self.sound.played:
                return

    def play_a_session(self):
        """Play as a visitor who touches whatever is offered last, to the end."""
        exhibit = self.daemon.table.exhibit
        while exhibit.stage.name != "attract":
            self.step()
        exhibit.touch(self.t, "start")
        exhibit.touch(self.t, "game:mat")
        while exhibit.stage.name == "play":
            if touches := exhibit.game.touches:
                exhibit.touch(self.t, touches[-1])
            self.step()


@pytest.fixture
def installation(monkeypatch, tmp_path):
    """Record every word of the game as a tone."""
    import soundfile

    (tmp_path / "words" / "dakota").mkdir(parents=True)
    for word in get_show("dakota", ENGLISH).words:
        tone = 0.5 * np.sin(np.arange(800) / 4)
        soundfile.write(tmp_path / "words" / "dakota" / f"{word}.wav", tone, 8000)
    return Installation(monkeypatch)


def test_visitor_game_plays_sound_but_demo_is_silent(tmp_path, installation):
    with ExitStack() as stack:
        installation.assemble(tmp_path, "volume = 0.7\n", stack)
        installation.show_a_game()
        assert installation.sound.played == []
        installation.play_until_heard()
        played = installation.sound.played
        assert played
        assert {name for _, name, _ in played} <= set(get_show("dakota", ENGLISH).words)
        assert {gain for *_, gain in played} == {0.7}
