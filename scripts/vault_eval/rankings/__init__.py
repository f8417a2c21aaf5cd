"""Ask every query, time each answer, and hold the run to the bytes it began with."""
