"""The rules: action -> new state and words called. Pure: no clock, no I/O, no sensors."""
