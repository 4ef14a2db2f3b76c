"""What people see of a table: light strips, terminal, words and sentences, as pure functions of the public view.

>>> from pi_controller.games import game
>>> from pi_controller.referee import History, JudgeAction, referee_for
>>> from pi_controller.show import Word, frame, render_text, word
>>> from pi_controller.table import view_of
>>> rules = game("dakota")
>>> history, referee = History(rules), referee_for(rules, None, random_bytes=bytes)
>>> story = history.append(history.decided(JudgeAction(1.0, {"do": "toss", "winner": "A"}), referee.decide))
>>> view = view_of(rules, story, seq=1)

`frame` gives the light strips' 69 pixels in order, red, green and blue of 0 to 255 each; `render_text` the lines of a
terminal; `word` what is shown and told of a word that is called.

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

from pi_controller.lazy import lazily

if TYPE_CHECKING:
    from pi_controller.show.game_show import Word
    from pi_controller.show.lights import frame
    from pi_controller.show.terminal import render_text
    from pi_controller.show.words import word
else:
    __getattr__ = lazily(  # rich
        __name__, {"Word": "game_show", "frame": "lights", "render_text": "terminal", "word": "words"}
    )

__all__ = ["Word", "frame", "render_text", "word"]
