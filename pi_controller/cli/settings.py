"""`moccasin-mat settings check`, `example` and `new`: check a settings file, or write one from answers."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_controller.cli.arguments import INSTALLED, Parser, add_json, load_settings, print_json, settings_path
from pi_controller.errors import PortError, SettingsError, UsageError, describe_error
from pi_controller.host.files import atomic_write, explain_refusal
from pi_controller.output import open_console
from pi_controller.rules import registry

if TYPE_CHECKING:
    from pi_controller.config import Settings


FILE = Path("table.toml")
"""The settings file in the current folder: `settings new` writes it, `run` offers it."""


def settings_check_parser() -> Parser:
    """Return the parser of `settings check`."""
    parser = Parser(
        "settings check", "Check a settings file: print the effective settings, or every fault with its line."
    )
    parser.add_argument(
        "settings",
        nargs="?",
        metavar="FILE",
        help=f"the settings file (default: the one that 'run' uses: {INSTALLED}, else {FILE} here, else the defaults)",
    )
    add_json(parser)
    return parser


def settings_check(argv: Sequence[str]) -> int:
    """Check a file and print the settings; return 0, or with `--json` 2 for faults. Raises `SettingsError`."""
    args = settings_check_parser().parse_args(argv)
    path = settings_path(args)
    if path is None:
        path = FILE if FILE.exists() else None
        print(f"settings: {path or 'the defaults'}", file=sys.stderr)
    try:
        settings = _check_file(path)
    except SettingsError as error:
        if not args.json:
            raise
        print_json({"ok": False, "faults": error.message.splitlines()})
        return 2
    from pi_controller.config import format_settings

    if args.json:
        print_json({"ok": True, "settings": settings.model_dump(mode="json")})
    else:
        print(f"ok\n{format_settings(settings)}", end="")
    return 0


def _check_file(path: Path | None) -> Settings:
    """Return the settings in the file `path`, whose images can be used too."""
    settings = load_settings(path)
    if settings.marks.images:
        from pi_controller.web.host_marks import encode_image

        for image in settings.marks.images:
            encode_image(Path(image))
    return settings


def settings_example_parser() -> Parser:
    """Return the parser of `settings example`."""
    parser = Parser("settings example", "Print a commented settings file with every default.")
    parser.add_argument("--game", metavar="GAME", help=f"its game: {', '.join(registry.names())}")
    return parser


def settings_example(argv: Sequence[str]) -> int:
    """Print the example; return 0. Raises `UsageError` for an unknown game."""
    args = settings_example_parser().parse_args(argv)
    from pi_controller.config import format_example
    from pi_controller.config.example import game_defaults

    print(format_example(game_defaults(args.game)), end="")
    return 0


SKIP = "skip"
"""Answer to the first question that skips all others before the first run of a table."""
_INTRODUCTION = "At most six questions. Enter accepts the answer in (brackets); Ctrl-C stops without writing a file."
_OFFER = f"There are no settings yet. Type '{SKIP}' to play with the defaults, or answer:\n{_INTRODUCTION}"
_PORTS_TRIED = 20
"""Number of ports to try, starting from the usual one."""
Data = dict[str, dict[str, Any]]


def settings_new_parser() -> Parser:
    """Return the parser of `settings new`."""
    parser = Parser(
        "settings new",
        "Ask for the game, the players, the mat and the pages, and write a settings file. It asks before it overwrites "
        "an existing file.",
        "0 the file is written, 1 the answer was no",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", type=Path, default=FILE, help=f"default: {FILE}")
    return parser


def settings_new(argv: Sequence[str]) -> int:
    """Ask the questions, write the file and print the next command; return 0, or 1 if an existing file is kept.

    Raises `MatError`.
    """
    path: Path = settings_new_parser().parse_args(argv).file
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", "make it first, or name a file in another one")
    _require_writable(path)
    if path.exists() and not _ask_yes_no(f"{path} exists already. Overwrite it?", default=False):
        print("No file was written.")
        return 1
    print(_INTRODUCTION)
    settings, simulated = _ask_settings(_ask_game())
    _write(path, settings)
    verb = "demo" if simulated else "run"
    print(f"{path} is written. Now type:\n\n    {_program()} {verb} --settings {shlex.quote(str(path))}\n")
    return 0


def offer_setup() -> Path | None:
    """Return the settings file in the current folder, after asking for its settings if there is none.

    None for defaults. For the first `run` at a terminal. Raises `MatError`.
    """
    if FILE.exists():
        return FILE if _ask_yes_no(f"Run the table of {FILE}?", default=True) else None
    _require_writable(FILE)
    print(_OFFER)
    game = _ask_game(skip=True)
    if game is None:
        return None
    settings, _ = _ask_settings(game, runs=True)
    _write(FILE, settings)
    print(f"{FILE} is written; next time: {_program()} run --settings {FILE}")
    return FILE


def _ask_game(*, skip: bool = False) -> Data | None:
    """Ask for the game; return None if `skip` is allowed and was typed."""
    from pi_controller.display.game_display import get_show
    from pi_controller.display.i18n import ENGLISH

    games = {name: get_show(name, ENGLISH).name for name in registry.names()}
    one = _choice("Which game?", games, registry.DEFAULT_GAME, also=(SKIP,) if skip else ())
    return None if one == SKIP else {"game": {"name": one}}


def _ask_settings(game: Data | None, *, runs: bool = False) -> tuple[Settings, bool]:
    """Ask the other questions; return the settings, and True if mat and people are to be simulated.

    With `runs` the table is run at once, so simulation is not offered.
    """
    from pi_controller.config import Settings

    data = {} if game is None else game
    data |= _ask_names(data)
    mats = {"none": "no mat: a judge enters the play", "board": "a mat whose board is plugged in"}
    mats |= {} if runs else {"simulated": "a simulated mat with simulated players: a demonstration"}
    mat = _choice("Which mat?", mats, "board" if _board_is_there() else "none")
    data |= {} if mat == "board" else {"board": {"port": "none"}}
    data |= _ask_nearest_pads(data) if mat == "board" else {}
    seen = {"network": "everyone on the network: phones, a screen for the room", "this": "this machine only"}
    shared = _choice("Who may see the pages?", seen, "network") == "network"
    data["web"] = {"host": "0.0.0.0"} if shared else {}  # noqa: S104 - the host has just chosen this
    data["web"] |= _find_free_port()
    if mat != "simulated":
        data["web"]["judges"] = _ask_yes_no("May judges sign in with a PIN, on a phone or here?", default=shared)
    return Settings.model_validate(data), mat == "simulated"


def _ask_names(data: Data) -> Data:
    """Ask for the names of the two teams, or of the players of a game without teams."""
    from pi_controller.config.model import TeamsSection, has_single_players

    game = data["game"]["name"]
    if has_single_players(game):
        usual = next(str(option.default) for option in registry.game_class(game).options if option.name == "players")

        def parse_players(line: str) -> Data:
            names = ",".join(name.strip() for name in line.split(","))
            options = {} if names == usual else {"options": {"players": names}}
            return {"game": data["game"] | options}

        return _ask_until_valid("Who plays, in turn order? Names, separated by commas", parse_players, data, usual)
    teams = TeamsSection()

    def sides(line: str) -> Data:
        names = [name.strip() for name in line.split(",")]
        if len(names) != len("AB"):
            raise ValueError("type two names, separated by a comma")
        return {"teams": dict(zip("ab", names, strict=True))}

    return _ask_until_valid("The names of the two teams, separated by a comma", sides, data, f"{teams.a}, {teams.b}")


def _ask_nearest_pads(data: Data) -> Data:
    """Ask which pad counts if the stick touches two at once, for a game with strokes on hidden pads."""
    if not registry.game_class(data.get("game", {}).get("name", registry.DEFAULT_GAME)).hand_passes:
        return {}

    def pads(line: str) -> Data:
        typed = [] if line == "judge" else line.replace(",", " ").split()
        if not all(word.isdecimal() for word in typed):
            raise ValueError("type the pads' numbers, the nearest to the hitter first: 2 3 1 4; or: judge")
        return {"referee": {"nearest": [int(word) for word in typed]}} if typed else {}

    question = "If the stick touches two pads at once, the nearest to the hitter counts. The pads, nearest first, or"
    return _ask_until_valid(f"{question} 'judge' to ask each time", pads, data, "judge")


def _ask_until_valid(question: str, read: Callable[[str], Data], data: Data, default: str) -> Data:
    """Ask until the answer, parsed by `read`, is valid together with `data`; return the parsed answer."""
    from pi_controller.config import Settings
    from pi_controller.config.load import validate_data

    def check(line: str) -> None:
        _, issues = validate_data(Settings, data | read(line))
        if issues:
            raise ValueError("; ".join(issue.text for issue in issues))

    return read(_answer(question, check, default))


def _choice(question: str, choices: Mapping[str, str], default: str, also: Sequence[str] = ()) -> str:
    """Ask for one of `choices`, by its number or its word, or one of `also`; return the word."""
    words = dict(zip(map(str, range(1, len(choices) + 1)), choices, strict=True))
    wide = max(map(len, choices))
    print("\n".join(f"  {number}  {word:<{wide}}  {choices[word]}" for number, word in words.items()))
    words |= {word: word for word in (*choices, *also)}

    def check(line: str) -> None:
        if line.lower() not in words:
            raise ValueError(f"type a number from 1 to {len(choices)}, or a word from the list")

    return words[_answer(question, check, default).lower()]


def _ask_yes_no(question: str, *, default: bool) -> bool:
    def check(line: str) -> None:
        if line.lower() not in {"y", "yes", "n", "no"}:
            raise ValueError("type y for yes or n for no")

    return _answer(question, check, "y" if default else "n").lower().startswith("y")


def _answer(question: str, check: Callable[[str], None], default: str) -> str:
    """Ask for a line; return it, or the `default` if it is empty. Ask again while `check` raises `ValueError`.

    Raises `UsageError` at the end of the input.
    """
    from rich.prompt import InvalidResponse, PromptBase
    from rich.text import Text

    class Question(PromptBase[str]):
        def process_response(self, value: str) -> str:
            try:
                check(value.strip())
            except ValueError as error:
                raise InvalidResponse(Text(f"  {error}", style="prompt.invalid")) from error
            return value.strip()

    try:
        answer = Question(Text(question, style="bold"), console=open_console())(default=default)
    except EOFError as error:
        print()
        raise UsageError("the input ended before the last question", "no file was written: start again") from error
    print("" if sys.stdin.isatty() else "\n", end="")  # without a terminal the line has no end yet
    return answer


def _board_is_there() -> bool:
    from pi_controller.board.serial_port import find_port

    try:
        find_port("auto")
    except PortError:
        return False
    return True


def _find_free_port() -> dict[str, int]:
    """Return a free port for the pages if another program uses the usual one; else {}."""
    from pi_controller.config.model import WebSection

    usual = WebSection().port
    for port in range(usual, usual + _PORTS_TRIED):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("", port))
            except OSError:
                continue
        if port == usual:
            return {}
        print(f"port {usual} is taken: the pages are at port {port}")
        return {"port": port}
    return {}


def _require_writable(path: Path) -> None:
    """Raise `UsageError` before the first question if the answers could not be written to `path`."""
    if hint := explain_refusal([path]):
        raise UsageError(f"{path} cannot be written", hint)


def _write(path: Path, settings: Settings) -> None:
    """Write the settings that differ from the defaults."""
    import tomlkit

    try:
        atomic_write(path, tomlkit.dumps(settings.model_dump(mode="json", exclude_defaults=True)).encode())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {describe_error(error)}", "name a file in a folder of yours"
        ) from error


def _program() -> str:
    """Return the command that starts this program here: a venv need not be on the path."""
    name = Path(sys.argv[0])
    return str(name) if name.name == "moccasin-mat" and shutil.which(name.name) is None else "moccasin-mat"
