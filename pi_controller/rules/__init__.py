"""The rules of the games: an action goes in, the new state and the words called come out. No clock, no I/O, no sensors.

`start` sets up a game to be played at a prompt or from a program, as `chess.Board` does for chess:

>>> from pi_controller.rules import start
>>> play = start("dakota", points=3)
>>> play.push("toss", winner="A")
()
>>> play.push("hit", found=False), play.push("hit", found=True, pad=4)
((), ('paguga',))
>>> play.is_legal("toss", winner="B"), len(play.legal_actions()), play.outcome()
(False, 7, None)
>>> other = play.copy()
>>> play.pop()
{'do': 'hit', 'found': True, 'pad': 4}
>>> play.calls, play.sheet["long"], other.calls, other.sheet["long"]
((), {'A': 4, 'B': 0}, ('paguga',), {'A': 8, 'B': 0})

Malformed actions and actions that are not allowed now raise different errors; neither changes the game:

>>> from pi_controller.rules import IllegalActionError, InvalidActionError
>>> try:
...     play.push("hit")
... except InvalidActionError as error:
...     print(error)
hit needs "found"
>>> try:
...     play.push("toss", winner="B")
... except IllegalActionError as error:
...     print(error)
the toss is done

`names` lists the available games. `game` returns a rule set with its options chosen: pure functions of frozen states;
a `Play` keeps the states for you.

>>> from pi_controller.rules import Game, Outcome, Play, game, names
>>> names()[:6]
('dakota', 'ojibwe', 'slahal', 'bageswin', 'plum_stone', 'patol')
>>> rules = game("plum_stone", {"counters": 20})
>>> isinstance(rules, Game), rules.source
(True, 'Alice C. Fletcher, Indian Hazard Games, Plum Stone Game')
>>> state, calls = rules.play(rules.opening(), {"do": "forfeit", "by": "A"})
>>> rules.is_over(state), rules.sheet(state)["winner"], calls
(True, 'B', ('forfeit', 'game'))
>>> play = Play(rules)
>>> play.push("forfeit", by="B")
('forfeit', 'game')
>>> play.outcome() == Outcome(winner="A", finish="forfeit")
True
"""

from pi_controller.rules.base import Game, IllegalActionError, InvalidActionError
from pi_controller.rules.play import Outcome, Play, start
from pi_controller.rules.registry import game, names

__all__ = [
    "Game",
    "IllegalActionError",
    "InvalidActionError",
    "Outcome",
    "Play",
    "game",
    "names",
    "start",
]
