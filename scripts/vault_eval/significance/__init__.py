"""What chance alone could do to a figure: intervals and tests, deterministic, no files."""

from vault_eval.significance.intervals import Interval, mean_interval

__all__ = ["Interval", "mean_interval"]
