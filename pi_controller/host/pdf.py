"""Print a page as PDF with WeasyPrint, an extra: no browser is needed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal

from pi_controller.errors import MatError, describe_error
from pi_controller.extras import requires_extra

Paper = Literal["A4", "letter"]
_FONTS = Path(__file__).parents[1] / "web" / "static"
_FACES = "".join(
    f'@font-face {{ font-family: "{family}"; src: url("{(_FONTS / name).as_uri()}.woff2"); font-weight: {weight} }}\n'
    for family, name, weight in (
        ("Noto Sans", "NotoSans-Regular", 400),
        ("Noto Sans", "NotoSans-Bold", 700),
        ("Noto Sans Canadian Aboriginal", "NotoSansCanadianAboriginal-Regular", 400),
    )
)
"""The pages' fonts under their own names, for sheets that load none."""


class PdfError(MatError, OSError):
    """The page cannot be printed to that file."""

    code = "pdf"


def write_pdf(html: str, pdf: Path, folder: Path | None = None, paper: Paper | None = None) -> Path:
    """Print the page `html` to the file `pdf` and return it; its relative addresses are files in `folder`.

    With `paper` the pages have that size, else the size that the page states. Files alone are read, never the network.
    Raises `MissingExtraError` and `PdfError`.
    """
    for library in ("weasyprint", "weasyprint.progress", "fontTools"):  # they report rules that paper has no use for
        logging.getLogger(library).setLevel(logging.ERROR)
    try:
        with requires_extra("print", "a PDF"):
            from PIL import ImageFile  # noqa: PLC0415 - an extra
            from weasyprint import CSS, HTML  # noqa: PLC0415
            from weasyprint.text.fonts import FontConfiguration  # noqa: PLC0415
            from weasyprint.urls import URLFetcher  # noqa: PLC0415
    except OSError as error:
        hint = "on Debian: sudo apt install libpangoft2-1.0-0"
        raise PdfError("a PDF needs the library Pango, which is not installed", hint) from error
    ImageFile.LOAD_TRUNCATED_IMAGES = False  # WeasyPrint's import lets Pillow read cut images, everywhere
    sizes = f"@page {{ size: {paper} !important }} @page wide {{ size: {paper} landscape !important }}" if paper else ""
    fonts = FontConfiguration()
    styles = [CSS(string=_FACES + sizes, font_config=fonts)]
    page = HTML(
        string=html,
        base_url=f"{folder.absolute().as_uri()}/" if folder else None,
        url_fetcher=URLFetcher(allowed_protocols={"file", "data"}),
    )
    try:
        page.write_pdf(pdf, stylesheets=styles, font_config=fonts)
    except OSError as error:
        raise PdfError(f"cannot write {pdf}: {describe_error(error)}", "choose a writable folder") from error
    return pdf
