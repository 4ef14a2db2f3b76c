"""Contract suites for the authors of drivers: subclass one in a test file and say how your driver is opened.

    from pi_controller.testing import StripContract

    class TestOurStrip(StripContract):
        def open_strip(self, options):
            strip = make_strip(options)
            return strip, lambda: strip.sent

They need pytest, and close what they open.

>>> from pi_controller.testing import BoardContract, ButtonsContract, StripContract
>>> class TestMemoryStrip(StripContract):
...     def open_strip(self, options):
...         from pi_controller.board.strips import make_memory_strip
...         strip = make_memory_strip(options)
...         return strip, lambda: strip.shown
>>> TestMemoryStrip().test_it_starts_dark()
>>> [suite.__name__ for suite in (BoardContract, ButtonsContract, StripContract)]
['BoardContract', 'ButtonsContract', 'StripContract']
"""

from pi_controller.testing.boards import BoardContract
from pi_controller.testing.buttons import ButtonsContract
from pi_controller.testing.strips import StripContract

__all__ = ["BoardContract", "ButtonsContract", "StripContract"]
