"""Whether a label that is written into a note and taken out again leaves the note byte-identical:
`python benchmarks/frontmatter_round_trip.py VAULT...`.

Every note of every vault is tried in memory, nothing is written: a question in the properties `answers`, `aliases` and `tags`,
and a query of a label note, into `queries`. Printed are how many came back byte-identical, by what had to be written for the
label (an item, the property, the whole frontmatter), and every refusal with its reason.

Exit: 0 every note came back as it was or was refused with a reason; 1 one did not, or nothing was tried.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from vault_eval.authoring.frontmatter_edit import with_item, without_item
from vault_eval.errors import VaultEvalError
from vault_eval.strict_json import JsonValue
from vault_eval.vault.snapshot import open_snapshot

QUESTION = 'how do I "resume": interrupted # writes'
QUERY: JsonValue = {"id": "resume-writes", "query": QUESTION, "expected_pages": ["Recovery.md", "[draft] Łódź.md"]}
TRIALS: tuple[tuple[str, JsonValue], ...] = (("answers", QUESTION), ("aliases", QUESTION), ("tags", QUESTION), ("queries", QUERY))


def main(vaults: list[str]) -> int:
    """The exit code, after all vaults have been tried."""
    same: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    others: list[str] = []
    notes = 0
    for root in vaults:
        with open_snapshot(root) as vault:
            for note in vault.listing.notes:
                notes += 1
                data = vault.reader.read(note.disk_path)
                for name, item in TRIALS:
                    try:
                        added = with_item(data, name, item)
                        back = without_item(added.data, name, item, added.made)
                    except VaultEvalError as error:
                        refused[str(error)] += 1
                        continue
                    if back == data:
                        same[added.made] += 1
                    else:
                        others.append(f"{root}: {note.page}: {name}")
    print(f"{notes:,} notes, {sum(same.values()):,} labels in and out again byte-identical; written for them: {dict(same)}")
    print("\n".join(f"refused {count:,} times: {reason}" for reason, count in refused.most_common()))
    print("\n".join(f"NOT the same: {other}" for other in others))
    return 0 if same and not others else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
