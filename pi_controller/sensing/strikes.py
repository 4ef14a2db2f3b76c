"""Strike detector: turns piezo samples of one to eight pads into one `Strike` for each stroke of the stick.

A stroke is recognised by comparing a few milliseconds with the earlier signal and with the other pads:

* it is above the pad's own *floor*, an order statistic of the last 400 ms (hum, noise, far drums);
* it *rises*: it is above the same pad's signal just before (cloth rubbed, a hand pressed, a drum ringing on);
* it *dominates*: it is above the other pads, each relative to its own floor (a drum shakes all pads alike, and a
  struck pad reaches its neighbours 20 dB and more below);
* two pads that are both far above all others were both struck, and are reported in the order of arrival.

While no hit is due, beats that nearly pass tell how much a stroke has to exceed later (`drum_listener`).

A strong stroke is decided at once; a faint one may gather evidence for five milliseconds. Decisions depend on the
samples alone, never on how the stream was cut into blocks, and only on samples up to the one a decision is stamped
with. The parameters are in `StrikeSettings`. `faults` names the channels that cannot be trusted.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_field
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from pi_controller.board.messages import Piezo
from pi_controller.errors import SettingsError
from pi_controller.sensing.drum_listener import LISTEN_DB, DrumListener
from pi_controller.sensing.events import Strike
from pi_controller.sensing.faults import ChannelMonitor
from pi_controller.sensing.filters import LOOK_AHEAD, StrikeFilter, is_spike
from pi_controller.sensing.strike_settings import SLOW_HZ, StrikeSettings, adapt_to_rate


@dataclass(frozen=True, slots=True)
class StrikeDecision:
    """One stroke: pads (1 first) in order of arrival, sample numbers counted from the first sample ever fed.

    `Strike` has the host's times instead.

    `onsets` are the sample numbers at which each was touched, `decided_index` the number of samples fed when the
    decision was made. `margin_db` is the smallest margin of all comparisons; `sure` is false if it is too small, if the
    order of two pads is unclear, or if a faulty channel leaves a doubt.
    """

    pads: tuple[int, ...]
    onsets: tuple[int, ...]
    decided_index: int
    margin_db: float
    sure: bool

    @property
    def pad(self) -> int:
        """The first pad struck."""
        return self.pads[0]

    @property
    def onset_index(self) -> int:
        """The sample number at which that pad was touched."""
        return self.onsets[0]


__all__ = ["StrikeDecision", "StrikeDetector", "StrikeSettings"]

# In hops (of half a millisecond with a piezo):
MEAN_HOPS = 8  # length of the mean
REACH_HOPS = 10  # longest time from a stroke's first touch to its decision; earlier hops are "before"
RISE_HOPS = 40  # a stroke exceeds all of these hops before it by `rise_db`
STAND_HOPS = 100  # and three quarters of these by `stand_db`
FLOOR_HOPS = 64  # between two updates of the floor
HEALTH_FLOORS = 4  # floor updates between two checks of the channels' health
CHUNK_HOPS = 1024  # processed at once
MIN_RATE_HZ = 900.0  # samples a second: with fewer one soft stroke in five goes undetected
MAX_BACKLOG_S = 0.128  # seconds of samples that may wait while no strike is to be reported
MAX_QUIET_S = 0.032  # ... and while one is, but nothing stirs
STIR_RATIO = 2.2  # times a channel's usual energy: a block that has more is processed at once
STIR_BLOCKS = 2  # and so are those after it: a stroke is decided within 10 ms of its first touch
USUAL_SHARE = 0.06  # weight of a quiet block in the usual energy
STIRRED_SHARE = 0.01  # ... and of another
MIN_QUIET_SAMPLES = 16  # of a shorter block the energy says little
LOUD_DB = 15.0  # no drum is so far above the thresholds in time: `band_db` does not apply to the lead then
FELT_HOPS = 4  # from its first touch until a stroke can be decided: the wait for drums
SETTLE_HOPS = 20  # from then until a stroke has reached its full height
TINY = 1e-12  # keeps logarithms finite on an input that is cut off
PRETEST_FACTOR = 1.0 - 1e-9  # of a threshold, for a first test; the exact comparison is in dB
STILL = 1e-6  # energy of an input that rests on one count, in counts squared
DOUBT_DB = 10.0  # lead required to be sure while a stroke on a doubtful pad may reach only other pads
SHAKEN_TIMES = 10.0  # times the least movement: a drum shakes a pad so that all should feel it
OWN_HOPS = 10  # around a channel's loudest hop, in which it is compared with the others
MOVED_RATIO = 8.0  # energy of a channel that moves above its floor, which noise does not reach
TOUCH_HOPS = 120  # before a stroke in which a softer one, of a pad that was touched on the way, takes away `sure`
TOUCH_DB = 3.0  # by how much that one may fail each comparison
SPIKE_MARGIN = 8  # samples before a stroke's first touch that show the pad's rest level
FLICKER = 0.5  # energy of white noise above that of a flickering last count (a quarter), in counts squared


def _db(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    return 10.0 * np.log10(ratio)


def _ratio(db: float) -> float:
    return 10.0 ** (db / 10.0)


class BandEnergy(NamedTuple):
    """Energies in one band, (pads,) each: the peak and the mean of the last hops, the floor, and those before.

    `risen` is the maximum shortly before the stroke, `stood` the upper quartile of a longer time.
    """

    peak: NDArray[np.float64]
    mean: NDArray[np.float64]
    floor: NDArray[np.float64]
    risen: NDArray[np.float64]
    stood: NDArray[np.float64]

    @property
    def above(self) -> NDArray[np.float64]:
        """How many times the mean exceeds the floor."""
        return self.mean / self.floor

    @property
    def ratios(self) -> NDArray[np.float64]:
        """What must exceed the thresholds, (4, pads): peak and mean above the floor, peak above the time before."""
        return np.stack((self.peak / self.floor, self.above, self.peak / self.risen, self.peak / self.stood))


class StrikeDetector:
    """Detects strokes in a stream of samples, and the pad struck first. See the module's docstring."""

    def __init__(
        self,
        rate: float,
        pads: int,
        full_scale: float = 2048,
        settings: StrikeSettings = StrikeSettings(),  # noqa: B008 - frozen
    ) -> None:
        """Take `rate` samples a second (2000 to 8000; from 1000 on with `adapt_to_rate`'s settings) and `pads`, 1 to 8.

        `full_scale` is the rail in the samples' own unit.

        With `reference` in the settings the last of the `pads` channels is the disc on the frame. Raises
        `SettingsError` for other values.
        """
        if not MIN_RATE_HZ <= rate <= 8500:
            raise SettingsError(f"The strike detector does not support {rate:g} samples a second.", "Use 1000 to 8000.")
        if not 1 <= pads <= 8:
            raise SettingsError(f"The strike detector does not support {pads} pads.", "Use 1 to 8.")
        if not (full_scale > 0 and math.isfinite(full_scale)):
            raise SettingsError(
                f"The full scale {full_scale:g} is not a positive number.", "Use the count of the rail."
            )
        if settings.reference and pads < 2:
            raise SettingsError("A disc on the frame alone detects no strikes.", "Add the pads' channels before it.")
        settings = adapt_to_rate(settings, rate)
        self.rate, self.pads, self.settings = float(rate), pads, settings
        s = settings
        self._struck_pads = pads - s.reference
        # a converter's step; finer than 16 bits is never real, and a full scale of 1.0 is no count
        lsb = max(1.0, full_scale / 32768) if full_scale >= 128 else full_scale / 32768
        bands = [b for b in s.bands_hz if b[0] < 0.3 * rate] or list(s.bands_hz[:1])
        self._filter = StrikeFilter(rate, pads, bands, 2.0 * lsb, s.hop_s)
        of_band = dict(zip(s.bands_hz, s.band_db, strict=False))
        self._band_db = [of_band.get(b, 0.0) if pads > 2 else 0.0 for b in self._filter.bands_hz]
        self._hop = self._filter.hop
        self._least = max(s.floor_lsb * lsb, s.floor_full * full_scale) ** 2
        # ten bits rest on one count for minutes while the pad is untouched: stillness is no fault then
        coarse = rate < SLOW_HZ and 128 <= full_scale < 2048
        self._still = -1.0 if coarse else STILL * lsb * lsb
        more = s.alone_db * max(0, 3 - pads) / 2 + s.slow_db * max(0.0, math.log2(4000 / rate))
        self._shipped_db = np.array([[s.peak_db], [s.mean_db], [s.rise_db], [s.stand_db]]) + more
        self._drums = DrumListener(pads)
        self._set_thresholds(0.0)
        self._escape = _ratio(s.escape_db)
        self._keep = round(s.floor_s / s.hop_s)
        self._lockout = round(s.lockout_s / s.hop_s)
        self._wait = round(s.wait_s / s.hop_s) if pads > 1 else 0
        self._doubt = round(s.doubt_s / s.hop_s) if pads > 1 else 0
        self._stay = max(self._keep, self._lockout + SETTLE_HOPS, STAND_HOPS) + 2 * REACH_HOPS + FLOOR_HOPS
        self._p = np.zeros((len(bands), pads, self._stay + CHUNK_HOPS))  # energy of each hop
        self._e = np.zeros_like(self._p)  # mean of that hop and the one before
        flicker = FLICKER * lsb * lsb * self._filter.share_of_white
        self._watch = ChannelMonitor(
            pads, rate, HEALTH_FLOORS * FLOOR_HOPS * s.hop_s, full_scale, flicker, CHUNK_HOPS * self._hop
        )
        self._waiting: list[NDArray[Any]] = []
        self._waiting_samples = 0
        self._usual: NDArray[np.float64] | None = None  # energy of a quiet block's differences, (pads,)
        self._stirred = 0  # blocks to come that are processed at once
        self._host_s = 0.0  # host time of sample number 0
        self._armed = True
        self._armed_from = 0
        self._fed = 0
        self._next_index: int | None = None
        self._restart()

    def _set_thresholds(self, lower_db: float) -> None:
        """Lower all comparisons, so that beats of drums that nearly pass are noted while no hit is due."""
        self._lower_db = lower_db
        self._thresholds_db = self._shipped_db - lower_db
        self._over, self._mean, self._rise, self._stand = (
            PRETEST_FACTOR * float(_ratio(db)) for db in self._thresholds_db[:, 0].tolist()
        )

    def _restart(self) -> None:
        self._filter.reset()
        self._origin = self._fed
        self._n = 0  # hops so far
        self._base = 0  # the hop in column 0
        self._floor: NDArray[np.float64] | None = None
        self._bar = np.zeros((0, 0, 1))  # energy that passes `peak_db`
        self._last_over = -REACH_HOPS - 1
        self._struck = (0, 0)  # hops from and to which the last stroke rose
        self._locked = 0

    @property
    def reporting_enabled(self) -> bool:
        """True if strikes are reported. Floors are kept either way; a stroke under way when armed is not reported."""
        return self._armed

    @reporting_enabled.setter
    def reporting_enabled(self, value: bool) -> None:
        if value == self._armed:
            return
        self.finish()
        if value:
            self._armed_from = self._fed + round(self.settings.arm_guard_s * self.rate)
        self._armed = value
        self._set_thresholds(0.0 if value else LISTEN_DB)
        if self._floor is not None:
            self._bar = (self._floor * self._over)[:, :, None]

    def take_gap(self) -> list[Strike]:
        """Restart after missing samples, so that no stroke is detected across the gap; return those before it."""
        found = self._to_strikes(self.finish())
        self._restart()
        self._watch.restart(self._fed)
        self._next_index = None
        return found

    def note_hand(self, pad: int, *, under: bool = True) -> None:
        """Note that a hand went under `pad` (1 first), which its disc should feel now and then, or left it."""
        if pad > self._struck_pads:
            return
        self._drums.note_hand(pad - 1, under=under)
        if under:
            self._watch.note_hand(pad - 1)

    @property
    def faults(self) -> dict[int, str]:
        """The pads with a faulty channel and its fault, as in `ChannelMonitor.faults`, or that answer the drums."""
        return dict.fromkeys((pad + 1 for pad in self._drums.answering), "answering the drums") | self._watch.faults

    def feed(self, piezo: Piezo) -> list[Strike]:
        """Process a block; return the strikes it completes, in host time. A jump in the block's index is a gap."""
        strikes: list[Strike] = []
        if self._next_index is not None and piezo.index != self._next_index:
            strikes += self.take_gap()
        self._next_index = piezo.index + len(piezo.samples)
        self._host_s = piezo.t - (self._fed + self._waiting_samples) / self.rate
        return strikes + self._to_strikes(self.feed_samples(piezo.samples))

    def feed_samples(self, x: ArrayLike) -> list[StrikeDecision]:
        """Process samples `x` (n, pads) in counts; return the decisions. Raises `SettingsError` for another shape.

        A larger batch costs a fraction, so blocks wait for the next while no strike is reported, and for `MAX_QUIET_S`
        at most while nothing stirs.
        """
        x = np.asarray(x)
        if x.ndim != 2 or x.shape[1] != self.pads:
            raise SettingsError(f"Samples of shape {x.shape} do not fit {self.pads} pads.", "Feed (samples, pads).")
        wait_s = MAX_BACKLOG_S if not self._armed else 0.0 if self._stirs(x) else MAX_QUIET_S
        self._waiting.append(x.copy() if wait_s else x)
        self._waiting_samples += len(x)
        return self.finish() if self._waiting_samples >= wait_s * self.rate else []

    def _stirs(self, x: NDArray[Any]) -> bool:
        """Return True if a stroke may have begun in the block `x` or shortly before. Noise alone seldom looks so.

        No decision depends on it, only when it is made.
        """
        if len(x) < MIN_QUIET_SAMPLES:
            return True
        moves = x[1:].astype(np.float64)
        moves -= x[:-1]
        energy = np.einsum("ij,ij->j", moves, moves) / len(moves)
        usual = energy if self._usual is None else self._usual
        stirs = bool((energy > STIR_RATIO * usual + self._least).any())
        self._stirred = STIR_BLOCKS if stirs else max(self._stirred - 1, 0)
        self._usual = usual + (STIRRED_SHARE if stirs else USUAL_SHARE) * (energy - usual)
        return stirs or self._stirred > 0

    def _to_strikes(self, found: Iterable[StrikeDecision]) -> list[Strike]:
        """Return `found` in host time."""
        strikes: list[Strike] = []
        for d in found:
            times = tuple(self._host_s + onset / self.rate for onset in d.onsets)
            several = times if len(times) > 1 else ()
            first = self._host_s + d.onset_index / self.rate
            strikes.append(Strike(first, d.pads, round(d.margin_db, 1), d.sure, several))
        return strikes

    def finish(self) -> list[StrikeDecision]:
        """Process the samples that wait for more, at the end of a recording for instance; return the decisions."""
        if not self._waiting:
            return []
        waiting, self._waiting, self._waiting_samples = self._waiting, [], 0
        return self._detect(np.concatenate(waiting) if len(waiting) > 1 else waiting[0])

    def _detect(self, x: NDArray[Any]) -> list[StrikeDecision]:
        out: list[StrikeDecision] = []
        step = CHUNK_HOPS * self._hop
        for i in range(0, len(x), step):
            part = x[i : i + step]
            hops = self._filter.feed(part)
            self._watch.feed(part, self._fed)
            self._fed += len(part)
            if hops.shape[2]:
                self._take(hops, out)
        return out

    def _take(self, hops: NDArray[np.float64], out: list[StrikeDecision]) -> None:
        k = hops.shape[2]
        at = self._n - self._base
        p, e = self._p, self._e
        if at + k > p.shape[2]:
            p[:, :, : self._stay] = p[:, :, at - self._stay : at]
            e[:, :, : self._stay] = e[:, :, at - self._stay : at]
            self._base = self._n - self._stay
            at = self._stay
        p[:, :, at : at + k] = hops
        if at == 0:
            e[:, :, 0] = hops[:, :, 0]
        first = max(at, 1)
        e[:, :, first : at + k] = 0.5 * (p[:, :, first : at + k] + p[:, :, first - 1 : at + k - 1])
        hop, end = self._n, self._n + k
        while hop < end:
            if hop % FLOOR_HOPS == 0 and hop:
                self._update_floor(hop)
            until = min(end, (hop // FLOOR_HOPS + 1) * FLOOR_HOPS)
            if not self._armed:
                self._drums.listen((until - hop) * self.settings.hop_s)
            if self._floor is not None:
                self._scan_hops(hop, until, self._floor, out)
            hop = until
        self._n = end

    def _update_floor(self, hop: int) -> None:
        """Update the floors from every fourth of the hops before `hop`."""
        at = hop - self._base
        past = self._e[:, :, max(0, at - self._keep) : at : 4]
        rank = int(self.settings.floor_rank * (past.shape[2] - 1))
        floor = np.partition(past, rank, axis=2)[:, :, rank]
        if hop % (HEALTH_FLOORS * FLOOR_HOPS) == 0:
            if self._floor is not None:
                self._note_movement(hop - HEALTH_FLOORS * FLOOR_HOPS, hop, self._floor)
            still = np.add.reduce(past[0] < self._still, axis=1) / past.shape[2]
            self._watch.update(self._origin + hop * self._hop, floor, self._least, still, self._filter.hum_rms)
        if self._watch.held_floor is not None:
            floor = np.maximum(floor, self._watch.held_floor)
        floor = np.maximum(floor, self._least)
        self._floor, self._bar = floor, (floor * self._over)[:, :, None]

    def _note_movement(self, first: int, until: int, floor: NDArray[np.float64]) -> list[bool]:
        """Tell the monitor which channels moved in these hops, and so are connected; return which may have moved."""
        least = np.maximum(floor * MOVED_RATIO, self._watch.least_movement)[:, :, None]
        times = np.maximum.reduce(self._e[:, :, first - self._base : until - self._base] / least, axis=0)
        moved, may_have = [False] * self.pads, [False] * self.pads
        for pad in np.flatnonzero(np.maximum.reduce(times, axis=1) > 1).tolist():
            at = self._origin + (first + int(times[pad].argmax())) * self._hop
            own = self._watch.own_share(pad, at - OWN_HOPS * self._hop, at + OWN_HOPS * self._hop)
            moved[pad] = own is not None and bool(times[pad].max() * own > 1)
            may_have[pad] = moved[pad] or own is None
        self._watch.note_movement(moved, shaken=int((np.maximum.reduce(times, axis=1) > SHAKEN_TIMES).sum()))
        return may_have

    def _scan_hops(self, first: int, until: int, floor: NDArray[np.float64], out: list[StrikeDecision]) -> None:
        """Judge the hops above the floor, and the few after them."""
        above = self._e[:, :, first - self._base : until - self._base] > self._bar
        if first > self._last_over + REACH_HOPS and not above.any():
            return
        over: list[bool] = np.logical_or.reduce(above, axis=(0, 1)).tolist()
        worth = self._worth_judging(first, until, floor)
        for hop in range(first, until):
            if over[hop - first]:
                self._last_over = hop
            if not worth[hop - first] or hop > self._last_over + REACH_HOPS:
                continue
            if hop < self._locked and not self._escapes(hop):
                continue
            found = self._judge(hop, floor)
            if found is None:
                continue
            if not self._armed:
                self._drums.note_beat(found.pad - 1, (until - hop) * self.settings.hop_s, found.margin_db)
                if found.margin_db <= 0:
                    continue
            elif found.margin_db < self._drums.least_margin_db(found.pad - 1):
                if found.pad - 1 in self._drums.answering:
                    continue
                found = replace_field(found, sure=False)
            felt = self._note_movement(hop + 1 - REACH_HOPS, hop + 1, floor)
            self._watch.note_strike([pad - 1 for pad in found.pads], felt)
            if found.sure and self._is_doubtful(found, floor):
                found = replace_field(found, sure=False)
            touched = (min(found.onsets) + LOOK_AHEAD - self._origin) // self._hop
            self._struck = hop - REACH_HOPS, min(hop, touched + FELT_HOPS) + SETTLE_HOPS
            self._locked = hop + self._lockout
            if self._armed and found.onset_index >= self._armed_from:
                out.append(found)

    def _worth_judging(self, first: int, until: int, floor: NDArray[np.float64]) -> list[bool]:
        """Return for each hop whether a pad may pass the first three comparisons: quick, and slightly too lenient."""
        n, at = until - first, first - self._base + 1  # no hop is judged before the first `FLOOR_HOPS`
        e, p = self._e[:, :, at - REACH_HOPS - RISE_HOPS : at + n - 1], self._p[:, :, at - MEAN_HOPS : at + n - 1]
        # the greatest of 2, 4, 8 and so on that begin at each hop
        two = np.maximum(e[:, :, 1:], e[:, :, :-1])
        four = np.maximum(two[:, :, 2:], two[:, :, :-2])
        eight = np.maximum(four[:, :, 4:], four[:, :, :-4])
        peak = np.maximum(eight[:, :, RISE_HOPS + 2 :], eight[:, :, RISE_HOPS:-2]) + TINY
        passed = peak > self._bar
        if not passed.any():
            return [False] * n
        sixteen = np.maximum(eight[:, :, 8:], eight[:, :, :-8])
        risen = np.maximum(sixteen[:, :, :n], sixteen[:, :, 16 : n + 16])
        np.maximum(risen, eight[:, :, RISE_HOPS - 8 : RISE_HOPS - 8 + n], out=risen)
        passed &= peak > np.maximum(risen, self._least) * (self._rise * PRETEST_FACTOR)
        pairs = p[:, :, 1:] + p[:, :, :-1]
        fours = pairs[:, :, 2:] + pairs[:, :, :-2]
        mean = (fours[:, :, 4:] + fours[:, :, :-4]) / MEAN_HOPS + TINY
        passed &= mean > (floor * (self._mean * PRETEST_FACTOR))[:, :, None]
        return np.logical_or.reduce(passed, axis=(0, 1)).tolist()

    def _escapes(self, hop: int) -> bool:
        """Return True for a blow far stronger than the stroke before, which was a brush; both are reported."""
        since, settled = (h - self._base for h in self._struck)
        at = hop - self._base
        if at <= settled:
            return False
        before = float(np.max(self._e[:, :, max(0, since) : settled]))
        return float(np.max(self._e[:, :, at])) > self._escape * before

    def _judge(self, hop: int, floor: NDArray[np.float64]) -> StrikeDecision | None:
        """Return the stroke decided in this hop, from the band with the largest margin; None for no stroke."""
        at = hop - self._base + 1
        # the cheap tests first: they reject most drum beats
        peak = np.maximum.reduce(self._e[:, :, at - REACH_HOPS : at], axis=2) + TINY
        passed = peak > self._bar[:, :, 0]
        if not passed.any():
            return None
        mean = np.add.reduce(self._p[:, :, at - MEAN_HOPS : at], axis=2) / MEAN_HOPS + TINY
        passed &= mean > floor * self._mean
        passed[:, self._struck_pads :] = False
        if not passed.any():
            return None
        before = self._e[:, :, max(0, at - REACH_HOPS - STAND_HOPS) : at - REACH_HOPS]
        risen = np.maximum(np.maximum.reduce(before[:, :, -RISE_HOPS:], axis=2), self._least)
        passed &= peak > risen * self._rise
        if not passed.any():
            return None
        able = ~self._watch.saturated_channels(self._origin + (hop + 1) * self._hop)
        able[self._struck_pads :] = False
        passed &= able
        best: StrikeDecision | None = None
        for band in np.flatnonzero(passed.any(axis=1)):
            rank = int(0.75 * (before.shape[2] - 1))
            stood = np.maximum(np.partition(before[band], rank, axis=1)[:, rank], self._least)
            if not (passed[band] & (peak[band] > stood * self._stand)).any():
                continue
            energy = BandEnergy(peak[band], mean[band], floor[band], risen[band], stood)
            found = self._judge_band(hop, int(band), able, energy)
            if found is not None and (best is None or found.margin_db > best.margin_db):
                best = found
        return best

    def _judge_band(
        self,
        hop: int,
        band: int,
        able: NDArray[np.bool_],
        energy: BandEnergy,
    ) -> StrikeDecision | None:
        """Return the stroke decided in `band`, or None; `able` (pads,) are the channels that can detect one."""
        s, watch = self.settings, self._watch
        at = hop - self._base + 1
        mean, above = energy.mean, energy.above
        margins = (_db(energy.ratios) - self._thresholds_db).min(axis=0) - self._band_db[band]
        passed = (margins > 0) & able
        if not passed.any():
            return None
        # the pad highest above its floor, unless it only vibrated with a louder neighbour
        struck, lead = self._find_struck_pads(energy, int(np.argmax(np.where(passed, above, 0.0))))
        if not struck:
            struck, lead = self._find_struck_pads(energy, int(np.argmax(np.where(passed, mean, 0.0))))
        if not struck or not passed[struck].all():
            return None
        margin = float(margins[struck].min())
        margin = min(margin, lead - (self._band_db[band] if margin < LOUD_DB else 0.0))
        if margin <= 0:
            return None
        hops = self._p[band]
        starts = {j: self._start(at, hops[j], energy.floor[j], energy.peak[j]) for j in struck}
        wait = self._wait if margin >= s.clear_db else self._wait + self._doubt
        first = min(starts.values())
        if hop - first < wait or self._is_spike(struck, first, hop + 1):
            return None
        struck.sort(key=lambda j: (starts[j], -above[j]))
        others = np.delete(mean, struck)
        apart = not len(others) or bool(mean[struck].min() >= _ratio(s.sure_raw_db) * others.max())
        margin -= self._lower_db
        sure = margin >= s.sure_db and apart and (len(struck) == 1 or starts[struck[1]] - starts[struck[0]] >= 2)
        if watch.doubtful(struck) or (watch.may_miss_strikes and lead < DOUBT_DB):
            sure = False
        onsets = tuple(self._origin + max(0, starts[j] * self._hop - LOOK_AHEAD) for j in struck)
        return StrikeDecision(tuple(j + 1 for j in struck), onsets, self._origin + (hop + 1) * self._hop, margin, sure)

    def _find_struck_pads(self, energy: BandEnergy, q: int) -> tuple[list[int], float]:
        """Return the struck pads, and by how many dB they exceed the required lead; no pads if none dominates."""
        s, peak, mean, above = self.settings, energy.peak, energy.mean, energy.above
        if self.pads == 1:
            return [q], math.inf
        raw = _db(mean[q] / mean)
        lead = np.maximum(_db(above[q] / above), raw - s.raw_bonus_db) - (s.dominance_db - self._lower_db)
        raw[q] = lead[q] = math.inf
        if _db(peak[q] / peak).min() < -s.least_raw_db:
            return [], 0.0
        near = np.flatnonzero(lead <= 0)
        if not len(near):
            return [q], float(lead.min())
        if len(near) > 1 or self._struck_pads < 3:
            return [], 0.0
        both = [q, int(near[0])]
        if both[1] >= self._struck_pads:
            return [], 0.0  # the frame vibrated as much
        others = np.delete(np.arange(self.pads), both)
        towering = np.minimum(_db(above[both].min() / above[others]), _db(mean[both].min() / mean[others])).min()
        return (both, float(towering) - s.double_db) if towering > s.double_db else ([], 0.0)

    def _is_spike(self, struck: Sequence[int], first: int, end: int) -> bool:
        """Return True if the samples from hop `first` to `end` may be no more than a spike of the converter."""
        start = self._origin + first * self._hop - LOOK_AHEAD - 2 * SPIKE_MARGIN
        x = self._watch.recent_samples(max(start, self._origin), self._origin + end * self._hop)
        return any(is_spike(x[:, j], SPIKE_MARGIN) for j in struck)

    def _is_doubtful(self, found: StrikeDecision, floor: NDArray[np.float64]) -> bool:
        """Return True if another pad may have been struck first: one touched softly before, or one with a dead disc."""
        suspect_db = self.settings.suspect_db
        if suspect_db > 0 and self._watch.may_hide_strike([pad - 1 for pad in found.pads], found.margin_db, suspect_db):
            return True
        others = [j for j in range(self._struck_pads) if j + 1 not in found.pads]
        end = (found.onset_index - self._origin) // self._hop - self._base - REACH_HOPS
        start = end - TOUCH_HOPS - REACH_HOPS - RISE_HOPS
        if start < 0 or not others or self._base + end < self._locked:  # a brush before a blow has been told
            return False
        e, p = self._e[:, :, start:end], self._p[:, :, start:end]
        peak = sliding_window_view(e[:, :, RISE_HOPS:], REACH_HOPS, axis=2).max(axis=3) + TINY
        risen = sliding_window_view(e[:, :, :-REACH_HOPS], RISE_HOPS, axis=2).max(axis=3)
        mean = sliding_window_view(p[:, :, RISE_HOPS + REACH_HOPS - MEAN_HOPS :], MEAN_HOPS, axis=2).mean(axis=3) + TINY
        above = mean / floor[:, :, None]
        over, means, rise = (_ratio(db - TOUCH_DB) for db in self._thresholds_db[:3, 0].tolist())
        least = np.maximum(floor * over, self._watch.least_movement)[:, :, None]
        passed = (peak > least) & (above > means) & (peak > np.maximum(risen, self._least) * rise)
        lead = _ratio(self.settings.dominance_db - TOUCH_DB)
        return any(
            bool((passed[:, j] & (above[:, j] > lead * np.delete(above, j, axis=1).max(axis=1))).any()) for j in others
        )

    def _start(self, at: int, hops: NDArray[np.float64], floor: float, peak: float) -> int:
        """Return the hop in which the pad was first touched."""
        first = at - REACH_HOPS - 2
        return self._base + first + int(np.argmax(hops[first:at] > max(8.0 * floor, peak / 16.0)))
