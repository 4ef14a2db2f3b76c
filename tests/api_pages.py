"""Build the reference of the public packages as pages, and take every warning for an error.

    python tests/api_pages.py FOLDER

Needs `pdoc` (the extra `test`). The first page to open is `FOLDER/index.html`.
"""

import argparse
import warnings
from importlib import import_module
from pathlib import Path

import pdoc

PACKAGES = [
    f"pi_controller.{name}"
    for name in (
        "board",
        "config",
        "display",
        "record",
        "referee",
        "rules",
        "sensing",
        "table",
        "testing",
        "tournament",
    )
]


def build(folder):
    """Write the pages of all that the packages export into `folder`; raises at the first warning."""
    warnings.simplefilter("error")
    for package in map(import_module, PACKAGES):
        for name in package.__all__:  # what is imported when it is first used must be there to be looked at
            getattr(package, name)
    pdoc.pdoc(*PACKAGES, output_directory=folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    build(parser.parse_args().folder)
