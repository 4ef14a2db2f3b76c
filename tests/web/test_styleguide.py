"""The style guide shows every colour and drawing there is; a text's colour can be read on every ground."""

import re

import pytest
import styleguide

from pi_controller.config.fields import contrast

TEXTS = {"ink": 4.5, "soft": 4.5, "a": 4.5, "b": 4.5, "ask": 4.5, "wood": 3.0}
"""The least contrast of a text of this colour (WCAG 2.2, 1.4.3); the wood's are large."""
GROUNDS = ("ground", "raised")


def schemes():
    """Return the values of the colours by their names, in the light and in the dark scheme."""
    css = (styleguide.STATIC / "style.css").read_text("utf-8")
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
    assert contrast(colours["ask"], colours["ask-ground"]) >= TEXTS["ask"]
