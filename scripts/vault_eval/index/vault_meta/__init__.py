"""An index that claude-obsidian made (`.vault-meta/bm25/index.json`, schema 2, and its chunk records): read, never written."""
