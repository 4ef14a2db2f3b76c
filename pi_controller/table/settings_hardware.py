"""Settings of the hardware: boards, mats, light strips, buttons, strike detector."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from pi_controller.mat.strike_settings import LOCKOUT_S, SENSORS, THRESHOLD_DB, StrikeSettings
from pi_controller.pinmap import pinmap
from pi_controller.referee.seating import Seats
from pi_controller.table.settings_fields import Pin, PinOrNone, Port, PortOrPins, Profile, Section
from pi_controller.table.settings_file import Fault, faults

if TYPE_CHECKING:
    from collections.abc import Callable

_STRIKES = StrikeSettings()


class BoardSection(Section):
    """The mat board on USB, or the sensors on the Pi's own pins."""

    # one key, so that no two can contradict each other: "none" was said here already
    port: PortOrPins = Field(
        default="auto",
        description='"auto" finds the board, "pins" are the Pi\'s own, "none": the judge\'s console',
        json_schema_extra={"takes": '"auto" or "none" or "pins" or a path like "/dev/ttyACM0"'},
    )
    profile: Profile = Field(
        default="",
        description="the mat's profile by 'moccasin-mat calibrate', in this file's folder; empty: without one",
        json_schema_extra={"takes": "the name of a profile, in quotes"},
    )
    write_timeout_s: float = Field(
        default=0.5, ge=0.05, le=5.0, description="a board that takes nothing for this long is lost"
    )


class SecondBoardSection(BoardSection):
    """The board of the mat before B, where each team has one."""

    port: Port = Field(
        default="none",
        description="where two boards are plugged in, both are named: 'moccasin-mat ports' lists them",
        json_schema_extra={"takes": '"none" or a path like "/dev/ttyACM1"'},
    )


class MatSection(Section):
    """Where the mat lies: between the teams, or one before each, [board] the one of A and [board_b] that of B."""

    seats: Seats = Field(
        default="turn",
        description='"turn": A at the near edge, B at the far one; "stay": hiders at the near edge; "each": two mats',
        json_schema_extra={"takes": "one of these, in quotes"},
    )


class StripsSection(Section):
    """The light strips."""

    kind: Literal["pi", "board", "memory", "none"] = Field(
        default="none",
        description='WS2812 pixels on a pin of the "pi" or of the mat\'s "board"; "memory" keeps the lights unseen',
    )
    pin: Pin = Field(
        default_factory=lambda: pinmap().pi.strip_pin,
        description="BCM number; on a Pi up to 4 all but 10 need root, which the service has not",
    )
    brightness: float = Field(default=0.5, ge=0.0, le=1.0, description="1.0 is all the pixels can")
    current_cap_ma: float = Field(
        default=2000.0,
        ge=100.0,
        le=20000.0,
        description="all pixels together draw no more; stay below the supply and the fuse",
    )


def _usual(button: str) -> Callable[[], int]:
    """Return what returns the button's pin in the pin map."""
    return lambda: pinmap().pi.buttons[button]


class ButtonPins(Section):
    """BCM numbers; each button goes from its pin to ground. The guesses of slahal may be left out: 0 is no button."""

    ready: Pin = Field(default_factory=_usual("ready"), description="the hider: the bead is hidden")
    shown: Pin = Field(default_factory=_usual("shown"), description="the hider: the bead was shown")
    toss_a: Pin = Field(default_factory=_usual("toss_a"), description="the judge: A won the toss")
    toss_b: Pin = Field(default_factory=_usual("toss_b"), description="the judge: B won the toss")
    left: PinOrNone = Field(default=0, description="slahal, the guesser's left")
    right: PinOrNone = Field(default=0, description="slahal, the guesser's right")
    inside: PinOrNone = Field(default=0, description="slahal, the inside hands")
    outside: PinOrNone = Field(default=0, description="slahal, the outside hands")

    @model_validator(mode="after")
    def _different(self) -> ButtonPins:
        first: dict[int, str] = {}
        found: list[Fault] = []
        for key in type(self).model_fields:
            pin = getattr(self, key)
            if pin == 0:
                continue
            if pin in first:
                found.append(Fault((key,), f"pin {pin} is taken by {first[pin]}"))
            first.setdefault(pin, key)
        if found:
            raise faults(found)
        return self


class ButtonsSection(Section):
    """The buttons at the mat."""

    kind: Literal["pi", "none"] = Field(default="none", description='"pi" reads buttons on pins')
    settle_ms: float = Field(
        default=20.0, ge=1.0, le=500.0, description="released this long, a button can be pressed again"
    )
    pins: ButtonPins = Field(default_factory=ButtonPins)


class StrikesSection(Section):
    """What counts as a strike. The defaults are the detector's own."""

    sensor: Literal["piezo", "fsr"] = Field(
        default="piezo", description="what the pads feel with: piezo discs, or force-sensing resistors"
    )
    threshold_db: float = Field(
        default=_STRIKES.peak_db,
        ge=THRESHOLD_DB[0],
        le=THRESHOLD_DB[1],
        description="how far a strike stands above the pad's own noise",
    )
    dominance_db: float = Field(
        default=_STRIKES.dominance_db, ge=0.0, le=40.0, description="how far it stands above what other pads feel"
    )
    lockout_ms: float = Field(
        default=_STRIKES.lockout_s * 1000,
        ge=LOCKOUT_S[0] * 1000,
        le=LOCKOUT_S[1] * 1000,
        description="no second strike is felt for this long",
    )

    def detector(self) -> StrikeSettings:
        """Return what the detector is given: a higher threshold asks as much more of each comparison in time."""
        own, more = SENSORS[self.sensor], self.threshold_db - _STRIKES.peak_db
        return replace(
            own,
            peak_db=own.peak_db + more,
            mean_db=own.mean_db + more,
            rise_db=own.rise_db + more,
            stand_db=own.stand_db + more,
            dominance_db=own.dominance_db + self.dominance_db - _STRIKES.dominance_db,
            lockout_s=self.lockout_ms / 1000,
        )
