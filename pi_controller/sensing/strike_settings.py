"""Parameters of the strike detector.

Decibels are of energy and always a ratio within the same signal, never volts, so one setting suits all pads. The values
were chosen on recordings of about twenty piezo pads and on real drumming sent through a simulated floor; each is on a
plateau, so a decibel either way changes little. No recording has a cloth pad struck by a pole yet: the values need
confirmation on the real mat.
"""

from dataclasses import dataclass, replace

from pi_controller.errors import SettingsError

THRESHOLD_DB = (3.0, 40.0)
"""Allowed range of `peak_db` in a table's settings or a mat's profile."""
LOCKOUT_S = (0.02, 5.0)
"""Allowed range of `lockout_s`."""


@dataclass(frozen=True, slots=True)
class StrikeSettings:
    """Times in seconds, frequencies in Hz, ratios in dB of energy. Raises `SettingsError` for values that cannot work.

    * `bands_hz`: bands evaluated in parallel; a stroke must pass in only one. The lowest is where large and slack pads
      ring; the middle holds most of a soft stroke's energy; the highest is where a stick still clicks while a loud
      drum fills the others.
    * Floor: the quantile `floor_rank` of the energy over the last `floor_s`; never below `floor_lsb` counts rms (a
      quantised silent input has no noise at all) nor below `floor_full` of the full scale.
    * A stroke's highest millisecond is `peak_db` above the floor, its last four milliseconds `mean_db`. The highest
      one is `rise_db` above everything in the 20 ms before and `stand_db` above three quarters of the 50 ms before.
    * It is `dominance_db` above every other pad, each relative to its own floor (or in absolute terms by
      `raw_bonus_db` more: a pad that was being rubbed when it was struck), and no other pad is `least_raw_db` louder in
      absolute terms (then that neighbour was struck, and this pad only vibrated with it).
    * `band_db` is the margin that a stroke needs in each of `bands_hz`, above every comparison but the doubt's (0 for
      bands that it does not list): drums reach furthest up the lowest band, and shake pads least alike there.
    * If two pads are `double_db` above all others, both were struck.
    * `alone_db` is added to all thresholds if there is no neighbour to compare with, half of it with one neighbour.
      `slow_db` is added for each halving of the rate below 4 kHz, where noise has fewer samples to average over.
    * With neighbours, a decision waits `wait_s` (drums reach some pads first), and `doubt_s` longer if the margin is
      below `clear_db`; a margin below `sure_db` is reported as unsure.
    * A stroke reaches other pads 22 to 45 dB weaker. One that is not `sure_raw_db` stronger than they are, in absolute
      terms, is unsure: a drum near a pad that rests, or the second pad that the stick brushed.
    * A disc that feels nothing of strikes on other pads may be dead. A margin below `suspect_db` is unsure then. 0 for
      sensors that never feel their neighbours.
    * After a stroke, strokes are ignored for `lockout_s`, except a blow `escape_db` above it: the first one was a brush
      before the blow.
    * Strokes that begin within `arm_guard_s` after arming are ignored as already under way.
    * `hop_s` is the step in which energies are computed; spans above without a setting are in hops and scale with it.
    * `reference`: the last channel is a disc on the frame. It is never struck; vibration that it shares with a pad
      belongs to the floor.
    """

    bands_hz: tuple[tuple[float, float], ...] = ((250.0, 1000.0), (400.0, 1500.0), (900.0, 3000.0))
    band_db: tuple[float, ...] = (4.0, 1.0, 0.0)
    floor_s: float = 0.4
    floor_rank: float = 0.75
    floor_lsb: float = 0.3
    floor_full: float = 0.0
    peak_db: float = 14.0
    mean_db: float = 9.0
    rise_db: float = 7.0
    stand_db: float = 12.0
    dominance_db: float = 10.0
    raw_bonus_db: float = 6.0
    least_raw_db: float = 9.0
    double_db: float = 12.0
    alone_db: float = 3.5
    slow_db: float = 1.5
    wait_s: float = 0.002
    doubt_s: float = 0.001
    clear_db: float = 6.0
    sure_db: float = 2.0
    sure_raw_db: float = 10.0
    suspect_db: float = 13.5
    lockout_s: float = 0.25
    escape_db: float = 20.0
    arm_guard_s: float = 0.005
    hop_s: float = 0.0005
    reference: bool = False

    def __post_init__(self) -> None:
        faults: list[str] = []
        if not self.bands_hz or any(not 0 < low < high for low, high in self.bands_hz):
            faults.append("bands_hz: each band needs 0 < low < high")
        if len(self.band_db) > len(self.bands_hz) or any(db < 0 for db in self.band_db):
            faults.append("band_db: 0 or more, at most one for each band")
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
"""Below this many samples a second the detector uses `adapt_to_rate`'s settings."""
SLOW_LOW_HZ = 150.0


def adapt_to_rate(settings: StrikeSettings, rate: float) -> StrikeSettings:
    """Return `settings` adapted to `rate` samples a second; unchanged from 2000 on.

    Below that rate two bands no longer fit, and the remaining one must reach down to where a stroke still has its
    energy. A hop is at least one sample, and waits are at least whole hops. Chosen on simulated piezos only (`python
    tests/tools/measure_slow.py`).
    """
    if rate >= SLOW_HZ:
        return settings
    hop, bands = 1.0 / rate, settings.bands_hz
    low, high = min(low for low, _ in bands), max(high for _, high in bands)
    return replace(
        settings,
        bands_hz=((min(low, SLOW_LOW_HZ), high),),
        band_db=(),
        suspect_db=0.0,  # a hand under a pad does not show at these rates, so a disc that rests is no suspect
        hop_s=max(settings.hop_s, hop),
        wait_s=max(settings.wait_s, 2.0 * hop),
        doubt_s=max(settings.doubt_s, hop),
    )


FSR_SETTINGS = StrikeSettings(
    bands_hz=((70.0, 400.0),),
    band_db=(),
    hop_s=0.001,
    floor_full=19 / 2048,
    peak_db=13.0,
    dominance_db=6.0,
    suspect_db=0.0,
    wait_s=0.004,
    doubt_s=0.002,
)
"""Settings for force sensors. Cloth removes the click of a stroke, and a hand set down shows on a force sensor, too.
The band begins where a hand has little energy left, and the smallest floor is that energy; softer strokes go
undetected. Chosen on simulated sensors only (`python tests/tools/measure_fsr.py`)."""

SETTINGS_BY_SENSOR = {"piezo": StrikeSettings(), "fsr": FSR_SETTINGS}
"""The settings for each kind of sensor."""
