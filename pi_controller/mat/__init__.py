"""What the sensors feel: messages of the link in, what happened on the mat out. Knows no game.

`MatSensors` is all of a mat in one object; a stroke, the hands and the beads come out as events with the host's time in
seconds, and `sure=False` where the signals do not decide:

>>> import numpy as np
>>> from pi_controller.link import Piezo
>>> from pi_controller.mat import MatSensors
>>> samples = np.zeros((4000, 4), np.int16)  # a second of four pads, in counts of the converter
>>> t = np.arange(60) / 4000
>>> samples[2000:2060, 1] = 900 * np.exp(-t / 0.005) * np.sin(2 * np.pi * 400 * t)  # the second pad is struck
>>> felt = MatSensors().feed(Piezo(t=10.0, index=0, rate=4000, samples=samples))
>>> [(round(strike.t, 2), strike.pads, strike.sure) for strike in felt]
[(10.5, (2,), True)]

The parts can be used alone: `StrikeDetector` on any signals of 1 to 8 pads, with the figures in `StrikeSettings`.

>>> from pi_controller.mat import StrikeDetector, StrikeSettings
>>> detector = StrikeDetector(rate=4000, pads=4, full_scale=2048, settings=StrikeSettings())
>>> [decision.pads for decision in detector.feed_samples(samples.astype(float))]
[(2,)]

`MatEvent` is any event. Events are msgspec structs, and so are JSON at once:

>>> import msgspec
>>> from pi_controller.mat import Bead, Beads, Blind, Button, HandIn, HandOut
>>> from pi_controller.mat import Link, MatEvent, SensorFault, Sensors, Strike
>>> events: list[MatEvent] = [
...     HandIn(1.0, pad=3, side="hider"),
...     HandOut(2.5, pad=3, side="hider"),
...     Button(3.0, "ready"),
...     Beads(3.25, (Bead(pad=3, marked=True),)),
...     Blind(6.0, until=6.02),
...     Strike(14.1, pads=(2,)),
...     Sensors(15.0, (SensorFault("disc", pad=4, why="silent"),)),
...     Link(16.0, up=False, why="no frame for 0.9 s"),
... ]
>>> lines = [msgspec.json.encode(event) for event in events]
>>> lines[5]
b'{"event":"strike","t":14.1,"pads":[2]}'
>>> [msgspec.json.decode(line, type=MatEvent) for line in lines] == events
True
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazily
from pi_controller.mat.events import (
    Bead,
    Beads,
    Blind,
    Button,
    HandIn,
    HandOut,
    Link,
    MatEvent,
    SensorFault,
    Sensors,
    Strike,
)

if TYPE_CHECKING:
    from pi_controller.mat.sensors import MatSensors
    from pi_controller.mat.strike_settings import StrikeSettings
    from pi_controller.mat.strikes import StrikeDetector
else:
    __getattr__ = lazily(  # numpy
        __name__, {"MatSensors": "sensors", "StrikeDetector": "strikes", "StrikeSettings": "strike_settings"}
    )

__all__ = [
    "Bead",
    "Beads",
    "Blind",
    "Button",
    "HandIn",
    "HandOut",
    "Link",
    "MatEvent",
    "MatSensors",
    "SensorFault",
    "Sensors",
    "Strike",
    "StrikeDetector",
    "StrikeSettings",
]
