"""The host's own marks on the public pages and on paper: a name, two colours and up to two images.

A community, a museum or a club shows its own marks; this project supplies none. Each image is decoded and written again
as a small PNG, so that a page never carries what else was in the file.
"""

import io
import logging
import warnings
from pathlib import Path
from typing import NamedTuple

from pi_controller.config.model import MarksSection
from pi_controller.errors import MatError, SettingsError, describe_error
from pi_controller.extras import requires_extra
from pi_controller.host.files import find_file
from pi_controller.text import Sentence

log = logging.getLogger(__name__)
MAX_BYTES = 8_000_000
MAX_PIXELS = 40_000_000
"""An image of a camera; a larger one could fill a small machine's memory."""
MAX_SIDE = 480
"""Width and height of an image on the pages, in pixels: 4K screens show it at 96 px of a 1080p one."""
_HINT = Sentence("save it as PNG or JPEG, smaller than 8 MB and 40 megapixels, or remove it from [marks] images")


class HostMarks(NamedTuple):
    """The marks as the pages show them; `images` are PNG files."""

    name: str
    ground: str = ""
    ink: str = ""
    images: tuple[bytes, ...] = ()

    @property
    def image_names(self) -> list[str]:
        """The names of the images among the pages' static files."""
        return [f"host-{number}.png" for number in range(1, len(self.images) + 1)]

    def static_files(self) -> dict[str, tuple[bytes, str]]:
        """Return {name: (content, media type)}: the style sheet with the colours, and the images."""
        colours = f".host {{ --host-ground: {self.ground}; --host-ink: {self.ink}; }}\n" if self.ground else ""
        images = zip(self.image_names, self.images, strict=True)
        return {"host.css": (colours.encode(), "text/css"), **{name: (data, "image/png") for name, data in images}}


def load_host_marks(settings: MarksSection) -> HostMarks | None:
    """Return the marks of `settings`, None without a name.

    An image that cannot be used is left out with a warning: no game waits for a logo. `settings check` refuses it.
    """
    images: list[bytes] = []
    for path in settings.images if settings.name else ():
        try:
            images.append(encode_image(Path(path)))
        except MatError as error:
            log.warning("%s; %s", error.message, error.hint)
    return HostMarks(settings.name, settings.ground, settings.ink, tuple(images)) if settings.name else None


def encode_image(path: Path) -> bytes:
    """Return an image as a PNG of at most `MAX_SIDE` pixels a side. Raises `SettingsError`, `MissingExtraError`."""
    with requires_extra("marks", "an image of the host"):
        from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - a table without images needs no Pillow

    try:
        with find_file(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            "cannot read the image {path}: {why}", _HINT, path=path, why=describe_error(error)
        ) from error
    if len(content) > MAX_BYTES:
        raise SettingsError("the image {path} is larger than {most} MB", _HINT, path=path, most=MAX_BYTES // 1_000_000)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of metadata, which is dropped, and of the size, which is checked here
            image = Image.open(io.BytesIO(content), formats=("PNG", "JPEG"))
            if image.width * image.height > MAX_PIXELS:
                raise SettingsError(
                    "the image {path} has {width} x {height} pixels",
                    _HINT,
                    path=path,
                    width=image.width,
                    height=image.height,
                )
            small = image.convert("RGBA")
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise SettingsError("{path} is not a PNG or JPEG image that can be read", _HINT, path=path) from error
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    clean = Image.new("RGBA", small.size)
    clean.paste(small)  # pixels alone: no text, profile or other chunk of the file
    made = io.BytesIO()
    clean.save(made, "PNG", optimize=True)
    return made.getvalue()
