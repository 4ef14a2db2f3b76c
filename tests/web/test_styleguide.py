"""The style guide shows all colours, spacings, times and drawings; sheets use no others; every text can be read."""

import re
from pathlib import Path

import pytest
import styleguide

import pi_controller
from pi_controller.config.fields import contrast

TEXTS = {"ink": 4.5, "soft": 4.5, "a": 4.5, "b": 4.5, "ask": 4.5, "wood": 3.0}
"""The least contrast of a text of this colour (WCAG 2.2, 1.4.3); the wood's are large."""
GROUNDS = ("ground", "raised")
SHEETS = sorted(Path(pi_controller.__file__).parent.glob("*/static/*.css"))
SCRIPTS = sorted(Path(pi_controller.__file__).parent.glob("*/static/*.js"))
SPACING = r"(?<![\w-])(?:margin|padding|(?:row-|column-)?gap)(?:-[a-z-]+)?: [^;}]+"
LENGTH = r"(?<![\w.-])-?(?:\d*\.)?\d+(?:rem|em|px)\b"
MOTION = r"(?<![\w-])(?:animation|transition)(?:-[a-z-]+)?: [^;}]+"
TIME = r"(?<![\w.-])(?:\d*\.)?\d+m?s\b|\bease\b|\bease-(?:in|out|in-out)\b|cubic-bezier|steps\("
OWN_SPACINGS = {
    ("bracket.css", "padding: .35em .7em"): "a downloaded bracket carries this sheet alone",
    ("bracket.css", "padding: .35em .4em"): "a downloaded bracket carries this sheet alone",
    ("bracket.css", "gap: 0.2rem"): "a downloaded bracket carries this sheet alone",
    ("bracket.css", "padding: 0.1rem 0.3rem"): "a downloaded bracket carries this sheet alone",
    ("exhibit.css", "padding: 1.3rem 0 0"): "the height of the line of text above",
    ("exhibit.css", "padding-top: 1.1rem"): "the height of the line of text above",
    ("exhibit.css", "padding: 0.3em"): "a digit's round plate, as large as the digit",
    ("hall.css", "padding-bottom: 0.15em"): "the descenders of a clipped text",
    ("hall.css", "margin-bottom: -0.15em"): "the descenders of a clipped text",
    ("hall.css", "padding-bottom: 0.08em"): "the descenders of a clipped text",
    ("mat.css", "padding: 0.25em 0.4em"): "a digit's round plate, as large as the digit",
    ("judge.css", "padding-right: 26rem"): "the width of the menu beside the title",
    ("settings.css", "padding-bottom: 7rem"): "the height of the bar that is fixed to the bottom",
    ("room.css", "padding-bottom: 0.04em"): "the descenders of a clipped text",
    ("room.css", "padding-bottom: 0.12em"): "the descenders of large clipped text",
    ("room.css", "padding-bottom: 0.1em"): "the descenders of a clipped text",
    ("room.css", "margin-right: calc((100cqw - 7.6rem) / 45)"): "half a stick's width",
}
"""Spacings that depend on the thing itself: geometry."""
UNMOVED = (
    "animation: more linear",
    "animation-timeline: scroll()",
    "animation: wait-for-script 0s var(--time-long) forwards",
    "animation: none",
    "transition: none",
)
"""Declarations that move nothing by themselves: an arrow that hides at the end of a page, a wait, and none."""


def schemes():
    """Return the values of the colours by their names, in the light and in the dark scheme."""
    css = styleguide.read_tokens()
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in css.split(":root {")[1:3])
    return {"light": light, "dark": light | dark}


def test_it_shows_every_colour_and_every_drawing():
    page = styleguide.render_page()
    styles = re.findall(r'href="/static/([\w.]+)"', page)
    assert {"style.css", "drawings.css", "mat.css"} <= set(styles)
    assert [name for name in styles if not (styleguide.STATIC / name).exists()] == []
    names = styleguide.list_colours()
    assert {"ink", "ground", "a", "b", "band"} <= set(names)
    assert all(f'data-colour="{name}"' in page for name in names)
    symbols = styleguide.list_symbols()
    assert {"cloth", "stick", "bead", "hand", "envelope", "curtain"} <= set(symbols)
    assert all(page.count(f'<use href="#{name}"') for name in symbols)
    assert sorted(re.findall(r'<symbol id="([\w-]+)"', page)) == sorted(symbols)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_can_be_read_on_every_ground(scheme, text):
    colours = schemes()[scheme]
    for ground in GROUNDS:
        assert contrast(colours[text], colours[ground]) >= TEXTS[text], (text, ground)
    for asked in ("ask", "ink"):
        assert contrast(colours[asked], colours["ask-ground"]) >= TEXTS[asked]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_players_stand_out_from_every_ground(scheme):
    colours = schemes()[scheme]
    for name in ("a", "b", *(f"p{player}" for player in range(1, 9))):
        assert min(contrast(colours[name], colours[ground]) for ground in (*GROUNDS, "on-team")) >= 4.5, name
    assert contrast(colours["water"], colours["ground"]) >= 3


def read_rules(sheet: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)


def motion_outside(css: str) -> list[str]:
    """Return the animations and transitions that also run if less movement is asked for."""
    found, depth, allowed = [], 0, 0
    for part in re.findall(rf"@media [^{{]+\{{|\{{|\}}|{MOTION}", css):
        if part.endswith("{"):
            depth += 1
            allowed = allowed or (depth if "prefers-reduced-motion: no-preference" in part else 0)
        elif part == "}":
            allowed = 0 if allowed == depth else allowed
            depth -= 1
        elif not allowed and part not in UNMOVED:
            found.append(part)
    return found


def test_it_shows_every_spacing_time_and_easing():
    page = styleguide.render_page()
    tokens = {kind: styleguide.list_tokens(kind) for kind in ("gap", "time", "ease")}
    assert {kind: len(names) for kind, names in tokens.items()} == {"gap": 7, "time": 4, "ease": 3}
    assert all(f'data-token="{name}"' in page for names in tokens.values() for name in names)
    steps = [float(value.removesuffix("rem")) for value in tokens["gap"].values()]
    assert steps == sorted(steps)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_stylesheet_takes_spacing_and_motion_from_tokens(sheet):
    css = read_rules(sheet)
    spacings = [one for one in re.findall(SPACING, css) if re.search(LENGTH, one)]
    assert [one for one in spacings if (sheet.name, one) not in OWN_SPACINGS] == []
    if sheet.name != "tokens.css":
        assert set(re.findall(TIME, re.sub(r"var\(--[\w-]+\)", "", css))) <= {"0s"}
    used = set(re.findall(r"var\(--((?:gap|time|ease)-[\w-]+)", css))
    assert used <= {name for kind in ("gap", "time", "ease") for name in styleguide.list_tokens(kind)}


def test_every_exception_is_needed():
    used = {(sheet.name, one) for sheet in SHEETS for one in re.findall(SPACING, read_rules(sheet))}
    assert set(OWN_SPACINGS) <= used


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_stylesheet_has_no_motion_under_reduced_motion(sheet):
    assert motion_outside(read_rules(sheet)) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_takes_motion_from_the_tokens(script):
    assert re.findall(r"\b(?:duration|delay): *\d|easing: *[\"']|\}\], \d", script.read_text("utf-8")) == []
