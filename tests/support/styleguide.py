"""A page of what all pages are made of: colours, type, spacing, motion, the things of the game, parts of the pages.

    python tests/support/styleguide.py [--port 8085]       (then open http://127.0.0.1:8085/styleguide)

For looking at while drawings or style sheets are changed, in both colour schemes. No installed table serves it.
"""

import argparse
import re
from pathlib import Path

import uvicorn
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pi_controller.web import templates

WEB = Path(templates.__file__).parent
STATIC = WEB / "static"
PAGE = Path(__file__).with_suffix(".html")
STEPS = ("points b", "count", "sentence", "word", "asked", "standing", "note", "label", "sounds", "credit")
"""Classes of the live page's texts, from the largest to the smallest."""
PADS = ("", "struck", "found", "bead", "opened")


def read_tokens() -> str:
    """Return the style sheet that defines the colours, spacings, times and easings."""
    return (STATIC / "tokens.css").read_text("utf-8")


def list_colours(css: str | None = None) -> list[str]:
    """Return the names of the colours that `tokens.css` defines for both schemes, without `--`."""
    return list(dict.fromkeys(re.findall(r"--([\w-]+): #", read_tokens() if css is None else css)))


def list_tokens(kind: str) -> dict[str, str]:
    """Return the names and values of the tokens of a kind: "gap", "time" or "ease"."""
    return dict(re.findall(rf"--({kind}-[\w-]+): ([^;]+);", read_tokens()))


def list_symbols() -> list[str]:
    """Return the names of all symbols of `drawings.html`."""
    return re.findall(r'<symbol id="([\w-]+)"', (WEB / "templates" / "drawings.html").read_text("utf-8"))


def render_page() -> str:
    """Return the page as HTML."""
    template = templates.environment().from_string(PAGE.read_text("utf-8"))
    values = {"colours": list_colours(), "symbols": list_symbols(), "steps": STEPS, "pads": PADS, "svg": Markup}
    values |= {f"{kind}s": list_tokens(kind) for kind in ("gap", "time", "ease")}
    return template.render(values, language="en", text=str, page_title="Style guide", styles=[])


def make_app() -> Starlette:
    """Return the page at /styleguide with its files."""
    page = Route("/styleguide", lambda _: HTMLResponse(render_page()))
    return Starlette(routes=[page, Mount("/static", StaticFiles(directory=STATIC))])


def main() -> None:
    """Serve the page until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8085)
    uvicorn.run(make_app(), host="127.0.0.1", port=parser.parse_args().port, log_level="warning")


if __name__ == "__main__":
    main()
