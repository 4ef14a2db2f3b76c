"""Names as long as a name may be, in several scripts."""

from pi_controller.text import MAX_NAME_CHARS


def fill(words):
    """Return `words`, repeated with spaces between, up to the length of the longest name."""
    return ((words + " ") * MAX_NAME_CHARS)[:MAX_NAME_CHARS].rstrip().ljust(MAX_NAME_CHARS, words[0])


LONG_NAMES = {
    "spaces": fill("Očhéthi Šakówiŋ drum and singing society of the upper rivers"),
    "syllabics": fill("ᐊᓂᔑᓈᐯ ᐃᑵᐗᒃ"),
    "unbroken": "W" * MAX_NAME_CHARS,
    "cjk": "日本" * (MAX_NAME_CHARS // 2),
    "arabic": fill("قبيلة"),
    "cherokee": fill("ᏣᎳᎩ"),
    "devanagari": fill("नमस्ते"),
    "osage": fill("𐓏𐓘𐓻𐓘𐓻𐓟"),
}
"""Each of exactly `MAX_NAME_CHARS` characters; each Osage letter is two units in a browser's count."""
