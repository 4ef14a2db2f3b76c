"""Harmless command lines of every verb, for an installed wheel: what each needs, and how it ends."""

from pathlib import Path

import certifi

HUB = '[web]\nport = 0\n[hub]\naddress = "127.0.0.1"\ntable = "t01"\ntoken_file = "hub.token"\nca = "hub.crt"\n'
FILES = {
    "hub.toml": HUB,
    "hub.token": "a" * 43,
    "hub.crt": Path(certifi.where()).read_text("ascii", "replace"),
    "plain.toml": "[web]\nport = 0\n",
    "french.toml": '[web]\nport = 0\nlanguage = "fr.po"\n',
    "exhibit.toml": '[web]\nport = 0\n[exhibit]\nlanguages = ["fr.po"]\n',
    "fr.po": 'msgid ""\nmsgstr ""\n',
    "words/dakota/paguga.wav": "",
    "actions": '{"do": "toss", "winner": "A"}\n',
}
"""Files in the folder where the commands run."""

NEEDS_EXTRA = {
    "watch": "watch",
    "hub demo --once": "hub",
    "hub setup venue": "hub",
    "hub run trial": "hub",
    "hub join 127.0.0.1 0000-0000-0000-0000-0000 --settings hub.toml": "link",
    "run --settings hub.toml": "link",
    "run --settings french.toml": "languages",
    "exhibit --sim --settings exhibit.toml": "languages",
    "words languages": "languages",
    "demo --language fr.po": "languages",
    "service update stick": "update",
    "mat flash": "flash",
    "mat ports": "board",
    "--print-completion bash": "completion",
}
"""Commands that end with status 2 and the command that installs the named extra, if it is missing."""

WORKS = {
    "demo --game patol --seed 1 --port 0": 0,
    "mat check --sim": 0,
    "mat calibrate --sim": 0,
    "score dakota actions": 0,
    "bracket": 0,
    "referee dakota": 0,
    "game record actions": 2,
    "judges new-head": 0,
    "judges list": 0,
    "settings example": 0,
    "settings check hub.toml": 0,
    "words languages --template": 0,
    "words play hello": 2,
    "service install --dry-run": 0,
    "service remove": 0,
    "service status": 1,
    "service save": 2,
    "hub director venue": 0,
    "hub journals venue out": 2,
    "exhibit --check": 0,
    "mat check": 1,
    "mat record actions": 2,
    "settings new": 2,
    "game replay none.sqlite": 2,
    "game export none.sqlite": 2,
    "game verify none.sqlite": 2,
    "game recover none.sqlite new.sqlite": 2,
    "game review none.sqlite": 2,
    "mat strikes none.wav": 2,
}
"""Exit statuses of commands that need no extra."""

JOURNAL = {
    "demo --game slahal --seed 2 --journal game.sqlite --no-web": 0,
    "game replay game.sqlite": 0,
    "game verify game.sqlite": 0,
    "game export game.sqlite -o game": 0,
    "game record game.sqlite": 0,
    "game recover game.sqlite -o copy.sqlite": 0,
}
"""Commands that play a game and read its journal, in this order."""

SERVES = ("run --settings plain.toml", "exhibit --sim --settings plain.toml")
"""Commands that serve a page until they are stopped, without extras."""
