"""`moccasin-mat voice` and `languages`: recordings of the called words, and catalogues of the sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path
from pi_controller.errors import UsageError
from pi_controller.host.files import find_file, normal_name
from pi_controller.host.platform import expand_home
from pi_controller.text import SUFFIX

if TYPE_CHECKING:
    from pi_controller.config.model import VoiceSection
    from pi_controller.display.sound import Clip


def voice_parser() -> Parser:
    """Return the parser of `voice`."""
    parser = Parser(
        "voice",
        "List a game's words and their recordings, or play one.",
        "0 no faults, 1 a recording cannot be played",
    )
    add_settings(parser, "the table's settings: [voice] and the game")
    parser.add_argument("--folder", metavar="FOLDER", help="the recordings (default: [voice] folder)")
    parser.add_argument("--game", metavar="G", help="the game (default: that of the settings)")
    parser.add_argument("--play", metavar="WORD", help="play one word as a table would")
    return parser


def voice(argv: Sequence[str]) -> int:
    """List or play the recordings; return 1 if one cannot be played. Raises `MatError`."""
    args = voice_parser().parse_args(argv)
    from pi_controller.display import word_recordings
    from pi_controller.rules.registry import game

    settings = load_settings(settings_path(args))
    played = game(args.game or settings.game.name).name
    where = args.folder or settings.voice.folder
    folder = expand_home(where) if where else None
    if folder is not None and not word_recordings.is_folder(folder):
        raise UsageError(
            f"{folder} is not a folder", "name the folder of the recordings with [voice] folder or --folder"
        )
    if args.play is not None:
        return _play_word(settings.voice, folder, played, args.play)
    return _print_recordings(settings.voice, folder, played)


def _print_recordings(wanted: VoiceSection, folder: Path | None, played: str) -> int:
    from pi_controller.display import announcement, word_recordings
    from pi_controller.display.game_display import get_show
    from pi_controller.display.i18n import ENGLISH

    words = get_show(played, ENGLISH).words
    if not words:
        print(f"No words are called at a table of {played}.")
        return 0
    clips: dict[str, Clip] = {}
    faults: dict[str, str] = {}
    for call in words:
        path = word_recordings.find(folder, played, call) if folder else None
        try:
            if path is not None:
                clips[call] = word_recordings.load(path)
        except word_recordings.WordRecordingError as error:
            faults[call] = f"{error.message}; {error.hint}"
    if folder is None:
        print(f"{played}: no recordings: [voice] folder is empty")
    else:
        print(f"{played}: {len(clips)} of {len(words)} words have a recording in {folder}")
    for call in words:
        line = f"  {call:<13} "
        if call in clips:
            line += f"{clips[call].seconds:4.1f} s"
        elif call in faults:
            line += faults[call]
        else:
            spoken = wanted.english and announcement.is_english_word(call, played)
            line += "spoken in English" if spoken else f"silent: no {played}/{call}.wav"
        print(line)
    unused = list(_list_unused(folder, played))
    for name, why in unused:
        print(f"  {name}: {why}")
    return 1 if unused or faults else 0


def _list_unused(folder: Path | None, played: str) -> Iterator[tuple[str, str]]:
    """Yield the files beside the recordings that are never played, each with the reason."""
    from pi_controller.display import word_recordings
    from pi_controller.display.game_display import get_show
    from pi_controller.display.i18n import ENGLISH

    inside = find_file(folder / played) if folder else None
    if inside is None or not inside.is_dir():
        return
    known = get_show(played, ENGLISH).words
    for path in sorted(inside.iterdir()):
        is_word, is_sound = normal_name(path.stem) in known, path.suffix.lower() in word_recordings.FORMATS
        if is_sound and not is_word and not path.name.startswith("."):
            yield path.name, f"not a word of {played}, never played"
        if is_word and not is_sound:
            yield path.name, "not a format that can be played: save it as .wav"


def _play_word(wanted: VoiceSection, folder: Path | None, played: str, call: str) -> int:
    from datetime import datetime

    from pi_controller.display import announcement, speech, word_recordings
    from pi_controller.display.game_display import get_show
    from pi_controller.display.i18n import ENGLISH
    from pi_controller.display.sound import AplaySound

    words = get_show(played, ENGLISH).words
    if call not in words:
        raise UsageError(f"{call!r} is not a word of {played}", f"the words are: {', '.join(words)}")
    path = word_recordings.find(folder, played, call) if folder else None
    if path is not None:
        clip = word_recordings.load(path)
    elif wanted.english and announcement.is_english_word(call, played):
        clip = speech.speak(words[call].shown)
    else:
        raise UsageError(
            f"there is no recording of {call}", f"the table stays silent for it; record {played}/{call}.wav"
        )
    gain = wanted.volume_at(datetime.now().astimezone().time())
    sound = AplaySound(wanted.device)
    sound.play(clip, gain)
    try:
        while sound.is_playing():
            time.sleep(0.02)
    finally:
        sound.stop()
    print(f"played {call}: {clip.seconds:.1f} s at volume {gain:g} on {wanted.device!r}")
    return 0


def languages_parser() -> Parser:
    """Return the parser of `languages`."""
    parser = Parser(
        "languages",
        "List the languages and how complete each is, or check one catalogue.",
        "0 all sentences are usable, 1 a sentence cannot be used",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a catalogue, named by its language: dak.po")
    parser.add_argument("--missing", action="store_true", help="list the sentences without a translation")
    parser.add_argument("--template", action="store_true", help="print an empty catalogue of all sentences")
    return parser


def languages(argv: Sequence[str]) -> int:
    """List the languages, or check the given catalogue; return 1 if a sentence in it cannot be used."""
    args = languages_parser().parse_args(argv)
    from pi_controller.display.catalogue import AUTHORITY, read_catalogue
    from pi_controller.display.i18n import LOCALES, TEMPLATE
    from pi_controller.extras import requires_extra

    if args.template:
        print(TEMPLATE.read_text("utf-8"), end="")
        return 0
    with requires_extra("languages", "the list of languages"):
        import polib

    wanted = [entry.msgid for entry in polib.pofile(str(TEMPLATE), encoding="utf-8")]
    if args.file is None:
        print(f"en   {len(wanted)} of {len(wanted)} sentences")
    wrong = 0
    for path in [Path(args.file)] if args.file else sorted(LOCALES.glob(f"*{SUFFIX}")):
        found = read_catalogue(path)
        filled = [sentence for sentence in wanted if sentence in found.filled]
        authority = found.header.get(AUTHORITY, "").strip()
        approved = f"approved by {authority}" if authority else "not approved by a speaker"
        approved += "" if authority else f" ({AUTHORITY} in the header is empty)"
        print(f"{path.stem:<4} {len(filled)} of {len(wanted)} sentences, {approved}")
        for fault in found.faults:
            print(f"  {fault}; English is shown there")
        wrong += len(found.faults)
        if args.missing:
            print("\n".join(f"  {sentence}" for sentence in wanted if sentence not in found.filled))
    return 1 if wrong else 0
