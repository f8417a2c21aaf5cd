"""qmd (https://github.com/tobi/qmd): its keyword search over all collections, which needs no model.

It asks for every word of the query. `--full-path` gives paths on disk: the names of collections are no part of a vault.
"""

from __future__ import annotations

from vault_eval.retrievers.presets import CommandPreset, McpPreset

COMMAND = CommandPreset(
    words=("qmd", "search", "--format", "json", "--full-path", "-n", "{depth}", "--", "{query}"),
    measures="BM25 of SQLite over whole notes that hold all words of the query",
    version=("qmd", "--version"),
)

# The same search through its MCP server, which gives a path as COLLECTION/PATH: `prefix=COLLECTION/` takes it off.
MCP = McpPreset(
    words=("qmd", "mcp"),
    tool="query",
    arguments='{"searches": [{"type": "lex", "query": "{query}"}], "limit": "{depth}", "rerank": false}',
)
