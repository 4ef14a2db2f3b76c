"""Detects mat events (strikes, hands, beads) in the link's sensor messages. Knows no game.

`MatSensors` holds all detectors of one mat. Strikes, hands and beads come out as events with the host's time in
seconds, and with `sure=False` if the signals do not decide:

>>> import numpy as np
>>> from pi_controller.board import Piezo
>>> from pi_controller.sensing import MatSensors
>>> samples = np.zeros((4000, 4), np.int16)  # a second of four pads, in counts of the converter
>>> t = np.arange(60) / 4000
>>> samples[2000:2060, 1] = 900 * np.exp(-t / 0.005) * np.sin(2 * np.pi * 400 * t)  # the second pad is struck
>>> felt = MatSensors().feed(Piezo(t=10.0, index=0, rate=4000, samples=samples))
>>> [(round(strike.t, 2), strike.pads, strike.sure) for strike in felt]
[(10.5, (2,), True)]

Each detector can be used alone: `StrikeDetector` takes signals of 1 to 8 pads, with its parameters in
`StrikeSettings`.

>>> from pi_controller.sensing import StrikeDetector, StrikeSettings
>>> detector = StrikeDetector(rate=4000, pads=4, full_scale=2048, settings=StrikeSettings())
>>> [decision.pads for decision in detector.feed_samples(samples.astype(float))]
[(2,)]

`MatEvent` is the union of all events. Events are msgspec structs, so they encode to JSON directly:

>>> import msgspec
>>> from pi_controller.sensing import Bead, BeadsAtRest, SamplesMissing, Button, HandIn, HandOut
>>> from pi_controller.sensing import Link, MatEvent, SensorFault, SensorFaultsChange, Strike
>>> events: list[MatEvent] = [
...     HandIn(1.0, pad=3, side="hider"),
...     HandOut(2.5, pad=3, side="hider"),
...     Button(3.0, "ready"),
...     BeadsAtRest(3.25, (Bead(pad=3, marked=True),)),
...     SamplesMissing(6.0, until=6.02),
...     Strike(14.1, pads=(2,)),
...     SensorFaultsChange(15.0, (SensorFault("disc", pad=4, why="silent"),)),
...     Link(16.0, up=False, why="no frame for 0.9 s"),
... ]
>>> lines = [msgspec.json.encode(event) for event in events]
>>> lines[5]
b'{"event":"strike","t":14.1,"pads":[2]}'
>>> [msgspec.json.decode(line, type=MatEvent) for line in lines] == events
True
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazy_getattr
from pi_controller.sensing.events import (
    Bead,
    BeadsAtRest,
    Button,
    HandIn,
    HandOut,
    Link,
    MatEvent,
    SamplesMissing,
    SensorFault,
    SensorFaultsChange,
    Strike,
)

if TYPE_CHECKING:
    from pi_controller.sensing.sensors import MatSensors
    from pi_controller.sensing.strike_settings import StrikeSettings
    from pi_controller.sensing.strikes import StrikeDetector
else:
    __getattr__ = lazy_getattr(  # numpy
        __name__, {"MatSensors": "sensors", "StrikeDetector": "strikes", "StrikeSettings": "strike_settings"}
    )

__all__ = [
    "Bead",
    "BeadsAtRest",
    "Button",
    "HandIn",
    "HandOut",
    "Link",
    "MatEvent",
    "MatSensors",
    "SamplesMissing",
    "SensorFault",
    "SensorFaultsChange",
    "Strike",
    "StrikeDetector",
    "StrikeSettings",
]
