"""Write the fonts of the pages: subsets of Noto (SIL Open Font License, no reserved name) as WOFF2.

    sudo apt install fonts-noto-core fonts-noto-extra; pip install '.[docs]'
    python tests/tools/subset_fonts.py [FOLDER]      # FOLDER has the .ttf files of these packages

The letters are those of European languages, of Dakota and the Salish languages with their combining marks, and the
Unified Canadian Aboriginal Syllabics. Each file keeps the layout tables that place a mark on its letter.
"""

import sys
from pathlib import Path

from fontTools import subset

SOURCE = Path("/usr/share/fonts/truetype/noto")
STATIC = Path(__file__).parents[2] / "pi_controller" / "web" / "static"
LATIN = (
    *(range(0x20, 0x7F), range(0xA0, 0x250), range(0x250, 0x2B0), range(0x2B0, 0x300), range(0x300, 0x370)),
    *(range(0x1E00, 0x1F00), range(0x2010, 0x205F), range(0x2070, 0x20A0), range(0x20AC, 0x20AD)),
    *([0x3B2, 0x3B8, 0x3BB, 0x3C7, 0x2113, 0x2C61, 0x2C62, 0x25CC, 0xA78A, 0xA78B, 0xA78C],),
)
SYLLABICS = (range(0x1400, 0x1680), range(0x18B0, 0x18F6), [0x20])
FONTS = {
    "NotoSans-Regular": LATIN,
    "NotoSans-Bold": LATIN,
    "NotoSerif-Regular": LATIN,
    "NotoSerif-SemiBold": LATIN,
    "NotoSansCanadianAboriginal-Regular": SYLLABICS,
}
FEATURES = ["ccmp", "locl", "mark", "mkmk", "kern", "liga", "tnum", "lnum"]


def write_subset(name, ranges, source=SOURCE, folder=STATIC):
    """Write the subset of the font `name` with the code points `ranges`; return its path."""
    options = subset.Options(flavor="woff2", layout_features=FEATURES, name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14])
    options.hinting = False
    font = subset.load_font(source / f"{name}.ttf", options)
    font.recalcTimestamp = False  # the same file at each run
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for some in ranges for code in some])
    subsetter.subset(font)
    path = folder / f"{name}.woff2"
    subset.save_font(font, path, options)
    return path


def main():
    """Write all fonts and print their sizes."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE
    paths = [write_subset(name, ranges, source) for name, ranges in FONTS.items()]
    for path in paths:
        print(f"{path.stat().st_size:>7} {path.name}")
    print(f"{sum(path.stat().st_size for path in paths):>7} all")


if __name__ == "__main__":
    main()
