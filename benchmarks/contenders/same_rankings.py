"""How many queries have another ranking, or a score another last bit, in our last report than in the numpy program's."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def rankings(report: Path) -> dict[str, list[tuple[str, float]]]:
    """The pages of each query with their scores, in order."""
    rows = json.loads(report.read_text(encoding="utf-8"))["runs"][0]["queries"]
    return {row["id"]: [(one["page"], one["score"]) for one in row["ranking"]] for row in rows}


def main() -> None:
    """Print the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", metavar="DIR", type=Path, required=True)
    ours, theirs = (rankings(parser.parse_known_args()[0].folder / name) for name in ("report.json", "numpy.json"))
    print(json.dumps({"queries": len(ours), "different": sum(ours[one] != theirs.get(one) for one in ours)}))


if __name__ == "__main__":
    main()
