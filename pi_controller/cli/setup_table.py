"""`moccasin-mat setup-table`: asks in the terminal what a table needs to know, and writes its settings file."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_controller.table.settings import Settings

FILE = Path("table.toml")
"""The settings file that is written where none is named."""
SKIP = "skip"
"""Typed in place of the first answer, it asks nothing further where a table is about to be run."""
_INTRODUCTION = "Five questions. Enter takes what is in (brackets); Ctrl-C ends, nothing written."
_OFFER = f"There are no settings yet. Type '{SKIP}' to play with the usual ones; or answer:\n{_INTRODUCTION}"
_PORTS = 20
"""So many ports are tried from the usual one on."""
Data = dict[str, dict[str, Any]]


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "setup-table",
        "Ask in the terminal which game is played, by whom, on which mat, and who may see the pages; write the "
        "answers as a settings file. A file that is there is overwritten only after a yes.",
        "0 the file is written, 1 the answer was no",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", type=Path, default=FILE, help=f"default: {FILE}")
    return parser


def main(argv: Sequence[str]) -> int:
    """Ask, write, and say the next command; return 0, or 1 when a file that is there is to stay. Raises `MatError`."""
    path: Path = parser().parse_args(argv).file
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", "make it first, or name a file in another one")
    if path.exists() and not _agreed(f"{path} is there already. Write it anew?", default=False):
        print("Nothing was written.")
        return 1
    print(_INTRODUCTION)
    settings, simulated = _asked(_first())
    _write(path, settings)
    verb = "demo" if simulated else "run"
    print(f"{path} is written. Now type:\n\n    {_program()} {verb} --settings {shlex.quote(str(path))}\n")
    return 0


def offered() -> Path | None:
    """Return the settings file in the current folder, made by questions where there is none; None for the defaults.

    For the first `run` at a terminal. Raises `MatError`.
    """
    if FILE.exists():
        return FILE if _agreed(f"Run the table of {FILE}?", default=True) else None
    print(_OFFER)
    game = _first(skip=True)
    if game is None:
        return None
    settings, _ = _asked(game, runs=True)
    _write(FILE, settings)
    print(f"{FILE} is written; the next time: {_program()} run --settings {FILE}")
    return FILE


def _first(*, skip: bool = False) -> Data | None:
    """Return the game, or None where `skip` is allowed and typed."""
    from pi_controller.games import registry
    from pi_controller.show.words import game_name

    games = {name: game_name(name) for name in registry.names()}
    one = _choice("Which game?", games, registry.DEFAULT, also=(SKIP,) if skip else ())
    return None if one == SKIP else {"game": {"name": one}}


def _asked(game: Data | None, *, runs: bool = False) -> tuple[Settings, bool]:
    """Ask the rest of the questions; return the settings, and whether mat and people are to be simulated.

    With `runs` the table is run at once, so that nothing can be simulated.
    """
    from pi_controller.table.settings import Settings

    data = {} if game is None else game
    data |= _players(data)
    mats = {"none": "no mat: a judge enters what happens", "board": "a mat whose board is plugged in"}
    mats |= {} if runs else {"simulated": "a simulated mat, and simulated people who play: a show"}
    mat = _choice("Which mat?", mats, "board" if _board_is_there() else "none")
    data |= {} if mat == "board" else {"board": {"port": "none"}}
    seen = {"this": "this machine only", "network": "everyone on the network: phones, a screen for the room"}
    shared = _choice("Who may see the pages?", seen, "this") == "network"
    data["web"] = {"host": "0.0.0.0"} if shared else {}  # noqa: S104 - the host has just said so
    data["web"] |= _other_port()
    if mat != "simulated":
        data["web"]["judges"] = _agreed("May judges sign in, with a PIN, from a phone or here?", default=shared)
    return Settings.model_validate(data), mat == "simulated"


def _players(data: Data) -> Data:
    """Return the names of the two teams, or of the players of a game in which each plays alone."""
    from pi_controller.games import registry
    from pi_controller.table.settings_game import TeamsSection, named_by_players

    game = data["game"]["name"]
    if named_by_players(game):
        usual = next(str(option.default) for option in registry.kind(game).options if option.name == "players")

        def alone(line: str) -> Data:
            names = ",".join(name.strip() for name in line.split(","))
            options = {} if names == usual else {"options": {"players": names}}
            return {"game": data["game"] | options}

        return _checked("Who plays, in turn order? Names with commas between them", alone, data, usual)
    teams = TeamsSection()

    def sides(line: str) -> Data:
        names = [name.strip() for name in line.split(",")]
        if len(names) != len("AB"):
            raise ValueError("two names, with a comma between them")
        return {"teams": dict(zip("ab", names, strict=True))}

    return _checked("The two teams' names, with a comma between them", sides, data, f"{teams.a}, {teams.b}")


def _checked(question: str, read: Callable[[str], Data], data: Data, default: str) -> Data:
    """Ask until what `read` makes of the answer goes with the `data` so far as settings; return it."""
    from pydantic import ValidationError

    from pi_controller.table.settings import Settings, clashes
    from pi_controller.table.settings_file import faults_of

    def check(line: str) -> None:
        whole = data | read(line)
        try:
            Settings.model_validate(whole)
        except ValidationError as error:
            found = [fault for details in error.errors() for fault in faults_of(Settings, details)]
            raise ValueError("; ".join(fault.text for fault in found)) from error
        if found := clashes(whole):
            raise ValueError("; ".join(fault.text for fault in found))

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


def _agreed(question: str, *, default: bool) -> bool:
    def check(line: str) -> None:
        if line.lower() not in {"y", "yes", "n", "no"}:
            raise ValueError("type y for yes or n for no")

    return _answer(question, check, "y" if default else "n").lower().startswith("y")


def _answer(question: str, check: Callable[[str], None], default: str) -> str:
    """Return the line typed, or the `default`; `check` raises `ValueError` for one that will not do: it is asked again.

    Raises `UsageError` where the input ends.
    """
    from rich.console import Console
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
        answer = Question(Text(question, style="bold"), console=Console(highlight=False))(default=default)
    except EOFError as error:
        print()
        raise UsageError("the answers end before the questions do", "nothing was written: start again") from error
    print("" if sys.stdin.isatty() else "\n", end="")  # no terminal has ended the line
    return answer


def _board_is_there() -> bool:
    """Return whether a mat's board is plugged in."""
    from pi_controller.drivers.serial_port import find_port
    from pi_controller.errors import PortError

    try:
        find_port("auto")
    except PortError:
        return False
    return True


def _other_port() -> dict[str, int]:
    """Return the port of the pages, where another program has the usual one; else nothing."""
    from pi_controller.table.settings_table import WebSection

    usual = WebSection().port
    for port in range(usual, usual + _PORTS):
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


def _write(path: Path, settings: Settings) -> None:
    """Write the `settings` to `path`, whole or not at all. Raises `UsageError`."""
    from pi_controller.table.settings_example import changed

    try:
        replace_file(path, changed(settings).encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name a file in a folder of yours") from error


def _program() -> str:
    """Return how this program is started here: a venv need not be on the path."""
    name = Path(sys.argv[0])
    return str(name) if name.name == "moccasin-mat" and shutil.which(name.name) is None else "moccasin-mat"
