"""Runs on the mat board at power-up."""
# ruff: noqa: E402  # what is said between the imports is said because they take a second

import sys

import micropython

# before all else: a host may be talking already, and a 3 in a frame is no Ctrl-C
micropython.kbd_intr(-1)  # pyright: ignore[reportAttributeAccessIssue]

import starts

sys.stdout.write("\0")  # ends no frame; who waits for the mat to start hears that it does

if starts.asked_to_stay():
    why = "asked for"
elif starts.failed_at_once():
    why = "the mat's program failed again and again, see fault.txt"
else:
    why = ""

import adc

ring = adc.make_ring()
import board  # what fails to load leaves the board at MicroPython's prompt, where it can be mended

sys.stdout.write("\0")
import sampler

if why:
    board.programming()
    print("Programming: the mat does not run (" + why + "). Copy the files, then reset.")
else:
    mat = board.Board(ring)
    try:
        work = sampler.Sampler(mat)
        while True:
            work.step()
    except Exception as error:
        mat.fail(error)  # keeps the trace in fault.txt and starts anew
