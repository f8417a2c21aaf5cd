"""A pool as a file: JSON that a person may read, and that is refused where it is not what was written."""

from __future__ import annotations

from vault_eval import strict_json
from vault_eval.authoring.pool import Item, Pool, PooledQuery
from vault_eval.errors import LabelError
from vault_eval.strict_json import JsonValue

SCHEMA = "vault-eval.pool.v1"
_SPREAD_LEVELS = 3


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
        content = strict_json.loads(text)
        pool = _pool(content)
    except (ValueError, TypeError, KeyError, IndexError):
        raise LabelError(f"{name}: no pool of ours; make one with `labels pool`") from None
    if not set(pool.again) <= set(pool.items) or sheet_text(pool) != text:
        raise LabelError(f"{name}: the pool was changed by hand; make it again with `labels pool`")
    return pool


def _query_value(query: PooledQuery) -> dict[str, JsonValue]:
    items: list[JsonValue] = [
        {"item": one.name, "page": one.page, "heading": [*one.heading], "lines": None if one.lines is None else [*one.lines]}
        for one in query.items
    ]
    return {"id": query.id, "query": query.query, "need": query.need, "items": items}


def _pool(content: JsonValue) -> Pool:
    top = _object(content)
    if top["schema"] != SCHEMA:
        raise ValueError("another schema")
    vault = _object(top["vault"])
    queries = tuple(map(_query, _list(top["queries"])))
    seed = top["seed"]
    if not isinstance(seed, int):
        raise TypeError("no seed")
    return Pool(_text(vault["id"]), _text(vault["name"]), seed, queries, tuple(map(_text, _list(top["again"]))))


def _query(value: JsonValue) -> PooledQuery:
    query = _object(value)
    items = tuple(map(_item, _list(query["items"])))
    return PooledQuery(_text(query["id"]), _text(query["query"]), _text(query["need"]), items)


def _item(value: JsonValue) -> Item:
    item = _object(value)
    lines = item["lines"]
    return Item(
        _text(item["item"]),
        _text(item["page"]),
        tuple(map(_text, _list(item["heading"]))),
        None if lines is None else (_whole(_list(lines)[0]), _whole(_list(lines)[1])),
    )


def _object(value: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _whole(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("no whole number")
    return value
