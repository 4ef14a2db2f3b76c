"""The pages' own fonts: small, with the letters that the languages of the games need, and free to keep their name."""

import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import pi_controller
from pi_controller.web.templates import FOLDER

STATIC = FOLDER.parent / "static"
FONTS = {path.stem: path for path in STATIC.glob("*.woff2")}
MAX_BYTES = 200_000
LATIN = ["NotoSans-Regular", "NotoSans-Bold", "NotoSerif-Regular", "NotoSerif-SemiBold"]
WEIGHTS = {"normal": 400, "bold": 700}
LETTERS = "čġšžŋȟƞḣǧṭḳṗáéíóúąęįǫųʔƛəɬχθʷʰʼ’“”…–×½€" + "\u0313\u0315\u030c\u0301\u0300\u0323\u0331\u0328"
"""Letters of Dakota, Lakota and the Salish languages, with their combining marks."""


def code_points(name):
    return set(TTFont(FONTS[name]).getBestCmap())


def test_fonts_are_within_the_size_budget():
    assert sum(path.stat().st_size for path in FONTS.values()) <= MAX_BYTES


@pytest.mark.parametrize("name", LATIN)
def test_latin_fonts_have_every_letter(name):
    assert [letter for letter in LETTERS if ord(letter) not in code_points(name)] == []


@pytest.mark.parametrize("name", LATIN)
def test_latin_fonts_place_combining_marks(name):
    tags = {record.FeatureTag for record in TTFont(FONTS[name])["GPOS"].table.FeatureList.FeatureRecord}
    assert {"mark", "mkmk"} <= tags


def test_syllabics_are_complete():
    assert set(range(0x1400, 0x1680)) <= code_points("NotoSansCanadianAboriginal-Regular")


@pytest.mark.parametrize("name", FONTS)
def test_licence_is_open_and_reserves_no_name(name):
    names = TTFont(FONTS[name])["name"]
    assert "SIL Open Font License, Version 1.1" in names.getDebugName(13)
    assert "Reserved Font Name" not in names.getDebugName(0) + names.getDebugName(13)
    assert "SIL OPEN FONT LICENSE Version 1.1" in (STATIC / "OFL.txt").read_text("utf-8")


def test_fonts_use_display_swap():
    faces = re.findall(r"@font-face \{(.*?)\}", (STATIC / "tokens.css").read_text("utf-8"))
    assert {re.search(r'url\("(.+?)\.woff2"\)', face)[1] for face in faces} == set(FONTS)
    assert all("font-display: swap" in face for face in faces)


def read_faces():
    """Return {family: [(lightest, heaviest, weight of the file)]} of the pages' fonts."""
    faces = {}
    for face in re.findall(r"@font-face \{(.*?)\}", (STATIC / "tokens.css").read_text("utf-8")):
        family, name = re.search(r'font-family: "(.+?)"', face)[1], re.search(r'url\("(.+?)\.woff2"\)', face)[1]
        lightest, heaviest = re.search(r"font-weight: (\d+) (\d+)", face).groups()
        faces.setdefault(family, []).append((int(lightest), int(heaviest), TTFont(FONTS[name])["OS/2"].usWeightClass))
    return faces


def read_weights():
    """Return {weight: a style that uses it} of all style sheets and of the pages' own styles."""
    found = {700: "<b>, <strong> and <th> have it without a style"}
    for path in Path(pi_controller.__file__).parent.rglob("*"):
        if path.suffix not in {".css", ".html"}:
            continue
        text = re.sub(r"@font-face \{.*?\}", "", path.read_text("utf-8"))
        for word in re.findall(r"font-weight: *([\w-]+)|font: *(?:italic )?(bold|[1-9]00)\b", text):
            weight = word[0] or word[1]
            found.setdefault(WEIGHTS.get(weight) or int(weight), f"{path.name}: {weight}")
    return found


@pytest.mark.parametrize("family", ["Mat Sans", "Mat Serif"])
def test_each_weight_of_a_style_has_a_face(family):
    faces, weights = read_faces()[family], read_weights()
    assert {400, 600, 700} <= set(weights)
    for weight, where in weights.items():
        (drawn,) = (own for lightest, heaviest, own in faces if lightest <= weight <= heaviest)
        assert abs(drawn - weight) <= 100, f"{family} has no face for {where}"


def test_no_page_waits_for_a_font():
    """A preload takes the network from the style sheets."""
    assert 'rel="preload"' not in Path(FOLDER, "base.html").read_text("utf-8")


def test_fonts_alone_are_cached_by_browsers(web):
    assert "max-age" in web.get("/static/NotoSans-Bold.woff2").headers["cache-control"]
    assert web.get("/static/style.css").headers["cache-control"] == "no-store"


def test_style_is_compressed_for_browsers_that_take_it(web):
    plain = web.get("/static/style.css", headers={"accept-encoding": "identity"})
    packed = web.get("/static/style.css", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "accept-encoding")
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert packed.text == plain.text
