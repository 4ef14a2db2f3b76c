"""Strike detector: piezo samples of one to eight pads in, one `Strike` out for each stroke of the stick.

A stroke is told from everything else by comparing a few milliseconds with what the same signals were before and beside:

* it stands above the pad's own *floor*, an order statistic of the last 400 ms (hum, noise, far drums);
* it *rises*: it stands above what the same pad did just before (cloth rubbed, a hand pressed, a drum ringing on);
* it *dominates*: it stands above the other pads, each measured by its own floor (a drum shakes all pads alike, and a
  struck pad is felt in its neighbours 20 dB and more below);
* two pads that tower together over all the others were both struck, and are reported in the order of arrival.

A strong stroke passes as soon as it is felt; a faint one may gather evidence for five milliseconds. Decisions depend on
the samples alone, never on how the stream was cut into blocks, and nothing later than the sample a decision is stamped
with has any part in it. The figures are in `StrikeSettings`. A channel that cannot be trusted is named in `faults`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.errors import SettingsError
from pi_controller.mat.events import Strike
from pi_controller.mat.strike_decision import Decision
from pi_controller.mat.strike_faults import ChannelWatch
from pi_controller.mat.strike_filter import LOOK_AHEAD, StrikeFilter
from pi_controller.mat.strike_settings import SLOW_HZ, StrikeSettings, at_rate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pi_controller.link.messages import Piezo

__all__ = ["Decision", "StrikeDetector", "StrikeSettings"]

# In hops (of half a millisecond with a piezo):
WINDOW = 8  # what the mean is taken over
REACH = 10  # from a stroke's first touch to its decision at most; what came earlier is "before"
RISE = 40  # nothing in these before came near
STAND = 100  # nor three quarters of these
RENEW = 64  # from one floor to the next
LOOK = 4  # floors from one look at the channels' health to the next
CHUNK = 1024  # worked on at once
LEAST_HZ = 900.0  # samples a second: with fewer one soft stroke in five goes unfelt
PATIENCE = 0.128  # seconds that may wait while no strike is to be reported
SETTLE = 20  # until a stroke has reached its full height
TINY = 1e-12  # keeps logarithms finite on an input that is cut off
ALMOST = 1.0 - 1e-9  # of a threshold: what passes is then compared in dB
STILL = 1e-6  # energy of an input that rests on one count, in counts squared
DOUBT_DB = 10.0  # more lead is asked for to be sure, while a stroke on a doubtful pad may be felt by others alone
FLICKER = 0.5  # energy of white noise above that of a last count that flickers (a quarter), in counts squared


def _db(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    return 10.0 * np.log10(ratio)


def _ratio(db: float) -> float:
    return 10.0 ** (db / 10.0)


class StrikeDetector:
    """Detects strokes in a stream of samples, and which pad was struck first. See the module's docstring."""

    def __init__(
        self,
        rate: float,
        pads: int,
        full_scale: float = 2048,
        settings: StrikeSettings = StrikeSettings(),  # noqa: B008 - frozen
    ) -> None:
        """`rate` samples a second (2000 to 8000; from 1000 on with `at_rate`'s settings), `pads` 1 to 8.

        `full_scale` is the rail in the samples' own unit.

        With `settings.reference` the last of the `pads` channels is the disc on the frame. Raises `SettingsError`
        outside of that.
        """
        if not LEAST_HZ <= rate <= 8500:
            raise SettingsError(f"Strikes cannot be felt at {rate:g} samples a second.", "Use 1000 to 8000.")
        if not 1 <= pads <= 8:
            raise SettingsError(f"{pads} pads cannot be listened to.", "Use 1 to 8.")
        if not (full_scale > 0 and math.isfinite(full_scale)):
            raise SettingsError(f"A full scale of {full_scale:g} makes no sense.", "Use the count of the rail.")
        if settings.reference and pads < 2:
            raise SettingsError("A disc on the frame alone feels no pad.", "Add the pads' channels before it.")
        settings = at_rate(settings, rate)
        self.rate, self.pads, self.settings = float(rate), pads, settings
        s = settings
        self._struck_pads = pads - s.reference
        # a converter's step; finer than 16 bits is never real, and a full scale of 1.0 is no count
        lsb = max(1.0, full_scale / 32768) if full_scale >= 128 else full_scale / 32768
        bands = [b for b in s.bands_hz if b[0] < 0.3 * rate] or list(s.bands_hz[:1])
        self._filter = StrikeFilter(rate, pads, bands, 2.0 * lsb, s.hop_s)
        self._hop = self._filter.hop
        self._least = max(s.floor_lsb * lsb, s.floor_full * full_scale) ** 2
        # ten bits rest on one count for minutes where nothing touches the pad: stillness says nothing then
        coarse = rate < SLOW_HZ and 128 <= full_scale < 2048
        self._still = -1.0 if coarse else STILL * lsb * lsb
        more = s.alone_db * max(0, 3 - pads) / 2 + s.slow_db * max(0.0, math.log2(4000 / rate))
        self._thresholds_db = np.array([[s.peak_db], [s.mean_db], [s.rise_db], [s.stand_db]]) + more
        self._over, self._mean, self._rise, self._stand = (
            ALMOST * float(_ratio(db)) for db in self._thresholds_db[:, 0].tolist()
        )
        self._escape = _ratio(s.escape_db)
        self._keep = round(s.floor_s / s.hop_s)
        self._lockout = round(s.lockout_s / s.hop_s)
        self._wait = round(s.wait_s / s.hop_s) if pads > 1 else 0
        self._doubt = round(s.doubt_s / s.hop_s) if pads > 1 else 0
        self._stay = max(self._keep, self._lockout + SETTLE, STAND) + 2 * REACH + RENEW
        self._p = np.zeros((len(bands), pads, self._stay + CHUNK))  # energy of each hop
        self._e = np.zeros_like(self._p)  # mean of that hop and the one before
        flicker = FLICKER * lsb * lsb * self._filter.share_of_white
        self._watch = ChannelWatch(pads, rate, LOOK * RENEW * s.hop_s, full_scale, flicker, CHUNK * self._hop)
        self._unheard: list[NDArray[Any]] = []
        self._armed = True
        self._armed_from = 0
        self._fed = 0
        self._next_index: int | None = None
        self._restart()

    def _restart(self) -> None:
        self._filter.reset()
        self._origin = self._fed
        self._n = 0  # hops so far
        self._base = 0  # the hop in column 0
        self._floor: NDArray[np.float64] | None = None
        self._bar = np.zeros((0, 0, 1))  # what stands over its floor stands above this
        self._last_over = -REACH - 1
        self._struck = (0, 0)  # hops from and to which the last stroke rose
        self._locked = 0

    @property
    def armed(self) -> bool:
        """Whether strikes are reported. Floors are kept either way; a stroke under way when armed is not reported."""
        return self._armed

    @armed.setter
    def armed(self, value: bool) -> None:
        if value and not self._armed:
            self._catch_up()
            self._armed_from = self._fed + round(self.settings.arm_guard_s * self.rate)
        self._armed = value

    def gap(self) -> None:
        """Samples are missing here: start afresh, so that nothing is ever felt across the gap."""
        self._catch_up()
        self._restart()
        self._watch.restart(self._fed)
        self._next_index = None

    @property
    def faults(self) -> dict[int, str]:
        """Pad -> what is wrong with its channel ("silent", "at its rail", "noisy", "samples are missing")."""
        return self._watch.faults

    def feed(self, piezo: Piezo) -> list[Strike]:
        """Strikes known after this block, on the host's clock. A jump in the block's index is a gap."""
        if self._next_index is not None and piezo.index != self._next_index:
            self.gap()
        start = self._fed
        found = self.feed_samples(piezo.samples)
        self._next_index = piezo.index + len(piezo.samples)
        strikes: list[Strike] = []
        for d in found:
            times = tuple(piezo.t + (onset - start) / self.rate for onset in d.onsets)
            several = times if len(times) > 1 else ()
            strikes.append(
                Strike(piezo.t + (d.onset_index - start) / self.rate, d.pads, round(d.margin_db, 1), d.sure, several)
            )
        return strikes

    def feed_samples(self, x: ArrayLike) -> list[Decision]:
        """`x` (n, pads) in counts; the decisions these samples brought. Raises `SettingsError` for another shape."""
        x = np.asarray(x)
        if x.ndim != 2 or x.shape[1] != self.pads:
            raise SettingsError(f"Samples of shape {x.shape} do not fit {self.pads} pads.", "Feed (samples, pads).")
        if self._armed:
            return self._detect(x)
        # nothing can come of these: they are taken in a good many at once, which costs a fraction
        self._unheard.append(x.copy())
        if sum(map(len, self._unheard)) >= PATIENCE * self.rate:
            self._catch_up()
        return []

    def _catch_up(self) -> None:
        """Take in what came while nothing was to be reported."""
        if self._unheard:
            unheard, self._unheard = self._unheard, []
            self._detect(np.concatenate(unheard))

    def _detect(self, x: NDArray[Any]) -> list[Decision]:
        out: list[Decision] = []
        step = CHUNK * self._hop
        for i in range(0, len(x), step):
            part = x[i : i + step]
            hops = self._filter.feed(part)
            self._watch.feed(part, self._fed)
            self._fed += len(part)
            if hops.shape[2]:
                self._take(hops, out)
        return out

    def _take(self, hops: NDArray[np.float64], out: list[Decision]) -> None:
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
            if hop % RENEW == 0 and hop:
                self._renew(hop)
            until = min(end, (hop // RENEW + 1) * RENEW)
            if self._floor is not None:
                self._look(hop, until, self._floor, out)
            hop = until
        self._n = end

    def _renew(self, hop: int) -> None:
        """The floors, from every fourth of the hops before `hop`."""
        at = hop - self._base
        past = self._e[:, :, max(0, at - self._keep) : at : 4]
        rank = int(self.settings.floor_rank * (past.shape[2] - 1))
        floor = np.partition(past, rank, axis=2)[:, :, rank]
        if hop % (LOOK * RENEW) == 0:
            still = np.add.reduce(past[0] < self._still, axis=1) / past.shape[2]
            self._watch.look(self._origin + hop * self._hop, floor, self._least, still)
        if self._watch.held_floor is not None:
            floor = np.maximum(floor, self._watch.held_floor)
        floor = np.maximum(floor, self._least)
        self._floor, self._bar = floor, (floor * self._over)[:, :, None]

    def _look(self, first: int, until: int, floor: NDArray[np.float64], out: list[Decision]) -> None:
        """Judges the hops in which something stands over its floor, and the few after them."""
        above = self._e[:, :, first - self._base : until - self._base] > self._bar
        if first > self._last_over + REACH and not above.any():
            return
        over: list[bool] = np.logical_or.reduce(above, axis=(0, 1)).tolist()
        worth = self._worth_judging(first, until, floor)
        for hop in range(first, until):
            if over[hop - first]:
                self._last_over = hop
            if not worth[hop - first] or hop > self._last_over + REACH:
                continue
            if hop < self._locked and not self._escapes(hop):
                continue
            found = self._judge(hop, floor)
            if found is not None:
                self._struck, self._locked = (hop - REACH, hop + SETTLE), hop + self._lockout
                self._watch.felt([pad - 1 for pad in found.pads])
                if self._armed and found.onset_index >= self._armed_from:
                    out.append(found)

    def _worth_judging(self, first: int, until: int, floor: NDArray[np.float64]) -> list[bool]:
        """For each hop, whether a pad passes the first three comparisons: all hops at once, and a hair too lenient."""
        n, at = until - first, first - self._base + 1
        if at < REACH + RISE:
            return [True] * n
        e, p = self._e[:, :, at - REACH - RISE : at + n - 1], self._p[:, :, at - WINDOW : at + n - 1]
        # the greatest of 2, 4, 8 and so on that begin at each hop
        two = np.maximum(e[:, :, 1:], e[:, :, :-1])
        four = np.maximum(two[:, :, 2:], two[:, :, :-2])
        eight = np.maximum(four[:, :, 4:], four[:, :, :-4])
        peak = np.maximum(eight[:, :, RISE + 2 :], eight[:, :, RISE:-2]) + TINY
        passed = peak > self._bar
        if not passed.any():
            return [False] * n
        sixteen = np.maximum(eight[:, :, 8:], eight[:, :, :-8])
        risen = np.maximum(sixteen[:, :, :n], sixteen[:, :, 16 : n + 16])
        np.maximum(risen, eight[:, :, RISE - 8 : RISE - 8 + n], out=risen)
        passed &= peak > np.maximum(risen, self._least) * (self._rise * ALMOST)
        pairs = p[:, :, 1:] + p[:, :, :-1]
        fours = pairs[:, :, 2:] + pairs[:, :, :-2]
        mean = (fours[:, :, 4:] + fours[:, :, :-4]) / WINDOW + TINY
        passed &= mean > (floor * (self._mean * ALMOST))[:, :, None]
        return np.logical_or.reduce(passed, axis=(0, 1)).tolist()

    def _escapes(self, hop: int) -> bool:
        """Far stronger than the stroke that locked: that one was a brush before the blow, and both are reported."""
        since, settled = (h - self._base for h in self._struck)
        at = hop - self._base
        if at <= settled:
            return False
        before = float(np.max(self._e[:, :, max(0, since) : settled]))
        return float(np.max(self._e[:, :, at])) > self._escape * before

    def _judge(self, hop: int, floor: NDArray[np.float64]) -> Decision | None:
        """The stroke that is known in this hop: by the band that shows it best."""
        at = hop - self._base + 1
        if at < REACH + RISE // 2:
            return None
        # first what is cheap: most of what a drum does falls here
        peak = np.maximum.reduce(self._e[:, :, at - REACH : at], axis=2) + TINY
        passed = peak > self._bar[:, :, 0]
        if not passed.any():
            return None
        mean = np.add.reduce(self._p[:, :, at - WINDOW : at], axis=2) / WINDOW + TINY
        passed &= mean > floor * self._mean
        passed[:, self._struck_pads :] = False
        if not passed.any():
            return None
        before = self._e[:, :, max(0, at - REACH - STAND) : at - REACH]
        risen = np.maximum(np.maximum.reduce(before[:, :, -RISE:], axis=2), self._least)
        passed &= peak > risen * self._rise
        if not passed.any():
            return None
        able = ~self._watch.deaf(self._origin + (hop + 1) * self._hop)
        able[self._struck_pads :] = False
        passed &= able
        best: Decision | None = None
        for band in np.flatnonzero(passed.any(axis=1)):
            rank = int(0.75 * (before.shape[2] - 1))
            stood = np.maximum(np.partition(before[band], rank, axis=1)[:, rank], self._least)
            if not (passed[band] & (peak[band] > stood * self._stand)).any():
                continue
            found = self._judge_band(hop, int(band), able, peak[band], mean[band], floor[band], risen[band], stood)
            if found is not None and (best is None or found.margin_db > best.margin_db):
                best = found
        return best

    def _judge_band(
        self,
        hop: int,
        band: int,
        able: NDArray[np.bool_],
        peak: NDArray[np.float64],
        mean: NDArray[np.float64],
        floor: NDArray[np.float64],
        risen: NDArray[np.float64],
        stood: NDArray[np.float64],
    ) -> Decision | None:
        """All else (pads,): able to be struck; energy of the last hops in this band, its floor, what was before."""
        s, watch = self.settings, self._watch
        at = hop - self._base + 1
        above = mean / floor
        margins = (_db(np.stack((peak / floor, above, peak / risen, peak / stood))) - self._thresholds_db).min(axis=0)
        passed = (margins > 0) & able
        if not passed.any():
            return None
        # the pad that stands highest over its floor, unless that one only felt its louder neighbour
        struck, lead = self._dominance(peak, mean, above, int(np.argmax(np.where(passed, above, 0.0))))
        if not struck:
            struck, lead = self._dominance(peak, mean, above, int(np.argmax(np.where(passed, mean, 0.0))))
        if not struck or not passed[struck].all():
            return None
        margin = min(float(margins[struck].min()), lead)
        hops = self._p[band]
        starts = {j: self._start(at, hops[j], floor[j], peak[j]) for j in struck}
        wait = self._wait if margin >= s.clear_db else self._wait + self._doubt
        if hop - min(starts.values()) < wait:
            return None
        struck.sort(key=lambda j: (starts[j], -above[j]))
        sure = margin >= s.sure_db and (len(struck) == 1 or starts[struck[1]] - starts[struck[0]] >= 2)
        if watch.doubtful(struck) or (watch.unheard and lead < DOUBT_DB):
            sure = False
        onsets = tuple(self._origin + max(0, starts[j] * self._hop - LOOK_AHEAD) for j in struck)
        return Decision(tuple(j + 1 for j in struck), onsets, self._origin + (hop + 1) * self._hop, margin, sure)

    def _dominance(
        self, peak: NDArray[np.float64], mean: NDArray[np.float64], above: NDArray[np.float64], q: int
    ) -> tuple[list[int], float]:
        """Which pads tower over the rest, and by how many dB more than they must; none when it is all of them."""
        s = self.settings
        if self.pads == 1:
            return [q], math.inf
        raw = _db(mean[q] / mean)
        lead = np.maximum(_db(above[q] / above), raw - s.raw_bonus_db) - s.dominance_db
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
            return [], 0.0  # the frame shook as much
        others = np.delete(np.arange(self.pads), both)
        towering = np.minimum(_db(above[both].min() / above[others]), _db(mean[both].min() / mean[others])).min()
        return (both, float(towering) - s.double_db) if towering > s.double_db else ([], 0.0)

    def _start(self, at: int, hops: NDArray[np.float64], floor: float, peak: float) -> int:
        """The hop in which the pad was first touched."""
        first = at - REACH - 2
        return self._base + first + int(np.argmax(hops[first:at] > max(8.0 * floor, peak / 16.0)))
