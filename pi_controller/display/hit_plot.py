"""Plot a strike for the judge: each pad's level around it and the detector's decision, as SVG.

The plot shows the detector's measure: the level of each pad above its own noise floor in dB, every half millisecond, in
the stronger of the two bands. The floor is computed from the samples before the stroke, so it may differ from the
detector's by about a decibel. Pure functions of the samples and the decision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pi_controller.sensing.filters import LOOK_AHEAD, StrikeFilter

if TYPE_CHECKING:
    from pi_controller.recording.hits import RecordedStroke

NEAR_MS = (-5.0, 20.0)
"""Range of the right half, ms from the first touch."""
_SETTLE_S = 0.02
_GUARD_S = 0.012
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class PadLevels:
    """`db` (pads, n): dB over each pad's noise floor; `ms` (n): time from the first touch.

    `threshold_db`: detection limit. `first_ms`: for each pad above the threshold near the stroke, the time of its first
    touch; else None.
    """

    ms: NDArray[np.float64]
    db: NDArray[np.float64]
    threshold_db: float
    first_ms: tuple[float | None, ...]


def compute_pad_levels(stroke: RecordedStroke) -> PadLevels:
    """Compute the levels of all pads with the detector's filter."""
    s, pads = stroke.strikes, stroke.samples.shape[1]
    lsb = max(1.0, stroke.full_scale / 32768)
    bands = [band for band in s.bands_hz if band[0] < 0.3 * stroke.rate] or list(s.bands_hz[:1])
    strike_filter = StrikeFilter(stroke.rate, pads, bands, 2.0 * lsb, s.hop_s)
    hops = strike_filter.feed(stroke.samples)
    energy = hops.copy()
    energy[:, :, 1:] = 0.5 * (hops[:, :, 1:] + hops[:, :, :-1])
    ms = 1000 * (stroke.start - stroke.t + (np.arange(energy.shape[2]) * strike_filter.hop - LOOK_AHEAD) / stroke.rate)
    quiet = (ms < -1000 * _GUARD_S) & (ms > ms[:1].sum() + 1000 * _SETTLE_S)
    before = energy[:, :, quiet] if quiet.sum() > 20 else energy
    floor = np.maximum(np.quantile(before, s.floor_rank, axis=2), (s.floor_lsb * lsb) ** 2)
    db: NDArray[np.float64] = (10 * np.log10((energy + _TINY) / floor[:, :, None])).max(axis=0)
    db[:, : round(_SETTLE_S / s.hop_s)] = 0.0  # the filters settle here
    more = s.alone_db * max(0, 3 - pads) / 2 + s.slow_db * max(0.0, math.log2(4000 / stroke.rate))
    threshold = s.peak_db + more
    sharp: NDArray[np.float64] = (10 * np.log10((hops + _TINY) / floor[:, :, None])).max(axis=0)
    near = (ms >= NEAR_MS[0]) & (ms <= NEAR_MS[1])
    first = tuple(_first(ms[near], lane[near], threshold) for lane in sharp)
    return PadLevels(ms, np.maximum(db, 0.0), threshold, first)


def _first(ms: NDArray[np.float64], lane: NDArray[np.float64], threshold: float) -> float | None:
    """Return when the pad was first touched, by the detector's criterion: over 9 dB and within 12 dB of the peak."""
    if not (lane > threshold).any():
        return None
    peak = float(lane[: int(np.argmax(lane > threshold)) + 10].max())
    return round(float(ms[np.argmax(lane > max(9.0, peak - 12.0))]), 1) + 0.0


def headline(stroke: RecordedStroke) -> str:
    """Return the detector's decision in a line."""
    named = " and ".join(str(pad) for pad in stroke.pads)
    if not stroke.sure:
        return f"In doubt: pad{'s' * (len(stroke.pads) > 1)} {named}"
    return f"Pad {named} struck" if len(stroke.pads) == 1 else f"Pads {named} struck, {stroke.pads[0]} first"


def details(stroke: RecordedStroke) -> str:
    """Return the hide's number and the stroke's margin in a line."""
    margin = "" if stroke.margin_db is None else f", margin {stroke.margin_db:.1f} dB"
    return f"Hide {stroke.hide}{margin}"


def threshold(levels: PadLevels) -> str:
    """Return the caption of the dashed line."""
    return f"- - {levels.threshold_db:g} dB over the pad's own quiet: the threshold"


_STYLE = """
.g{fill:#fcf8f0}.t{fill:#231d16}.s{fill:#655a4a}.l{stroke:#d9cdb8}.q{fill:#b9ab92}.h{fill:#1d5c57}.d{fill:#8a5a00}
.c{stroke:#231d16;stroke-dasharray:4 3}.o{stroke:#fcf8f0;stroke-width:3}.z{stroke:#655a4a}
.w{stroke:#b9ab92}.wh{stroke:#1d5c57}.wd{stroke:#8a5a00}
text{font:14px system-ui,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
.b{font-size:19px;font-weight:600}.m{font-size:12px}.e{text-anchor:end}.k{text-anchor:middle}
@media(prefers-color-scheme:dark){.g{fill:#211b14}.t{fill:#f3eadb}.s{fill:#b7a991}.l{stroke:#43392b}.q{fill:#75684f}
.h{fill:#6fdcd0}.d{fill:#f3c25c}.c{stroke:#f3eadb}.o{stroke:#211b14}.z{stroke:#b7a991}
.w{stroke:#75684f}.wh{stroke:#6fdcd0}
.wd{stroke:#f3c25c}}
"""
_SIZE = "width:100%;max-width:720px;max-height:98vh"
_WIDTH, _LANE, _WAVE, _TOP, _GAP = 480, 60, 20, 108, 24
_LEFT, _SPLIT, _NEAR, _RIGHT = 52, 268, 288, 468


def hit_svg(stroke: RecordedStroke) -> str:
    """Return the plot as an SVG file's text, 480 wide; it follows the reader's light or dark mode."""
    levels = compute_pad_levels(stroke)
    pads = stroke.samples.shape[1]
    pitch = _LANE + _WAVE + _GAP
    bottom = _TOP + pads * pitch - _GAP
    height = bottom + 50
    most = max(10 * math.ceil(levels.db.max() / 10), 30)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" style="{_SIZE}">',
        f"<title>{headline(stroke)}</title><style>{_STYLE}</style>",
        f'<rect class="g" width="{_WIDTH}" height="{height}" rx="6"/>',
        f'<text class="t b" x="12" y="30">{headline(stroke)}</text>',
        f'<text class="s" x="12" y="52">{details(stroke)}</text>',
        f'<text class="s" x="12" y="71">{threshold(levels)}</text>',
    ]
    whole = (float(levels.ms[0]), float(levels.ms[-1])) if len(levels.ms) else (-200.0, 200.0)
    panels = ((_LEFT, _SPLIT, whole), (_NEAR, _RIGHT, NEAR_MS))
    for pad in range(1, pads + 1):
        top = _TOP + (pad - 1) * pitch
        out += _lane(stroke, levels, pad, top, most, panels)
    for left, right, (first, last) in panels:
        x = left + (right - left) * (0 - first) / (last - first)
        out.append(f'<path class="z" d="M{x:.1f} {_TOP - 8}V{bottom}" stroke-width="1"/>')
        for ms in _ticks(first, last):
            x = left + (right - left) * (ms - first) / (last - first)
            out.append(f'<text class="s m k" x="{x:.1f}" y="{bottom + 18}">{ms:g}</text>')
    middle = (_LEFT + _RIGHT) / 2
    out.append(f'<text class="s m k" x="{middle:g}" y="{bottom + 38}">ms from the first touch</text></svg>')
    return "\n".join(out) + "\n"


def _lane(
    stroke: RecordedStroke,
    levels: PadLevels,
    pad: int,
    top: float,
    most: float,
    panels: tuple[tuple[int, int, tuple[float, float]], ...],
) -> list[str]:
    base, mid = top + _LANE, top + _LANE + _WAVE / 2 + 2
    struck = pad in stroke.pads
    kind = ("h" if stroke.sure else "d") if struck else "q"
    db, wave = levels.db[pad - 1], stroke.samples[:, pad - 1].astype(np.float64)
    wave = wave - np.median(wave)
    loudest = max(float(np.abs(stroke.samples - np.median(stroke.samples, axis=0)).max()), 8.0)
    at = 1000 * (stroke.start - stroke.t + np.arange(len(wave)) / stroke.rate)
    level = base - _LANE * levels.threshold_db / most
    out = [
        f'<text class="t m" x="{_LEFT}" y="{top - 4:g}">Pad {pad}</text>',
        f'<text class="s m e" x="{_LEFT - 4}" y="{base:g}">0</text>',
        f'<text class="s m e" x="{_LEFT - 4}" y="{top + 9:g}">{most:g} dB</text>',
    ]
    for left, right, span in panels:
        out.append(f'<path class="l" d="M{left} {base:g}H{right}M{left} {top:g}H{right}" fill="none"/>')
        points = _columns(levels.ms, db, span, right - left)
        if points:
            area = "".join(f"L{left + x} {base - _LANE * min(high, most) / most:.1f}" for x, _, high in points)
            out.append(
                f'<path class="{kind}" d="M{left + points[0][0]} {base:g}{area}L{left + points[-1][0]} {base:g}Z"/>'
            )
        bars = _trace(at, wave / loudest, span, (left, right), mid)
        out.append(f'<path class="w{kind if struck else ""}" d="{bars}" fill="none" stroke-width="1"/>')
        # a line in the background colour under the dashes separates them from the lines they cross
        out.append(f'<path class="o" d="M{left} {level:.1f}H{right}" fill="none"/>')
        out.append(f'<path class="c" d="M{left} {level:.1f}H{right}" fill="none"/>')
    first = levels.first_ms[pad - 1]
    if first is not None:
        out.append(f'<text class="t m e" x="{_RIGHT}" y="{top - 4:g}">felt at {first:+.1f} ms</text>')
    return out


def _trace(
    ms: NDArray[np.float64],
    wave: NDArray[np.float64],
    span: tuple[float, float],
    panel: tuple[int, int],
    mid: float,
) -> str:
    """Return the SVG path of a wave of -1 to 1: a line through few samples, else a vertical bar for each column."""
    left, right = panel
    inside = (ms >= span[0]) & (ms <= span[1])
    if inside.sum() <= right - left:
        x = left + (ms[inside] - span[0]) / (span[1] - span[0]) * (right - left)
        y = mid - _WAVE / 2 * wave[inside]
        points = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
        return f"M{points}" if points else ""
    return "".join(
        f"M{left + x} {mid - _WAVE / 2 * high - 0.3:.1f}V{mid - _WAVE / 2 * low + 0.3:.1f}"
        for x, low, high in _columns(ms, wave, span, right - left)
    )


def _columns(
    ms: NDArray[np.float64], values: NDArray[np.float64], span: tuple[float, float], width: int
) -> list[tuple[int, float, float]]:
    """Return (x, lowest, highest) of the values in each pixel column; empty columns are left out."""
    inside = (ms >= span[0]) & (ms <= span[1])
    if not inside.any():
        return []
    ms, values = ms[inside], values[inside]
    x = np.minimum(((ms - span[0]) / (span[1] - span[0]) * width).astype(int), width - 1)
    starts = np.flatnonzero(np.diff(x, prepend=-1))
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return [(int(x[i]), float(a), float(b)) for i, a, b in zip(starts, low, high, strict=True)]


def _ticks(first: float, last: float) -> list[float]:
    step = 100.0 if last - first > 150 else 5.0
    return [n * step for n in range(math.ceil(first / step), math.floor(last / step) + 1)]
