"""The table of all commands: their modules, purposes and earlier words, and the groups of the help."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """A command: its module, its purpose, and its earlier word with the options that it had there."""

    module: str
    purpose: str
    earlier: str = ""


VERBS = {
    "demo": Verb("demo", "play a game on a simulated mat; 'hub demo' plays a tournament, 'exhibit --sim' an exhibit"),
    "settings new": Verb("settings", "ask for game, players and pages; write a settings file", "setup-table"),
    "settings check": Verb("settings", "check a settings file; print the effective settings", "check-settings"),
    "settings example": Verb("settings", "print a commented file with every default", "check-settings --example"),
    "run": Verb("tables", "run a table: the board, the buttons, the strips, the live page"),
    "judges": Verb("tables", "list, add, new-pin, revoke, ...: who may sign in at a table"),
    "words list": Verb("words", "list the called words and their recordings", "voice"),
    "words play": Verb("words", "play a word as a table would", "voice --play"),
    "words languages": Verb("words", "list the languages and how complete each is, or check one", "languages"),
    "mat check": Verb("board", "check every sensor, the link, the disk; report faults and remedies", "doctor"),
    "mat calibrate": Verb("board", "measure the mat step by step and save the results as a profile", "calibrate"),
    "mat ports": Verb("board", "list the serial ports, the selected one, and the boards that answer", "ports"),
    "mat flash": Verb("board", "write the firmware to the mat's board, or check that it is there", "flash"),
    "mat record": Verb("sensors", "record every reading of a mat, without a game", "record-sensors"),
    "mat strikes": Verb("sensors", "find the strikes in a WAV file, each channel a pad", "strikes"),
    "game replay": Verb("replay", "show a game hide by hide, or evaluate a sensor recording again", "replay"),
    "game export": Verb("journals", "export a game: record, score sheet, a sheet to print and sign", "export"),
    "game record": Verb("journals", "write a game as an open text file, or check one", "record"),
    "game verify": Verb("journals", "check that a journal is complete and unaltered", "verify"),
    "game recover": Verb("journals", "save the proven records of a damaged journal in a new one", "recover"),
    "game review": Verb("sensors", "draw the sensor levels around a hit, for the judge", "review"),
    "hub": Verb("hub", "demo, setup, run, join, backup, ...: a tournament, its tables and its boards"),
    "exhibit": Verb("tables", "run the unattended installation for visitors; --sim needs no mat"),
    "service install": Verb("installation", "install the table's service: it starts with this machine", "setup"),
    "service remove": Verb("installation", "remove the service; the settings stay", "setup --undo"),
    "service status": Verb("installation", "print the installed files and the state of the service", "setup --status"),
    "service update": Verb("installation", "install a signed update; roll back if it fails", "update"),
    "service save": Verb("installation", "save the settings that the page requests; for its unit"),
    "watch": Verb("watch", "print a running table's state as JSON lines"),
    "score": Verb("pipes", "keep score: actions in, states and called words out"),
    "referee": Verb("pipes", "judge mat events: events in, facts out"),
    "bracket": Verb("pipes", "run a tournament: results in, pairings and standings out"),
}
"""All commands. In the module of `settings check` the function `settings_check` runs it, and `settings_check_parser`
returns its parser."""

NOUNS = {
    "settings": "the settings of a table",
    "words": "the called words and the languages",
    "mat": "the mat, its sensors and its board",
    "game": "the files of a game",
    "service": "the table's service on this machine",
}
"""First words of two-word commands."""

GROUPS = {
    "try": ("demo",),
    "play": ("settings", "run", "judges", "words"),
    "build": ("mat",),
    "after the game": ("game",),
    "tournament": ("hub",),
    "exhibit": ("exhibit",),
    "machine": ("service",),
    "for programs": ("watch", "score", "referee", "bracket"),
}
"""Nouns and commands in the order of the help."""
