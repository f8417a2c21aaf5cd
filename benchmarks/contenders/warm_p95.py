"""The slowest of twenty queries that an evaluation asked, as its report has it, in milliseconds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(json.dumps({"warm_p95_ms": report["timing"]["runs"][0]["warm"]["p95"]}))
