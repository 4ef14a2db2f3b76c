"""Search for magnetometer modules that are turned, or whose plugs are exchanged.

Input are readings of one marked bead that lay at known places: each is the field minus the empty mat's, as the modules
report it. On a sound mat one dipole explains each reading. If none does, the search finds a bead for each reading that
most modules agree on, and then what makes the others agree too: another orientation of a module, or another order of
the plugs. A cause is reported only if it explains all readings and other causes explain them clearly worse; else the
modules that contradict the others are reported.

All arrays are in wire order: `sensors` is the number of magnetometers, lengths are mm, fields microtesla.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pi_controller.calibration.bead_fits import Array, BeadFits, BeadReadings, BeadSolver, Mask
from pi_controller.calibration.wiring_causes import Cause, Diagnosis, Order, group_orders
from pi_controller.sensing.baseline import ModuleCorrection, identity_correction
from pi_controller.sensing.bead_search import is_noise
from pi_controller.sensing.bead_solver import (
    BEAD_HEIGHT_MM,
    Steel,
)
from pi_controller.sensing.module_turns import describe_turn, right_angled_rotations

CLEAR_CHI2 = 25.0
"""Difference in chi squared that makes one explanation clearly better than another."""
FEW_STARTS_MM = np.array([(0.0, 0.0, 0.0), *((60.0 * x, 70.0 * y, 0.0) for x in (-1, 1) for y in (-1, 1))])
MANY_STARTS_MM = np.array([(30.0 * x, 100.0 * y, 0.0) for x in (-3, -1, 1, 3) for y in (-1, 0, 1)])
"""Starting points of a fit, from the place that the bead was asked for at."""
LEFT_OUT_COST = 15.0
"""Cost of leaving a module out of the fits of its pad."""
MAX_LEFT_OUT = 2
"""Modules of one pad that may be left out."""
LOOSE = 6.0
"""Share of the limit of noise up to which a module's reading may fit before the beads are fitted with all modules."""
MAX_ROUNDS = 3
"""Rounds of finding wrong modules, each after those found before are corrected."""
MAX_ORDERS = 3
"""Orders of plugs that are examined for single wrong modules."""


class WrongModuleSearch:
    """Search in readings `ut` (n, sensors, 3) of one marked bead, asked for at `asked_mm` (n, 3), valid where `ok`
    (n, sensors). `noise` is one sigma of a reading's axis.

    `pads` and `multiplexers` are the built modules (0 first) of each; `steel` is known to be under the mat.
    """

    def __init__(
        self,
        sensors_mm: Array,
        ut: Array,
        ok: Mask,
        asked_mm: Array,
        *,
        noise: float,
        pads: Sequence[Sequence[int]],
        multiplexers: Sequence[Sequence[int]],
        steel: Steel | None = None,
    ) -> None:
        self._solver = BeadSolver(sensors_mm, noise, steel)
        self._ut, self._ok, self._asked = ut, ok, asked_mm
        self._pads, self._multiplexers = pads, multiplexers
        self._turns = right_angled_rotations()
        self._sensors = len(sensors_mm)

    def run(self) -> Diagnosis:
        """Return the cause of readings that one bead does not explain."""
        orders = group_orders(self._sensors, self._pads, self._multiplexers)
        identity = identity_correction(self._sensors)
        sound = self.check_sound()
        if sound.explained:
            return sound
        single = found = self._examine(identity.order, ())
        if not found.explained:
            right = tuple(range(self._sensors))
            costs = self._order_costs([right, *orders])
            better = [order for order in orders if costs[order] < costs[right] - CLEAR_CHI2]
            for order in sorted(better, key=lambda order: costs[order])[:MAX_ORDERS]:
                found = self._examine(np.array(order), orders[order])
                if found.explained:
                    break
        if any(cause.kind != "turned" for cause in found.causes) or not found.explained:
            # the bead may have been put on other pads than those that were asked for
            sound = self._check(identity, (), anywhere=True)
        if found.explained and not (sound.explained and found.cost > sound.cost - CLEAR_CHI2):
            return found
        return sound if sound.explained else replace(sound, contradicting=single.contradicting)

    def check_sound(self) -> Diagnosis:
        """Return whether one bead explains each reading without any wrong module."""
        return self._check(identity_correction(self._sensors), ())

    def _problem(self, correction: ModuleCorrection, starts: Array) -> BeadReadings:
        return BeadReadings(correction.apply(self._ut), self._ok[:, correction.order], starts)

    def _check(self, correction: ModuleCorrection, causes: tuple[Cause, ...], *, anywhere: bool = False) -> Diagnosis:
        """Return whether one bead explains each reading after `correction`; the bead may be `anywhere`, or near the
        place that it was asked for at."""
        problem = self._problem(correction, self._asked)
        fits = self._fit_from_many(problem, anywhere=anywhere)
        of_module, count = fits.chi2.sum(axis=0), problem.use.sum(axis=0)
        explained = is_noise(float(of_module.sum()), 3 * int(count.sum()) - 8 * len(problem.use)) and all(
            is_noise(float(chi2), 3 * int(n)) for chi2, n in zip(of_module, count, strict=True)
        )
        cost = float(fits.cost.sum())
        return Diagnosis(explained, cost, fits.places, fits.moments, correction if causes else None, causes)

    def _fit_from_many(self, problem: BeadReadings, *, tolerant: bool = False, anywhere: bool = False) -> BeadFits:
        """Return the best fits from several starting points around those of `problem`.

        Readings that stay unexplained are fitted again from more of them, and if `anywhere` is true on all pads.
        """
        best = self._fit_from(problem, problem.starts[:, None] + FEW_STARTS_MM, tolerant=tolerant)
        bad = [
            n
            for n, (chi2, use) in enumerate(zip(best.chi2, problem.use, strict=True))
            if not is_noise(float(chi2.sum()), 3 * int(use.sum()) - 8)
        ]
        if not bad:
            return best
        rest = problem.take(bad)
        starts = rest.starts[:, None] + MANY_STARTS_MM
        if anywhere:
            starts = np.repeat((self._pad_centres()[:, None] + FEW_STARTS_MM).reshape(1, -1, 3), len(bad), axis=0)
        again = self._fit_from(rest, starts, tolerant=tolerant)
        which = np.array(bad)
        better = which[again.cost < best.cost[which]]
        mine = np.flatnonzero(again.cost < best.cost[which])
        for old, new in zip(best, again, strict=True):
            old[better] = new[mine]
        return best

    def _fit_from(self, problem: BeadReadings, starts: Array, *, tolerant: bool) -> BeadFits:
        """Return the best fit of each reading from its `starts` (n, each, 3)."""
        count, each = starts.shape[:2]
        many = problem.take(np.repeat(np.arange(count), each))._replace(starts=starts.reshape(-1, 3))
        fits = self._solver.fit(many, tolerant=tolerant)
        return fits.take(fits.cost.reshape(count, each).argmin(axis=1) + each * np.arange(count))

    def _order_costs(self, orders: Sequence[Order]) -> dict[Order, float]:
        """Return the cost of each of `orders` in a tolerant fit."""
        which = np.array(orders)  # (orders, sensors)
        readings = len(self._ut)
        ut = self._ut[:, which].swapaxes(0, 1).reshape(-1, self._sensors, 3)
        ok = self._ok[:, which].swapaxes(0, 1).reshape(-1, self._sensors)
        fits = self._solver.fit(BeadReadings(ut, ok, np.tile(self._asked, (len(orders), 1))), tolerant=True)
        return dict(zip(orders, fits.cost.reshape(-1, readings).sum(axis=1).tolist(), strict=True))

    def _examine(self, order: NDArray[np.intp], causes: tuple[Cause, ...]) -> Diagnosis:
        """Return the explanation of the readings by plugs in `order`, and perhaps modules turned or exchanged."""
        correction = ModuleCorrection(order, np.repeat(np.eye(3)[None], self._sensors, axis=0))
        if causes:
            plain = self._check(correction, causes)
            if plain.explained:
                return plain
        wrong: list[int] = []
        starts = self._fit_from_many(self._problem(correction, self._asked), tolerant=True).places
        for _ in range(MAX_ROUNDS):
            problem = self._problem(correction, starts)
            turns, swaps, wrong = self._assign(problem, self._agreeing_fits(problem))
            if causes:  # exchanges on top of exchanges explain too much on mats with few modules
                swaps = []
            if not (turns or swaps):
                break
            correction = self._change(correction, turns, swaps)
            found = self._check(correction, (*causes, *self._name_changes(order, correction)))
            if found.explained:
                return found
        return Diagnosis(False, np.inf, self._asked, 0.0 * self._asked, contradicting=tuple(wrong))

    def _change(
        self, correction: ModuleCorrection, turns: dict[int, int], swaps: Sequence[tuple[int, int]]
    ) -> ModuleCorrection:
        """Return `correction` with the modules of `turns` turned further, and those of `swaps` exchanged."""
        order, matrices = correction.order.copy(), correction.turns.copy()
        for number, turn in turns.items():
            matrices[number] = matrices[number] @ self._turns[turn]
        for a, b in swaps:
            order[[a, b]], matrices[[a, b]] = order[[b, a]], matrices[[b, a]]
        return ModuleCorrection(order, matrices)

    def _name_changes(self, order: NDArray[np.intp], correction: ModuleCorrection) -> list[Cause]:
        """Return the causes by which `correction` differs from plugs in `order`."""
        found: list[Cause] = []
        for number in range(self._sensors):
            other = int(np.flatnonzero(order == correction.order[number])[0])
            if other > number:
                found.append(Cause("modules", (number, other)))
            if not np.array_equal(correction.turns[number], self._turns[0]):
                found.append(Cause("turned", (number,), describe_turn(correction.turns[number])))
        return found

    def _agreeing_fits(self, problem: BeadReadings) -> BeadFits:
        """Return a bead for each reading that most modules agree on.

        Up to `MAX_LEFT_OUT` modules of the bead's pad are left out, the same ones in all readings of the pad.
        """
        pad_of = self._pads_at(self._asked)
        jobs: list[tuple[int, tuple[int, ...]]] = []
        for pad in sorted(set(pad_of.tolist())):
            for count in range(min(MAX_LEFT_OUT, len(self._pads[pad]) - 1) + 1):
                jobs += [(pad, some) for some in combinations(self._pads[pad], count)]
        readings = [np.flatnonzero(pad_of == pad) for pad, _ in jobs]
        which = np.concatenate(readings)
        use = problem.use[which]
        ends = np.cumsum([len(rows) for rows in readings])
        jobs_rows = [np.arange(end - len(rows), end) for end, rows in zip(ends, readings, strict=True)]
        for (_, some), rows in zip(jobs, jobs_rows, strict=True):
            use[np.ix_(rows, some)] = False
        fits = self._solver.fit(BeadReadings(problem.ut[which], use, problem.starts[which]), tolerant=True)
        best: dict[int, tuple[float, NDArray[np.intp]]] = {}
        for (pad, some), rows in zip(jobs, jobs_rows, strict=True):
            cost = float(fits.cost[rows].sum()) + LEFT_OUT_COST * len(some) * len(rows)
            if pad not in best or cost < best[pad][0]:
                best[pad] = cost, rows
        chosen = np.concatenate([rows for _, rows in best.values()])
        return fits.take(chosen[np.argsort(which[chosen])])

    def _pad_centres(self) -> Array:
        """Return the places (pads, 3) above the middles of the pads."""
        middles = np.array([self._solver.sensors_mm[list(pad)].mean(axis=0) for pad in self._pads])
        middles[:, 2] = BEAD_HEIGHT_MM[0]
        return middles

    def _pads_at(self, places: Array) -> NDArray[np.intp]:
        """Return the pads (0 first) closest to `places` (n, 3)."""
        return np.abs(places[:, :1] - self._pad_centres()[:, 0]).argmin(axis=1)

    def _assign(self, problem: BeadReadings, fits: BeadFits) -> tuple[dict[int, int], list[tuple[int, int]], list[int]]:
        """Return the turn of each turned module, the pairs of exchanged modules, and all modules that contradict."""
        field, variance = self._solver.predict(fits)
        turned = np.einsum("rij,nsj->nsri", self._turns, field)  # what each place would read in each orientation
        off = problem.ut[:, :, None, None] - turned[:, None]  # (n, module, place, turn, 3)
        chi2 = ((off**2).sum(axis=4) / variance[:, None, :, None] * problem.use[:, :, None, None]).sum(axis=0)
        freedom = 3 * np.maximum(problem.use.sum(axis=0), 1)
        limit = freedom + 6.0 * np.sqrt(2.0 * freedom)
        own = np.einsum("sst->st", chi2)  # (module, turn)
        wrong = np.flatnonzero(own[:, 0] > limit).tolist()
        turns: dict[int, int] = {}
        for number in wrong:
            by_cost = np.argsort(own[number])
            best, second = own[number, by_cost[:2]]
            if by_cost[0] and best <= LOOSE * limit[number] and second > 2.0 * best + CLEAR_CHI2:
                turns[number] = int(by_cost[0])
        left = [number for number in wrong if number not in turns]
        plain = chi2[:, :, 0]
        pairs = [
            (a, b)
            for a, b in combinations(left, 2)
            if all(
                plain[i, j] <= LOOSE * limit[i] and plain[i, i] > 2.0 * plain[i, j] + CLEAR_CHI2
                for i, j in ((a, b), (b, a))
            )
        ]
        # a module that could be exchanged with either of two others is left as it is
        swaps = [pair for pair in pairs if sum(not {*pair}.isdisjoint(other) for other in pairs) == 1]
        return turns, swaps, wrong
