"""Runs on the mat board at power-up."""

import board
import sampler

if board.asked_to_stay():
    board.programming()
    print("Programming: the mat does not run. Copy the files, then reset.")
else:
    mat = board.Board()
    try:
        work = sampler.Sampler(mat)
        while True:
            work.step()
    except Exception as error:
        mat.fail(error)  # keeps the trace in fault.txt and starts anew
