"""`moccasin-mat words`: recordings of the called words, and catalogues of the sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_json, add_settings, load_settings, print_json, settings_path
from pi_controller.errors import UsageError
from pi_controller.host.files import find_file, normal_name
from pi_controller.host.platform import expand_home
from pi_controller.text import SUFFIX

if TYPE_CHECKING:
    import argparse

    from pi_controller.config.model import VoiceSection
    from pi_controller.display.sound import Clip


def words_list_parser() -> Parser:
    """Return the parser of `words list`."""
    parser = Parser(
        "words list",
        "List a game's called words and their recordings.",
        "0 no faults, 1 a recording cannot be played",
    )
    _add_recordings(parser)
    return parser


def words_list(argv: Sequence[str]) -> int:
    """List the recordings; return 1 if one cannot be played. Raises `MatError`."""
    return _print_recordings(*_find_recordings(words_list_parser().parse_args(argv)))


def words_play_parser() -> Parser:
    """Return the parser of `words play`."""
    parser = Parser("words play", "Play a called word as a table would.")
    parser.add_argument("word", metavar="WORD", help="the word, as 'words list' shows it")
    _add_recordings(parser)
    return parser


def words_play(argv: Sequence[str]) -> int:
    """Play a word; return 0. Raises `MatError`."""
    args = words_play_parser().parse_args(argv)
    return _play_word(*_find_recordings(args), args.word)


def _add_recordings(parser: Parser) -> None:
    add_settings(parser, "the table's settings: [voice] and the game")
    parser.add_argument("--folder", metavar="FOLDER", help="the recordings (default: [voice] folder)")
    parser.add_argument("--game", metavar="G", help="the game (default: that of the settings)")


def _find_recordings(args: argparse.Namespace) -> tuple[VoiceSection, Path | None, str]:
    """Return the section [voice], the folder of the recordings, and the game's name."""
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
    return settings.voice, folder, played


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


def words_languages_parser() -> Parser:
    """Return the parser of `words languages`."""
    parser = Parser(
        "words languages",
        "List the languages and how complete each is, or check one catalogue.",
        "0 all sentences are usable, 1 a sentence cannot be used",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a catalogue, named by its language: dak.po")
    parser.add_argument("--missing", action="store_true", help="list the sentences without a translation")
    parser.add_argument("--template", action="store_true", help="print an empty catalogue of all sentences")
    add_json(parser)
    return parser


def words_languages(argv: Sequence[str]) -> int:
    """List the languages, or check the given catalogue; return 1 if a sentence in it cannot be used."""
    args = words_languages_parser().parse_args(argv)
    from pi_controller.display.catalogue import AUTHORITY, read_catalogue
    from pi_controller.display.i18n import LOCALES, TEMPLATE
    from pi_controller.extras import requires_extra

    if args.template:
        print(TEMPLATE.read_text("utf-8"), end="")
        return 0
    with requires_extra("languages", "the list of languages"):
        import polib

    wanted = [entry.msgid for entry in polib.pofile(str(TEMPLATE), encoding="utf-8")]
    paths = [Path(args.file)] if args.file else sorted(LOCALES.glob(f"*{SUFFIX}"))
    found = {path.stem: read_catalogue(path) for path in paths}
    status = 1 if any(catalogue.faults for catalogue in found.values()) else 0
    missing = {code: [one for one in wanted if one not in catalogue.filled] for code, catalogue in found.items()}
    if args.json:
        languages = {
            code: {
                "missing": missing[code],
                "authority": catalogue.header.get(AUTHORITY, "").strip(),
                "faults": [str(fault) for fault in catalogue.faults],
            }
            for code, catalogue in found.items()
        }
        print_json({"sentences": len(wanted), "languages": languages})
        return status
    if args.file is None:
        print(f"en   {len(wanted)} of {len(wanted)} sentences")
    for code, catalogue in found.items():
        authority = catalogue.header.get(AUTHORITY, "").strip()
        approved = f"approved by {authority}" if authority else "not approved by a speaker"
        approved += "" if authority else f" ({AUTHORITY} in the header is empty)"
        print(f"{code:<4} {len(wanted) - len(missing[code])} of {len(wanted)} sentences, {approved}")
        for fault in catalogue.faults:
            print(f"  {fault}; English is shown there")
        if args.missing:
            print("\n".join(f"  {sentence}" for sentence in missing[code]))
    return status
