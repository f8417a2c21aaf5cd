from __future__ import annotations

from importlib import import_module

import pytest

from vault_eval.errors import UsageError
from vault_eval.retrievers import keyword
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import kinds, module_name, parse_specs


def test_spec_is_opened_by_the_module_of_its_kind(monkeypatch):
    monkeypatch.setattr(keyword, "open_retriever", lambda spec, context: (spec, context))
    (spec,) = parse_specs(["keyword:k1=2"])
    assert open_retriever(spec, "context") == (spec, "context")


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_has_a_module_that_opens_it(kind):
    assert callable(import_module(f"vault_eval.retrievers.{module_name(kind)}").open_retriever)


def test_settings_that_a_searcher_lacks_are_refused_when_it_is_opened():
    (spec,) = parse_specs(["keyword:colour=blue"])
    with pytest.raises(UsageError, match="keyword has no setting 'colour'"):
        open_retriever(spec, None)
