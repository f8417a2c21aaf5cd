"""Everything that answers a query with a ranking of pages: one module a kind, found by its name."""
