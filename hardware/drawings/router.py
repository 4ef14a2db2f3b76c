"""Lay the tracks of a two-layer board on a grid: A* from what is joined already to the nearest pin that is not.

A net may also be hatched: crossing tracks wherever there is room, as a ground that shields and is easy to solder.

Deterministic: the same board gives the same tracks. A net that finds no way is laid first in the next attempt.
"""

from __future__ import annotations

import math
from collections import Counter
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from footprints import GRID_MM, VIA_HOLE_MM, VIA_MM, Pin, Point, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Grid = NDArray[np.bool_]
    Cell = tuple[int, int]
    Node = tuple[int, int, int]
    """Layer, column and row, counted in half steps: a node is at even ones, the middle of a step at odd ones."""

STEP_MM = GRID_MM / 2
HALF_MM = STEP_MM / 2
LAYERS = TOP, BOTTOM = (0, 1)
"""Top, where tracks prefer to go across, and bottom, where they prefer to go down."""
WAYS = ((2, 0), (-2, 0), (0, 2), (0, -2), (2, 2), (2, -2), (-2, 2), (-2, -2))
VIA_COST, AGAINST_COST, TURN_COST = 12.0, 1.35, 0.3
MAX_ATTEMPTS = 60
MARGIN_MM = 1e-3
"""What the rules are kept beyond, for what is rounded in the files."""


class Rules(NamedTuple):
    """What the router keeps, mm: copper to copper, to the edge, hole to hole; and the width of each net's tracks."""

    clearance: float
    edge: float
    hole_gap: float
    widths: Mapping[str, float]


class Track(NamedTuple):
    """A straight track of a net on a layer."""

    net: str
    layer: int
    shape: Shape


class Via(NamedTuple):
    """A plated hole that joins the layers of a net."""

    net: str
    at: Point


class UnroutableError(Exception):
    """A net found no way in any attempt."""


class Router:
    """Tracks and vias of one board: `size` in mm, `pins` by net, `blocked` shapes without a net on both layers."""

    def __init__(
        self, size: Point, pins: Mapping[str, list[Pin]], loose: Iterable[Pin], blocked: list[Shape], rules: Rules
    ) -> None:
        self.rules, self.pins, self.blocked = rules, pins, blocked
        self.loose = list(loose)
        self.nx, self.ny = (int(length / HALF_MM) + 1 for length in size)
        self.xs, self.ys = np.arange(self.nx) * HALF_MM, np.arange(self.ny) * HALF_MM
        self.size = size
        self.tracks: list[Track] = []
        self.vias: list[Via] = []

    def route(self) -> None:
        """Lay every net; raises `UnroutableError` if one has no way after all attempts."""
        order = sorted(self.pins, key=lambda net: (self.rules.widths[net], _span(self.pins[net]), net))
        failed = ""
        for _ in range(MAX_ATTEMPTS):
            self.tracks, self.vias = [], []
            failed = next((net for net in order if not self._route_net(net)), "")
            if not failed:
                return
            order.remove(failed)
            order.insert(0, failed)
        raise UnroutableError(failed)

    def hatch(self, net: str, layer: int, width: float, pitch: int, apart: Sequence[Shape]) -> None:
        """Lay crossing tracks of `net` wherever there is room, every `pitch` steps, but not on the shapes of `apart`.

        Pieces of them that touch no copper of the net, and ends that lead to nothing, are left out.
        """
        free = self._free(net, width / 2)[layer]
        for shape in apart:
            self._mark(free, shape, width / 2)
        hop = 2 * pitch
        edges: list[tuple[Cell, Cell]] = []
        for i in range(0, self.nx, hop):
            for j in range(0, self.ny, hop):
                if i + hop < self.nx and free[i : i + hop + 1, j].all():
                    edges.append(((i, j), (i + hop, j)))
                if j + hop < self.ny and free[i, j : j + hop + 1].all():
                    edges.append(((i, j), (i, j + hop)))
        own = [pin.pad for pin in self.pins[net]]
        own += [track.shape for track in self.tracks if track.net == net and track.layer == layer]
        off_copper = np.ones((self.nx, self.ny), bool)
        for shape in own:
            self._mark(off_copper, shape, 0.0)
        joined = {cell for edge in edges for cell in edge if not off_copper[cell]}
        reached = _spread(edges, joined)
        for a, b in _merge_runs(_cut_dead_ends([edge for edge in edges if edge[0] in reached], joined)):
            self.tracks.append(Track(net, layer, Shape((self._at((layer, *a)), self._at((layer, *b))), width / 2)))

    def _route_net(self, net: str) -> bool:
        nodes = {pin: self._node(pin.at) for pin in self.pins[net]}
        half = self.rules.widths[net] / 2
        straight, diagonal = self._free(net, half), self._free(net, half, math.sqrt(2.0) * HALF_MM)
        for_via = self._free_for_via(net)
        first, *rest = self.pins[net]
        tree: set[Node] = {(layer, *nodes[first]) for layer in LAYERS}
        while rest:
            near = min(rest, key=lambda pin: min(_octile(nodes[pin], node[1:]) for node in tree))
            path = self._find_path(tree, nodes[near], straight, diagonal, for_via)
            if not path:
                return False
            rest.remove(near)
            self._lay(net, path)
            tree.update(path)
            tree.update((layer, *nodes[near]) for layer in LAYERS)
        return True

    def _find_path(
        self, tree: set[Node], goal: tuple[int, int], straight: list[Grid], diagonal: list[Grid], for_via: Grid
    ) -> list[Node]:
        """Return the cheapest way from the tree to `goal`, its nodes in order, or [] if there is none.

        `straight` and `diagonal` say for each layer where a track in such a direction may be.
        """
        straights, diagonals = ([grid.tolist() for grid in grids] for grids in (straight, diagonal))
        via_grid = for_via.tolist()
        cost: dict[Node, float] = dict.fromkeys(tree, 0.0)
        before: dict[Node, Node] = {}
        queue = sorted((_octile(node[1:], goal), 0.0, node) for node in tree)
        done: set[Node] = set()
        while queue:
            _, so_far, node = heappop(queue)
            if node in done:
                continue
            done.add(node)
            layer, i, j = node
            if (i, j) == goal:
                path = [node]
                while path[-1] in before:
                    path.append(before[path[-1]])
                return path[::-1]
            last = before.get(node)
            offers: list[tuple[float, Node]] = [(so_far + VIA_COST, (1 - layer, i, j))] if via_grid[i][j] else []
            for di, dj in WAYS:
                ni, nj = i + di, j + dj
                if not (0 <= ni < self.nx and 0 <= nj < self.ny):
                    continue
                grid = (diagonals if di and dj else straights)[layer]
                if not (grid[i][j] and grid[ni][nj] and grid[i + di // 2][j + dj // 2]):
                    continue
                step = math.sqrt(2.0) if di and dj else AGAINST_COST if (dj if layer == 0 else di) else 1.0
                if last is not None and (i - last[1], j - last[2]) != (di, dj):
                    step += TURN_COST
                offers.append((so_far + step, (layer, ni, nj)))
            for price, to in offers:
                if price < cost.get(to, math.inf):
                    cost[to], before[to] = price, node
                    heappush(queue, (price + _octile(to[1:], goal), price, to))
        return []

    def _lay(self, net: str, path: list[Node]) -> None:
        radius, start = self.rules.widths[net] / 2, path[0]
        for k, (a, b) in enumerate(pairwise(path)):
            if a[0] != b[0]:
                self.vias.append(Via(net, self._at(a)))
                start = b
                continue
            after = path[k + 2] if k + 2 < len(path) else None
            straight = after is not None and tuple(np.subtract(after, b)) == tuple(np.subtract(b, a))
            if not straight:
                self.tracks.append(Track(net, a[0], Shape((self._at(start), self._at(b)), radius)))
                start = b

    def _free(self, net: str, half: float, apart: float = HALF_MM) -> list[Grid]:
        """Return for each layer where the middle of a track of `net`, `half` as wide on either side, may be.

        A track is tested at points that are `apart`; between two free ones it keeps its distance too.
        """
        rules = self.rules
        found: list[Grid] = []
        for layer in LAYERS:
            free = np.ones((self.nx, self.ny), bool)
            border = half + rules.edge
            free[(self.xs < border) | (self.xs > self.size[0] - border), :] = False
            free[:, (self.ys < border) | (self.ys > self.size[1] - border)] = False
            for shape in self._copper(net, layer):
                self._mark(free, shape, half + rules.clearance, apart / 2)
            found.append(free)
        return found

    def _free_for_via(self, net: str) -> Grid:
        top, bottom = self._free(net, VIA_MM / 2)
        free = top & bottom
        holes = [(pin.at, pin.hole) for pins in (*self.pins.values(), self.loose) for pin in pins]
        holes += [(via.at, VIA_HOLE_MM) for via in self.vias]
        for at, hole in holes:
            self._mark(free, Shape((at,), hole / 2), VIA_HOLE_MM / 2 + self.rules.hole_gap)
        return free

    def _copper(self, net: str, layer: int) -> Iterable[Shape]:
        """Yield all that a track of `net` on a layer must keep away from."""
        yield from self.blocked
        yield from (pin.pad for pin in self.loose)
        yield from (pin.pad for name, pins in self.pins.items() if name != net for pin in pins)
        yield from (track.shape for track in self.tracks if track.net != net and track.layer == layer)
        yield from (Shape((via.at,), VIA_MM / 2) for via in self.vias if via.net != net)

    def _mark(self, free: Grid, shape: Shape, reach: float, aside: float = 0.0) -> None:
        """Make not free what is nearer to a shape than `reach`, or has a point so near within `aside` on a line."""
        left, top, right, bottom = shape.box
        around = reach + aside
        i0, i1 = max(int((left - around) / HALF_MM), 0), min(int((right + around) / HALF_MM) + 2, self.nx)
        j0, j1 = max(int((top - around) / HALF_MM), 0), min(int((bottom + around) / HALF_MM) + 2, self.ny)
        x, y = self.xs[i0:i1, None], self.ys[None, j0:j1]
        if len(shape.points) > 2:  # pads with corners are squares along the axes
            dx = np.maximum(np.maximum(left - x, x - right), 0.0)
            dy = np.maximum(np.maximum(top - y, y - bottom), 0.0)
            apart = np.broadcast_to(dx * dx + dy * dy, (x.shape[0], y.shape[1]))
            least = reach
        else:
            (ax, ay), (bx, by) = shape.points[0], shape.points[-1]
            squared = (bx - ax) ** 2 + (by - ay) ** 2 or 1.0
            t = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / squared, 0.0, 1.0)
            apart = (x - ax - t * (bx - ax)) ** 2 + (y - ay - t * (by - ay)) ** 2
            least = reach + shape.radius
        free[i0:i1, j0:j1] &= apart >= (least + MARGIN_MM) ** 2 + aside**2

    def _node(self, at: Point) -> tuple[int, int]:
        return 2 * round(at[0] / STEP_MM), 2 * round(at[1] / STEP_MM)

    def _at(self, node: Node) -> Point:
        return node[1] * HALF_MM, node[2] * HALF_MM


def _spread(edges: list[tuple[Cell, Cell]], start: set[Cell]) -> set[Cell]:
    """Return the cells that edges join with any of `start`."""
    beside: dict[Cell, list[Cell]] = {}
    for a, b in edges:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    found, left = set(start), list(start)
    while left:
        more = [cell for cell in beside.get(left.pop(), []) if cell not in found]
        found.update(more)
        left += more
    return found


def _cut_dead_ends(edges: list[tuple[Cell, Cell]], joined: set[Cell]) -> list[tuple[Cell, Cell]]:
    """Return the edges without those that end alone, again and again, except on the cells of `joined`."""
    while True:
        ends = Counter(cell for edge in edges for cell in edge)
        kept = [edge for edge in edges if all(ends[cell] > 1 or cell in joined for cell in edge)]
        if len(kept) == len(edges):
            return kept
        edges = kept


def _merge_runs(edges: list[tuple[Cell, Cell]]) -> Iterable[tuple[Cell, Cell]]:
    """Yield the edges with those joined that go on in the same direction."""
    onward = {(a, b[0] == a[0]): b for a, b in edges}
    ends = {(b, b[0] == a[0]) for a, b in edges}
    for (a, down), b in onward.items():
        if (a, down) not in ends:
            last = b
            while (last, down) in onward:
                last = onward[last, down]
            yield a, last


def _octile(a: tuple[int, int], b: tuple[int, int]) -> float:
    """Return the length of the shortest way on a free grid, in steps."""
    dx, dy = abs(a[0] - b[0]) / 2, abs(a[1] - b[1]) / 2
    return max(dx, dy) + (math.sqrt(2.0) - 1.0) * min(dx, dy)


def _span(pins: list[Pin]) -> float:
    xs, ys = zip(*(pin.at for pin in pins), strict=True)
    return max(xs) - min(xs) + max(ys) - min(ys)
