"""The host's own marks on the public pages, as a browser lays them out."""

import gc

import pytest
from PIL import Image

from pi_controller.web.address import PageSettings
from pi_controller.web.host_marks import HostMarks, encode_image
from pi_controller.web.server import WebServer

FULL = (1920, 1080)
LAID = """async () => {
    const host = document.querySelector(".host");
    await Promise.all([...host.querySelectorAll("img")].map(one => one.decode()));
    const box = host.getBoundingClientRect();
    const isOver = b => b.width > 1 && b.left < box.right - 1 && b.right > box.left + 1
        && b.height > 1 && b.top < box.bottom - 1 && b.bottom > box.top + 1;
    const over = [...document.querySelectorAll("h1, .sentence, .score, .situation, .badge")]
        .filter(one => one.checkVisibility() && isOver(one.getBoundingClientRect())).map(one => one.outerHTML);
    const style = getComputedStyle(host);
    return { box: [box.left, box.top, box.right, box.bottom], over, ground: style.backgroundColor, ink: style.color };
}"""


@pytest.fixture
def server(feed, tmp_path):
    for size in ((900, 300), (300, 300)):
        Image.new("RGB", size, "#3366aa").save(tmp_path / f"{size[0]}.png")
    images = tuple(encode_image(tmp_path / name) for name in ("900.png", "300.png"))
    marks = HostMarks('Ċaŋkdeska <b>Çikana</b> "Community"', ground="#7a1f1f", ink="#ffffff", images=images)
    server = WebServer(feed, port=0, pages=PageSettings(host=marks))
    server.start()
    yield server
    server.stop()
    gc.collect()


@pytest.mark.parametrize(
    ("path", "size"),
    [
        *[(path, size) for path in ("", "room", "find") for size in ((390, 844), (800, 480), FULL)],
        *[(f"overlay?place={place}", FULL) for place in ("bottom", "top")],
    ],
)
def test_marks_fit_the_page_without_covering_content(open_page, path, size):
    page = open_page(path, size=size)
    found = page.evaluate(LAID)
    left, top, right, bottom = found["box"]
    assert left >= 0
    assert top >= 0
    assert right <= size[0]
    assert bottom <= size[1]
    assert bottom - top > 10
    assert found["over"] == []
    assert (found["ground"], found["ink"]) == ("rgb(122, 31, 31)", "rgb(255, 255, 255)")
