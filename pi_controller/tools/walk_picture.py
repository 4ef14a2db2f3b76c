"""Draw the calibration walk in a terminal: the steps with their results, the instruction and the live bars.

Colour is never the only sign, and without Unicode the marks become ASCII.
"""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from pi_controller.calibration.steps import StepView, WalkView
from pi_controller.text import Sentence

BAR_CELLS = 32
MARKS = {"to_come": "\u00b7", "now": "\u25b6", "passed": "\u2713", "failed": "\u2717", "left_out": "\u2013"}
OUTCOMES = {
    "to_come": "",
    "now": "",
    "passed": Sentence("pass"),
    "failed": Sentence("FAIL"),
    "left_out": Sentence("left out"),
}
STYLES = {"to_come": "dim", "now": "bold", "passed": "green", "failed": "bold red", "left_out": "dim"}
BAR_MARKS = {"wait": " ", "now": "\u25b6", "good": "\u2713", "bad": "\u2717"}
BAR_STYLES = {"wait": "dim", "now": "cyan", "good": "green", "bad": "red"}
_ASCII = str.maketrans(
    {
        "\u00b7": ".",
        "\u25b6": ">",
        "\u2713": "+",
        "\u2717": "x",
        "\u2013": "-",
        "\u2588": "#",
        "\u2591": ".",
        "\u00b5": "u",
        "\u00b2": "2",
        "\u2192": ">",
    }
)
KEYS = "again: repeat this step   skip: leave it out   Ctrl-C: stop without changes"


class WalkPicture:
    """Renders one view with rich, also in `rich.live.Live`; with `keys` it includes the commands that can be
    typed.
    """

    def __init__(self, view: WalkView, *, keys: bool = False) -> None:
        self._view = view
        self._keys = keys
        self._ascii = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self._ascii = options.ascii_only
        view = self._view
        for step in view.steps:
            yield from self._step(step)
        yield Text()
        yield self._text(view.ask, "bold")
        yield self._text(view.note, "yellow")
        if view.bars:
            yield self._bars(options.max_width)
        if view.saved:
            yield self._text(f"saved as {view.saved}")
        if self._keys and not view.over:
            yield Text()
            yield self._text(KEYS, "dim")

    def _text(self, text: str, style: str = "") -> Text:
        return Text(text.translate(_ASCII) if self._ascii else text, style)

    def _step(self, step: StepView) -> Iterator[Text]:
        yield self._text(f"{MARKS[step.state]} {step.title:<24}{OUTCOMES[step.state]}", STYLES[step.state])
        for found in step.found if step.state == "passed" else ():
            yield self._text(f"    {found}", "dim")
        for wrong in step.wrong:
            yield self._text(f"    {wrong!s}", "red")
            yield self._text(f"      \u2192 {wrong.hint}")

    def _bars(self, width: int) -> Table:
        cells = max(8, min(BAR_CELLS, width - 44))
        table = Table.grid(padding=(0, 1))
        for bar in self._view.bars:
            full = round(bar.share * cells)
            drawn = self._text("\u2588" * full, BAR_STYLES[bar.state])
            drawn.append_text(self._text("\u2591" * (cells - full), "dim"))
            mark = self._text(BAR_MARKS[bar.state], BAR_STYLES[bar.state])
            table.add_row(mark, self._text(bar.label), drawn, self._text(bar.text))
        return table
