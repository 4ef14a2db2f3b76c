"""Tools for who builds and keeps a mat: doctor, flash, calibrate, find the board."""
