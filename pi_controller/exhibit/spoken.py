"""Spoken prompts of an installation: whole games can be played without seeing the screen.

A prompt says what happened, what is expected, and which numbers choose. It is computed from the public screen and the
public view alone, in English and without the game's own words, because the host's speech knows English only
(`display.voice`). A press is never repeated aloud: the other side may be listening.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.lessons import TERMS
from pi_controller.exhibit.outcome import describe_outcome
from pi_controller.exhibit.screen import Screen, ScreenChoice, build_screen, name_sides
from pi_controller.exhibit.stage import IDLE
from pi_controller.referee.story import SETTLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.exhibit.exhibit import Exhibit
    from pi_controller.table.view import View

HELP = "Press a number to choose."


class Prompt(NamedTuple):
    """What is to be said: `news`, the result of a hit or a hide, then what to do; `cut` ends all earlier prompts."""

    news: str = ""
    ask: str = ""
    cut: bool = False


class Prompter:
    """Finds the prompts of successive moments of an `Exhibit`."""

    def __init__(self) -> None:
        self._news = self._ask = ""
        self._stage, self._repeats, self._used = "", 0, 0.0

    def step(self, exhibit: Exhibit) -> Prompt | None:
        """Return what is new to say now; None for nothing, an empty prompt to be silent because the visitor left."""
        stage = exhibit.stage.name
        before, self._stage = self._stage, stage
        if stage in IDLE:
            self._news = self._ask = ""
            return Prompt(cut=True) if before not in ("", *IDLE) else None
        screen = build_screen(exhibit, ENGLISH)
        news, ask = _news(exhibit), _ask(exhibit, screen)
        repeated = exhibit.repeats != self._repeats
        acted = exhibit.stage.touched != self._used
        self._repeats, self._used = exhibit.repeats, exhibit.stage.touched
        said = f"{ask} {HELP}" if before in IDLE else ask
        fresh = Prompt(
            news if news != self._news or repeated else "", said if ask != self._ask or repeated else "", acted
        )
        self._news, self._ask = news, ask
        return fresh if fresh.news or fresh.ask else None


def _news(exhibit: Exhibit) -> str:
    """Return the result of the last hit with the counts, without the words that were called."""
    game = exhibit.game
    if exhibit.stage.name not in ("play", "result") or game is None:
        return ""
    return describe_outcome(name_sides(game.view, exhibit, ENGLISH), ENGLISH)


def _ask(exhibit: Exhibit, screen: Screen) -> str:
    """Return the expected action and the numbers that choose."""
    said = [screen.lead]
    if screen.stage == "result":
        said += screen.report
    elif screen.step is not None:
        game = exhibit.game
        term = game is not None and game.lessons is not None and game.lessons.open_step in TERMS
        said = [] if term else [screen.step.title]  # the voice cannot say the game's own words
        said.append(screen.step.text)
    elif exhibit.game is not None and exhibit.game.aim is not None and not exhibit.asked:
        said = [f"The mat hits cloth {exhibit.game.aim}."]
    elif _has_result(exhibit):
        said = []  # the news have it
    return " ".join(filter(None, (*map(_sentence, said), *_numbers(exhibit, screen))))


def _has_result(exhibit: Exhibit) -> bool:
    waits = exhibit.game is not None and exhibit.game.waits_for_lift
    return exhibit.stage.name == "play" and not exhibit.asked and not waits and _phase(exhibit) in SETTLED


def _phase(exhibit: Exhibit) -> str:
    view: View | None = exhibit.game.view if exhibit.game is not None else None
    return view.phase if view is not None else ""


def _numbers(exhibit: Exhibit, screen: Screen) -> Sequence[str]:
    """Return a sentence for each choice; controls beside the game are left out while it is played."""
    pads = [str(pad.number) for pad in screen.pads if pad.do]
    said = [f"Press {', '.join(pads[:-1])} or {pads[-1]}."] if len(pads) > 1 else []
    beside = {"skip", "how", *(("leave",) if exhibit.stage.name == "play" and not exhibit.asked else ())}
    chosen = sorted((one for one in screen.choices if one.number and one.do not in beside), key=_number)
    return said + [_sentence(f"{one.number}: {one.label}") for one in chosen]


def _number(choice: ScreenChoice) -> int:
    return choice.number


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
