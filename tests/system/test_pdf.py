"""A page printed as PDF: from files alone, with the pages' fonts, and a plain error if something is missing."""

import sys

import pypdfium2
import pytest
import zxingcpp
from printed import need_pango, read_pdf

from pi_controller.extras import MissingExtraError
from pi_controller.host.pdf import PdfError, write_pdf
from pi_controller.web.address import qr_code


class BrokenLibrary:
    """A finder of modules for which WeasyPrint's system library is missing."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "weasyprint":
            raise OSError("cannot load library 'libpangoft2-1.0-0'")


def test_missing_extra_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[print\]"):
        write_pdf("<p>Hello", tmp_path / "a.pdf")


def test_missing_system_library_names_its_package(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "weasyprint"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [BrokenLibrary(), *sys.meta_path])
    with pytest.raises(PdfError, match="sudo apt install libpangoft2"):
        write_pdf("<p>Hello", tmp_path / "a.pdf")


def test_unwritable_file_is_an_error(tmp_path):
    need_pango()
    with pytest.raises(PdfError, match="cannot write"):
        write_pdf("<p>Hello", tmp_path / "no folder" / "a.pdf")


def test_letters_of_dakota_and_syllabics_are_embedded(tmp_path):
    need_pango()
    words = "čháŋ waŋžídaŋ ᐊᓂᔑᓈᐯ"
    (page,) = read_pdf(
        write_pdf(
            f'<p style="font-family: Noto Sans, Noto Sans Canadian Aboriginal">{words}',
            tmp_path / "a.pdf",
            paper="letter",
        )
    )
    assert page.size == (216, 279)
    assert words in page.text
    assert "Noto-Sans" in page.fonts
    assert "Noto-Sans-Canadian-Aboriginal" in page.fonts


def test_pdf_reads_files_but_no_network(tmp_path, caplog):
    need_pango()
    (tmp_path / "sheet.css").write_text("@page { size: 50mm 40mm }", "utf-8")
    html = '<link rel="stylesheet" href="sheet.css"><img src="http://192.0.2.1/a.png" alt="a picture">'
    page, *_ = read_pdf(write_pdf(html, tmp_path / "a.pdf", tmp_path))
    assert page.size == (50, 40)
    assert "disallowed protocol: http://192.0.2.1/a.png" in caplog.text


def test_code_and_drawing_are_on_the_page(tmp_path):
    need_pango()
    svg = '<svg width="30mm" height="5mm"><path d="M0 0h200" stroke="#a23c17" stroke-width="40"/></svg>'
    html = f"{qr_code('http://192.0.2.7:8080/', 'a code')}{svg}"
    write_pdf(f"<style>svg {{ width: 40mm; height: 40mm }}</style>{html}", tmp_path / "a.pdf")
    with pypdfium2.PdfDocument(tmp_path / "a.pdf") as document:
        picture = document[0].render(scale=2).to_pil()
    assert [code.text for code in zxingcpp.read_barcodes(picture)] == ["http://192.0.2.7:8080/"]
    assert (0xA2, 0x3C, 0x17) in {colour for _, colour in picture.getcolors(100_000)}
