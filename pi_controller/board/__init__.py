"""The link: turns the board's bytes into messages stamped with the host's clock, and counts every loss.

A `BoardConnection` opens the port, reconnects if it is lost, and returns the messages of each step. Time is passed in,
so a missing board takes two lines to show:

>>> from pi_controller.errors import PortError
>>> from pi_controller.board import BoardConnection, LinkDown
>>> def open_port():
...     raise PortError("no board is plugged in", "plug it in")
>>> board = BoardConnection(open_port)
>>> board.step(t=0.0) == [LinkDown(t=0.0, why="no board is plugged in: plug it in")]
True
>>> board.step(t=0.5), board.why
([], 'no board is plugged in: plug it in')

Every message is a frozen dataclass with the host's time `t` in seconds, and `Message` is their union: the readings,

>>> import numpy as np
>>> from pi_controller.board import BoardEvent, BoardHealth, Field, Gap, LinkUp, Message, Piezo, Touch
>>> readings: list[Message] = [
...     Piezo(t=1.0, index=4000, rate=4000.0, samples=np.zeros((64, 4), np.int16)),  # counts, of four pads
...     Touch(t=1.0, counts=np.full((4, 3), 700, np.int16)),  # three strips a pad
...     Field(t=1.0, ut=np.zeros((24, 3)), ok=np.ones(24, bool)),  # microtesla
...     Gap(t=1.016, until=1.032, samples=64),  # samples that never came
... ]

and the state of the link and the board:

>>> up = LinkUp(t=0.9, board_id="e6614103", firmware="1.2.0", boot_count=3, boot_reason="power", pads=4)
>>> counters = BoardHealth(t=2.0, uptime_s=8.0, overflows=0, i2c_errors=0, bad_frames=0, worst_loop_us=900)
>>> BoardEvent(t=3.0, number=1, kind="touch back", part=0, value=4200).line
'The touch chip answers again, after 4 s.'
"""

from typing import TYPE_CHECKING

from pi_controller.board.messages import BoardEvent, BoardHealth, Field, Gap, LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.lazy import lazy_getattr

if TYPE_CHECKING:
    from pi_controller.board.connection import BoardConnection
else:
    __getattr__ = lazy_getattr(__name__, {"BoardConnection": "connection"})  # numpy

__all__ = [
    "BoardConnection",
    "BoardEvent",
    "BoardHealth",
    "Field",
    "Gap",
    "LinkDown",
    "LinkUp",
    "Message",
    "Piezo",
    "Touch",
]
