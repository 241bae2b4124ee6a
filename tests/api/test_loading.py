"""One loader for bodies, queries and forms: a schema consists of fields alone."""

import pytest
from marshmallow import post_load, validates_schema

from petstore.schemas.fields import StrictSchema


@pytest.mark.parametrize("hook", [validates_schema, post_load])
def test_schema_with_a_hook_is_refused_when_it_is_declared(hook: object):
    def refuse(self: object, *_: object, **__: object) -> None:
        raise AssertionError

    with pytest.raises(TypeError, match="Hooked has methods: check"):
        type("Hooked", (StrictSchema,), {"check": hook(refuse)})
