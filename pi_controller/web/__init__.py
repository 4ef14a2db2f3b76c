"""The live page, its event stream, the judge's console and the public pages."""
