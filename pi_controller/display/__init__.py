"""Display of a table: light strips, terminal, words and sentences, as pure functions of the public view.

>>> from pi_controller.rules import game
>>> from pi_controller.referee import History, JudgeAction, referee_for
>>> from pi_controller.display import ENGLISH, Word, frame, get_show, render_text
>>> from pi_controller.table import view_of
>>> rules = game("dakota")
>>> history, referee = History(rules), referee_for(rules, None, random_bytes=bytes)
>>> story = history.commit(history.resolve_event(JudgeAction(1.0, {"do": "toss", "winner": "A"}), referee.decide))
>>> view = view_of(rules, story, seq=1)

`frame` gives the light strips' 69 pixels in order, red, green and blue of 0 to 255 each; `render_text` the lines of a
terminal; `get_show` the game's display, which explains a called word.

>>> pixels = frame(view, t=0.0)
>>> len(pixels), sum(pixel != (0, 0, 0) for pixel in pixels)
(69, 20)
>>> print(render_text(view, ENGLISH).splitlines()[-1])
Team A hides the bead
>>> paguga: Word = get_show("dakota", ENGLISH).word("paguga")
>>> paguga.shown, paguga.sounds, paguga.source
('Paguga', 'pa-goo-ga', 'chapter 4')
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazy_getattr

if TYPE_CHECKING:
    from pi_controller.display.game_display import Word, get_show
    from pi_controller.display.i18n import ENGLISH
    from pi_controller.display.lights import frame
    from pi_controller.display.terminal import render_text
else:
    __getattr__ = lazy_getattr(  # rich
        __name__,
        {
            "ENGLISH": "i18n",
            "Word": "game_display",
            "frame": "lights",
            "get_show": "game_display",
            "render_text": "terminal",
        },
    )

__all__ = ["ENGLISH", "Word", "frame", "get_show", "render_text"]
