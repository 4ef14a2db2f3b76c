"""The host's own marks: checked, written again without anything but pixels, readable, on the public pages alone."""

import io
import re
import zipfile
import zlib

import pytest
from hub_site import Site
from PIL import Image, PngImagePlugin
from pydantic import ValidationError

from pi_controller.cli import main
from pi_controller.config.load import read_settings
from pi_controller.config.model import MarksSection
from pi_controller.errors import SettingsError
from pi_controller.host.pdf import write_pdf
from pi_controller.web.address import PageSettings
from pi_controller.web.host_marks import MAX_BYTES, MAX_PIXELS, MAX_SIDE, HostMarks, encode_image, load_host_marks
from pi_controller.web.server import WebServer

NAME = 'Ċaŋkdeska <b>Çikana</b> "Community"'
COLOURS = {"ground": "#7a1f1f", "ink": "#ffffff"}


def image_file(path, size=(900, 300), kind="PNG", **how):
    Image.new("RGB", size, "#3366aa").save(path, kind, **how)
    return path


def list_chunks(png):
    """Return the names of the chunks of a PNG file, and what follows the last one."""
    names, at = [], 8
    while not names or names[-1] != "IEND":
        length, name = int.from_bytes(png[at : at + 4]), png[at + 4 : at + 8].decode()
        names.append(name)
        at += 12 + length
    return names, png[at:]


def test_image_is_reencoded_without_metadata(tmp_path):
    told = PngImagePlugin.PngInfo()
    told.add_text("Comment", "<script>alert(1)</script>")
    png = image_file(tmp_path / "ours.png", pnginfo=told)
    png.write_bytes(png.read_bytes() + b"<script>alert(2)</script>")
    jpeg = image_file(
        tmp_path / "ours.jpg", (300, 900), "JPEG", comment=b"<script>", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0"
    )
    for made, (width, height) in zip(map(encode_image, [png, jpeg]), [(MAX_SIDE, 160), (160, MAX_SIDE)], strict=True):
        names, rest = list_chunks(made)
        assert (set(names) <= {"IHDR", "PLTE", "tRNS", "IDAT", "IEND"}, rest) == (True, b"")
        image = Image.open(io.BytesIO(made))
        assert image.size == (width, height)
        red, green, blue, alpha = image.convert("RGBA").getpixel((5, 5))
        assert abs(red - 0x33) + abs(green - 0x66) + abs(blue - 0xAA) < 12
        assert alpha == 255


def bomb():
    """Return a small PNG file that says it has more pixels than a small machine can hold."""
    side = int(MAX_PIXELS**0.5) + 1

    def chunk(name, content):
        return len(content).to_bytes(4) + name + content + zlib.crc32(name + content).to_bytes(4)

    header = side.to_bytes(4) + side.to_bytes(4) + bytes([8, 0, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a\x01\0\x01\0\0\0\0;",
        bytes(MAX_BYTES + 1),
        bomb(),
    ],
    ids=["empty", "svg", "cut", "gif", "large", "bomb"],
)
def test_untrusted_image_file_is_refused_by_name(tmp_path, content):
    (path := tmp_path / "ours.png").write_bytes(content)
    with pytest.raises(SettingsError, match=r"ours\.png") as told:
        encode_image(path)
    assert "[marks] images" in told.value.hint


@pytest.mark.parametrize("prints", [False, True])
def test_truncated_and_missing_images_are_refused(tmp_path, prints):
    if prints:
        write_pdf("<p>a page</p>", tmp_path / "page.pdf")  # its library changes a setting of Pillow
    whole = image_file(tmp_path / "ours.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    for name in ("cut.png", "none.png"):
        with pytest.raises(SettingsError, match=name):
            encode_image(tmp_path / name)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (COLOURS, "name"),
        ({"name": "Us", "ground": "#7a1f1f"}, "ink"),
        ({"name": "Us", "ink": "#7a1f1f"}, "ground"),
        ({"name": "Us", "ground": "#777777", "ink": "#888888"}, "ink"),
        ({"name": "Us", "ground": "red", "ink": "#ffffff"}, "ground"),
        ({"name": "Us", "ground": "#7a1f1f", "ink": "#fff;}body{display:none"}, "ink"),
        ({"name": "Us", "images": ["a.png", "b.png", "c.png"]}, "images"),
        ({"name": "W" * 61}, "name"),
    ],
)
def test_unreadable_marks_are_refused_with_their_key(tmp_path, given, key):
    path = tmp_path / "table.toml"
    lines = (f"{name} = {value if isinstance(value, list) else repr(value)}" for name, value in given.items())
    path.write_text("[marks]\n" + "\n".join(lines).replace("'", '"'))
    with pytest.raises(SettingsError, match=rf"\b{key}\b"):
        read_settings(path)


def test_marks_below_text_contrast_are_refused():
    assert MarksSection(name="Us", ground="#767676", ink="#ffffff").ink  # 4.54
    with pytest.raises(ValidationError):
        MarksSection(name="Us", ground="#787878", ink="#ffffff")  # 4.42


def test_images_are_found_beside_the_settings(tmp_path):
    image_file(tmp_path / "ours.png")
    (tmp_path / "table.toml").write_text('[marks]\nname = "Us"\nimages = ["ours.png"]\n')
    marks = load_host_marks(read_settings(tmp_path / "table.toml").marks)
    assert len(marks.images) == 1
    assert load_host_marks(MarksSection()) is None


def test_unusable_image_is_logged_and_fails_check_settings(tmp_path, caplog, capsys):
    image_file(tmp_path / "ours.png")
    path = tmp_path / "table.toml"
    path.write_text('[marks]\nname = "Us"\nimages = ["gone.png", "ours.png"]\n')
    assert len(load_host_marks(read_settings(path).marks).images) == 1
    assert "gone.png" in caplog.text
    assert main(["settings", "check", str(path)]) != 0
    assert "gone.png" in capsys.readouterr().err
    image_file(tmp_path / "gone.png")
    assert main(["settings", "check", str(path)]) == 0


def test_public_pages_show_marks_and_serve_their_files(feed, visit, tmp_path):
    files = [image_file(tmp_path / "one.png"), image_file(tmp_path / "two.jpg", (300, 300), "JPEG")]
    marks = HostMarks(NAME, **COLOURS, images=tuple(map(encode_image, files)))
    web = visit(WebServer(feed, pages=PageSettings(host=marks)))
    for path in ("/", "/room", "/overlay", "/find"):
        page = web.get(path).text
        assert "&lt;b&gt;" in page, path
        assert page.count("/static/host-") == 2, path
        for name in re.findall(r'"(/static/host[^"]+)"', page):
            assert web.get(name).status_code == 200
    assert web.get("/static/host-1.png").content == marks.images[0]
    assert "#7a1f1f" in web.get("/static/host.css").text
    assert "static/host" not in web.get("/check").text, "what proves a commitment has no marks"


def test_without_marks_a_page_asks_for_none(web):
    for path in ("/", "/room", "/overlay", "/find"):
        assert "host.css" not in web.get(path).text


def test_hub_marks_boards_printed_pages_and_results(tmp_path):
    image = image_file(tmp_path / "ours.png")
    site = Site(tmp_path, marks={"name": NAME, **COLOURS, "images": [str(image)]})
    try:
        site.drawn()
        png = site.web.get("/static/host-1.png").content
        assert list_chunks(png)[0][0] == "IHDR"
        for path in ("/", "/hall", "/bracket", "/start-list", "/announcer", "/team/1"):
            page = site.web.get(path).text
            assert (page.count("static/host-1.png"), "&lt;b&gt;Çikana" in page) == (1, True), path
        assert "host-1.png" in site.stream("/find").text
        packed = zipfile.ZipFile(io.BytesIO(site.web.get("/director/results.zip").content))
        assert packed.read("results/static/host-1.png") == png
        assert 'src="static/host-1.png"' in packed.read("results/index.html").decode()
    finally:
        site.close()
