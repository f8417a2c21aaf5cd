"""One file per metric; each defines `metrics(depth) -> tuple[Metric, ...]` and is found by `catalogue`."""
