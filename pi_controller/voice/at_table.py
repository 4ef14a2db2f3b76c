"""Builds a table's voice from its settings: this is where the clocks are read."""

from __future__ import annotations

import logging
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.drivers.sound import AplaySound, Sound
from pi_controller.voice.recordings import is_folder
from pi_controller.voice.speech import speak
from pi_controller.voice.voice import Voice

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from pi_controller.table.settings_voice import VoiceSection
    from pi_controller.table.view import View

log = logging.getLogger(__name__)


def heard(
    wanted: VoiceSection,
    view: View,
    publish: Callable[[View], None] | None,
    stack: ExitStack,
    sound: Sound | None = None,
) -> Callable[[View], None] | None:
    """Return `publish`, with a voice that hears each view too, where `wanted`; `view` is the one play starts from.

    The voice ends with `stack`. `sound` replaces the loudspeaker in tests.
    """
    if not wanted.heard:
        return publish
    folder = Path(wanted.folder) if wanted.folder else None
    if folder is not None and not is_folder(folder):
        log.warning("there are no recordings to play: %s is no folder; see [voice] folder", folder)
    voice = Voice(
        sound or AplaySound(wanted.device),
        time.monotonic,
        folder,
        speak if wanted.english else None,
        lambda: wanted.gain(datetime.now().astimezone().time()),
    )
    voice.hear(view)
    voice.start()
    stack.callback(voice.close)
    if publish is None:
        return voice.hear

    def both(view: View) -> None:
        publish(view)
        voice.hear(view)

    return both
