"""The live page and its event stream."""
