"""The calibration profile of one mat, a JSON file that a table can use (`[board] profile`).

The file `NAME.profile.json` is in the folder of the settings and is parsed strictly. It is written atomically (to a
file beside it, synced, renamed); the previous profile is kept as `NAME.bak`.
"""

import re
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from pi_controller.errors import MatError, describe_error
from pi_controller.host.files import atomic_write
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.baseline import Baseline
from pi_controller.sensing.bead_solver import Steel
from pi_controller.sensing.hands import HandSettings
from pi_controller.sensing.strike_settings import THRESHOLD_DB

FORMAT = 1
MAX_BYTES = 262_144
MAX_STEEL_MM = 500.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


class ProfileError(MatError, ValueError):
    """A profile cannot be read or written."""

    code = "profile"


class StrikeProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Strikes by pad: `noise` in counts rms, `level_dbfs` of the median tap, `margin_db` of the weakest.

    `threshold_db` is the value suggested for `[strikes] threshold_db`; `sensor` is the kind of the pads' sensors.
    """

    threshold_db: float
    sensor: str
    noise: tuple[float, ...]
    level_dbfs: tuple[float, ...]
    margin_db: tuple[float, ...]


class TouchProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Touch strips: the thresholds in counts (`sensing.hands.HandSettings`), and measurements by strip in wire order.

    `rest` is the counts without a hand, `noise` the counts rms, `lost` the counts lost under a hand in the walk.
    """

    touch: float
    clear: float
    brushed: float
    rest: tuple[float, ...]
    noise: tuple[float, ...]
    lost: tuple[float, ...]


class MagnetProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The magnetometers' baseline of the empty mat (`sensing.baseline.Baseline`), microtesla, in wire order.

    `noise_ut` is the rms per axis; `moment_am2` is the bead's strength measured on each pad, A m^2.
    `steel` under the mat is its depth below the surface in mm and its image's strength (`sensing.bead_solver.Steel`).
    """

    offsets: tuple[tuple[float, float, float], ...]
    known: tuple[bool, ...]
    scans: float
    scatter: float
    level: tuple[float, float, float]
    noise_ut: float
    moment_am2: tuple[float, ...]
    steel: tuple[float, float] | None = None


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Calibration of the mat with the board `board_id`. A skipped step is None.

    `made` is the date and time, `program` the program's version.
    """

    name: str
    made: str
    program: str
    board_id: str
    strikes: StrikeProfile | None = None
    touch: TouchProfile | None = None
    magnets: MagnetProfile | None = None
    format: int = FORMAT

    def hand_settings(self) -> HandSettings:
        """Return the hand detector's settings."""
        if self.touch is None:
            return HandSettings()
        return replace(HandSettings(), touch=self.touch.touch, clear=self.touch.clear, brushed=self.touch.brushed)

    def baseline(self) -> Baseline | None:
        """Return the magnetometers' baseline, or None if it was not measured."""
        if self.magnets is None:
            return None
        return Baseline(
            offsets=np.array(self.magnets.offsets, dtype=np.float64),
            known=np.array(self.magnets.known, dtype=np.bool_),
            scans=self.magnets.scans,
            scatter=self.magnets.scatter,
            firm=True,
            level=np.array(self.magnets.level, dtype=np.float64),
            steel=None if self.magnets.steel is None else Steel(*self.magnets.steel),
        )


def check_name(name: str) -> str:
    """Return `name`. Raises `ProfileError` if it is not a plain file name."""
    if _NAME.fullmatch(name):
        return name
    raise ProfileError(
        f"{name[:60]!r} cannot be the name of a profile", "use up to 40 letters, digits, - and _, no spaces"
    )


def path_of(folder: Path, name: str) -> Path:
    """Return the path of profile `name` in `folder`."""
    return folder / f"{check_name(name)}.profile.json"


def load_profile(folder: Path, name: str) -> Profile:
    """Read profile `name` from `folder`. Raises `ProfileError` if it is missing, unreadable or not for this mat."""
    path = path_of(folder, name)
    again = f"'moccasin-mat mat calibrate --profile {name}' makes it"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ProfileError(f"there is no profile {path}", again) from error
    except OSError as error:
        raise ProfileError(f"the profile {path} cannot be read: {describe_error(error)}", again) from error
    try:
        profile = msgspec.json.decode(data, type=Profile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path} is not a profile: {error}", again) from error
    if wrong := _misfit(profile):
        raise ProfileError(f"{path} does not fit: {wrong}", again)
    return profile


def save_profile(folder: Path, profile: Profile) -> Path:
    """Write `profile` to `folder`, keeping the previous one as `NAME.bak`; return its path. Raises `ProfileError`."""
    path = path_of(folder, profile.name)
    data = msgspec.json.format(msgspec.json.encode(profile)) + b"\n"
    try:
        if path.exists():
            atomic_write(folder / f"{profile.name}.bak", path.read_bytes())
        atomic_write(path, data)
    except OSError as error:
        raise ProfileError(
            f"the profile {path} cannot be written: {describe_error(error)}",
            "make room, or name settings in another folder",
        ) from error
    return path


def _misfit(profile: Profile) -> str:
    """Return why `profile` does not match this program's pin map, or ''."""
    pads, strips = PADS, PADS * len(pinmap().touch.strips)
    sensors = len(pinmap().magnetometer_positions())
    if profile.format != FORMAT:
        return f"it has format {profile.format}, this program reads {FORMAT}"
    if (strikes := profile.strikes) is not None:
        if not THRESHOLD_DB[0] <= strikes.threshold_db <= THRESHOLD_DB[1]:
            return f"a threshold of {strikes.threshold_db:g} dB"
        if {len(strikes.noise), len(strikes.level_dbfs), len(strikes.margin_db)} != {pads}:
            return f"strikes of another number of pads than {pads}"
    if (touch := profile.touch) is not None:
        if not 2.0 <= touch.clear <= touch.brushed <= touch.touch <= 200.0:
            return "thresholds of touch that contradict each other"
        if {len(touch.rest), len(touch.noise), len(touch.lost)} != {strips}:
            return f"another number of touch strips than {strips}"
    if (magnets := profile.magnets) is not None:
        if {len(magnets.offsets), len(magnets.known)} != {sensors}:
            return f"another number of magnetometers than {sensors}"
        most = 2 * pinmap().magnetometers.range_ut
        numbers = np.array([*magnets.offsets, magnets.level])
        if not (np.abs(numbers) <= most).all() or not (magnets.scans >= 1.0 and magnets.scatter > 0.0):
            return "magnetometer readings that cannot be"
        depth_mm, strength = magnets.steel or (MAX_STEEL_MM, 0.0)
        if not (0.0 < depth_mm <= MAX_STEEL_MM and 0.0 <= strength <= 1.0):
            return "steel under the mat that cannot be"
    return ""
