"""Read printed sheets: pages, their texts and the places of their letters."""

import ctypes
from ctypes.util import find_library
from pathlib import Path
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium
from needed import need


class PrintedPage(NamedTuple):
    """A page: width and height in mm, text with single spaces, fonts, smallest letters in pt, and if all are on it."""

    size: tuple[int, int]
    text: str
    fonts: set[str]
    smallest: float
    is_whole: bool


def need_pango():
    """Skip the test if the library that sets the text is not installed; fail in CI."""
    need(find_library("pangoft2-1.0"), "no Pango")


def read_pdf(path: Path) -> list[PrintedPage]:
    """Return the pages of a PDF file."""
    with pypdfium2.PdfDocument(path) as document:
        return [_read_page(page) for page in document]


def _read_page(page: pypdfium2.PdfPage) -> PrintedPage:
    text, (width, height) = page.get_textpage(), page.get_size()
    sizes, fonts, is_whole = [], set(), True
    for n in range(text.count_chars()):
        if not text.get_text_range(n, 1).strip():
            continue
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(text, n, ctypes.byref(matrix))
        sizes.append(pdfium.FPDFText_GetFontSize(text, n) * abs(matrix.d))
        name = ctypes.create_string_buffer(99)
        pdfium.FPDFText_GetFontInfo(text, n, name, 99, None)
        fonts.add(name.value.decode().partition("+")[2])
        left, bottom, right, top = text.get_charbox(n)
        is_whole = is_whole and left >= 0 and bottom >= 0 and right <= width and top <= height
    size = round(width / 72 * 25.4), round(height / 72 * 25.4)
    return PrintedPage(size, " ".join(text.get_text_range().split()), fonts, min(sizes, default=0.0), is_whole)
