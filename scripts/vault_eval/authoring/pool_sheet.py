"""A pool as a file: JSON that a person may read, and that is refused where it is not what was written."""

from __future__ import annotations

from vault_eval import strict_json
from vault_eval.authoring.pool import Item, Pool, PooledQuery
from vault_eval.errors import LabelError, UsageError
from vault_eval.json_node import Node
from vault_eval.strict_json import JsonValue

SCHEMA = "vault-eval.pool.v1"
_SPREAD_LEVELS = 3
_ADVICE = "this is no pool of ours; make one with `labels pool`"


def sheet_text(pool: Pool) -> str:
    """The pool as JSON text, the same for the same pool."""
    content: dict[str, JsonValue] = {
        "schema": SCHEMA,
        "vault": {"id": pool.vault_id, "name": pool.vault_name},
        "seed": pool.seed,
        "queries": [_query_value(query) for query in pool.queries],
        "again": [*pool.again],
    }
    return strict_json.dumps(content, spread=_SPREAD_LEVELS) + "\n"


def read_sheet(text: str, name: str) -> Pool:
    """The pool in a file called `name`. Raises LabelError for anything but a pool that `sheet_text` wrote."""
    try:
        pool = _pool(Node(strict_json.loads(text), name, _ADVICE))
    except ValueError as error:
        raise LabelError(f"{name}: {error}; {_ADVICE}") from None
    except UsageError as error:
        raise LabelError(str(error)) from None
    if not set(pool.again) <= set(pool.items) or sheet_text(pool) != text:
        raise LabelError(f"{name}: the pool was changed by hand; make it again with `labels pool`")
    return pool


def _query_value(query: PooledQuery) -> dict[str, JsonValue]:
    items: list[JsonValue] = [
        {"item": one.name, "page": one.page, "heading": [*one.heading], "lines": None if one.lines is None else [*one.lines]}
        for one in query.items
    ]
    return {"id": query.id, "query": query.query, "need": query.need, "items": items}


def _pool(top: Node) -> Pool:
    top["schema"].one_of((SCHEMA,))
    vault = top["vault"]
    queries = tuple(map(_query, top["queries"].items()))
    return Pool(vault["id"].text(), vault["name"].text(), top["seed"].whole(), queries, top["again"].texts())


def _query(node: Node) -> PooledQuery:
    return PooledQuery(node["id"].text(), node["query"].text(), node["need"].text(), tuple(map(_item, node["items"].items())))


def _item(node: Node) -> Item:
    return Item(node["item"].text(), node["page"].text(), node["heading"].texts(), node["lines"].or_none(Node.lines))
