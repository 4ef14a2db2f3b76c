"""Display of a table: light strips, terminal, words and sentences, as pure functions of the public view.

>>> from pi_controller.rules import game
>>> from pi_controller.referee import History, JudgeAction, referee_for
>>> from pi_controller.display import Word, frame, render_text, word
>>> from pi_controller.table import view_of
>>> rules = game("dakota")
>>> history, referee = History(rules), referee_for(rules, None, random_bytes=bytes)
>>> story = history.commit(history.resolve_event(JudgeAction(1.0, {"do": "toss", "winner": "A"}), referee.decide))
>>> view = view_of(rules, story, seq=1)

`frame` gives the light strips' 69 pixels in order, red, green and blue of 0 to 255 each; `render_text` the lines of a
terminal; `word` the display form and explanation of a called word.

>>> pixels = frame(view, t=0.0)
>>> len(pixels), sum(pixel != (0, 0, 0) for pixel in pixels)
(69, 20)
>>> print(render_text(view).splitlines()[-1])
Team A hides the bead
>>> paguga: Word = word("paguga", game="dakota")
>>> paguga.shown, paguga.sounds, paguga.source
('Paguga', 'pa-goo-ga', 'chapter 4')
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazy_getattr

if TYPE_CHECKING:
    from pi_controller.display.game_display import Word, word
    from pi_controller.display.lights import frame
    from pi_controller.display.terminal import render_text
else:
    __getattr__ = lazy_getattr(  # rich
        __name__, {"Word": "game_display", "frame": "lights", "render_text": "terminal", "word": "game_display"}
    )

__all__ = ["Word", "frame", "render_text", "word"]
