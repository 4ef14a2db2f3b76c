"""Parameters of the strike detector: what counts as a stroke.

Decibels are of energy and always a ratio of two things in the same signal; nothing is in volts, so one setting serves
all pads. The figures were set on recordings of some twenty piezo pads and on real drumming sent through a simulated
floor; each lies on a plateau, so a decibel either way changes little. None of those pads was a cloth pad struck by a
pole: the figures wait for recordings of the real mat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pi_controller.errors import SettingsError

THRESHOLD_DB = (3.0, 40.0)
"""The least and the most that a table's settings or a mat's profile may ask of a stroke (`peak_db`)."""
LOCKOUT_S = (0.02, 5.0)
"""The least and the most of `lockout_s`."""


@dataclass(frozen=True, slots=True)
class StrikeSettings:
    """Times in seconds, frequencies in Hz, ratios in dB of energy. Raises `SettingsError` for figures that cannot work.

    * `bands_hz`: listened to side by side, a stroke need pass in one only. The lowest is where large and slack pads
      ring; the middle holds most of a soft stroke's energy; the highest is where a stick still clicks while a loud
      drum fills the others.
    * Floor: the energy below which `floor_rank` of the last `floor_s` lie; never under `floor_lsb` counts rms (a
      quantised silent input has no noise at all) nor under `floor_full` of the full scale.
    * A stroke's highest millisecond stands `peak_db` over the floor and its last four milliseconds `mean_db`; that
      highest one stands `rise_db` over everything in the 20 ms before and `stand_db` over three quarters of the 50 ms
      before.
    * It stands `dominance_db` over every other pad, each measured by its own floor (or outright, `raw_bonus_db` more:
      a pad that was being rubbed when it was struck), and no other pad is `least_raw_db` louder outright (that
      neighbour was struck, and this pad only felt it).
    * Two pads `double_db` over all others were both struck.
    * `alone_db` more of everything when there is no neighbour to ask; half of it with one neighbour. `slow_db` more
      for each halving of the rate below 4 kHz, where noise has fewer samples to average over.
    * With neighbours nothing is decided before `wait_s` (drums reach some pads first), and `doubt_s` later when it
      passes by less than `clear_db`; less than `sure_db` is told as unsure.
    * After a stroke nothing counts for `lockout_s`, except a blow `escape_db` above it: that one was a brush before
      the blow.
    * Strokes begun within `arm_guard_s` after arming were under way.
    * `hop_s` is the step in which energies are taken; all spans above that name no setting are in hops, and so stretch
      with it.
    * `reference`: the last channel is a disc on the frame. It is never struck; what it feels as much as a pad does is
      the floor.
    """

    bands_hz: tuple[tuple[float, float], ...] = ((250.0, 1000.0), (400.0, 1500.0), (900.0, 3000.0))
    floor_s: float = 0.4
    floor_rank: float = 0.75
    floor_lsb: float = 0.3
    floor_full: float = 0.0
    peak_db: float = 13.0
    mean_db: float = 9.0
    rise_db: float = 7.0
    stand_db: float = 12.0
    dominance_db: float = 10.0
    raw_bonus_db: float = 6.0
    least_raw_db: float = 9.0
    double_db: float = 12.0
    alone_db: float = 5.5
    slow_db: float = 1.5
    wait_s: float = 0.002
    doubt_s: float = 0.001
    clear_db: float = 6.0
    sure_db: float = 1.5
    lockout_s: float = 0.25
    escape_db: float = 20.0
    arm_guard_s: float = 0.005
    hop_s: float = 0.0005
    reference: bool = False

    def __post_init__(self) -> None:
        faults: list[str] = []
        if not self.bands_hz or any(not 0 < low < high for low, high in self.bands_hz):
            faults.append("bands_hz: each band needs 0 < low < high")
        if not 0 < self.floor_rank < 1:
            faults.append("floor_rank: between 0 and 1")
        if not 0.1 <= self.floor_s <= 5:
            faults.append("floor_s: 0.1 to 5")
        if not self.floor_lsb > 0:
            faults.append("floor_lsb: above 0")
        if not 0 <= self.floor_full < 1:
            faults.append("floor_full: 0 to 1")
        if not LOCKOUT_S[0] <= self.lockout_s <= LOCKOUT_S[1]:
            faults.append(f"lockout_s: {LOCKOUT_S[0]:g} to {LOCKOUT_S[1]:g}")
        if not 0.0002 <= self.hop_s <= 0.005:
            faults.append("hop_s: 0.0002 to 0.005")
        elif min(self.wait_s, self.doubt_s) < 0 or self.wait_s + self.doubt_s > 9 * self.hop_s:
            faults.append("wait_s and doubt_s: 0 or more, together at most nine hops")
        if self.arm_guard_s < 0:
            faults.append("arm_guard_s: 0 or more")
        if faults:
            raise SettingsError("\n".join(faults), "Correct the strike settings.")


SLOW_HZ = 2000.0
"""Below so many samples a second a stroke is listened to by `at_rate`'s settings."""
SLOW_LOW_HZ = 150.0


def at_rate(settings: StrikeSettings, rate: float) -> StrikeSettings:
    """Return `settings` as they are at `rate` samples a second: themselves, from 2000 on.

    Below that two bands no longer fit, and the one that does must reach down to where a stroke still has its energy;
    a hop is a sample at least, and what is waited for is counted in hops. Set on simulated piezos alone
    (`python tests/mat/measure_slow.py`).
    """
    if rate >= SLOW_HZ:
        return settings
    hop, bands = 1.0 / rate, settings.bands_hz
    low, high = min(low for low, _ in bands), max(high for _, high in bands)
    return replace(
        settings,
        bands_hz=((min(low, SLOW_LOW_HZ), high),),
        hop_s=max(settings.hop_s, hop),
        wait_s=max(settings.wait_s, 2.0 * hop),
        doubt_s=max(settings.doubt_s, hop),
    )


FSR = StrikeSettings(
    bands_hz=((70.0, 400.0),),
    hop_s=0.001,
    floor_full=19 / 2048,
    dominance_db=6.0,
    wait_s=0.004,
    doubt_s=0.002,
)
"""For force sensors: cloth takes the click out of a stroke, and a hand set down shows on a force sensor as
well. The band begins where flesh has little left, and the least floor is what a hand still makes there: what is softer
goes unfelt. Set on simulated sensors alone (`python tests/mat/measure_fsr.py`)."""

SENSORS = {"piezo": StrikeSettings(), "fsr": FSR}
"""The settings for each kind of sensor."""
