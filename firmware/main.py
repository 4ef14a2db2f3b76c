"""Runs on the mat board at power-up."""

import starts

if starts.asked_to_stay():
    why = "asked for"
elif starts.failed_at_once():
    why = "the mat's program failed again and again, see fault.txt"
else:
    why = ""

import board  # what fails to load leaves the board at MicroPython's prompt, where it can be mended
import sampler

if why:
    board.programming()
    print("Programming: the mat does not run (" + why + "). Copy the files, then reset.")
else:
    mat = board.Board()
    try:
        work = sampler.Sampler(mat)
        while True:
            work.step()
    except Exception as error:
        mat.fail(error)  # keeps the trace in fault.txt and starts anew
