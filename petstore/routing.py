"""Flask, spared what this service does not need at every request."""

from collections.abc import Callable
from typing import Any

from flask import Flask, Request
from werkzeug.routing import MapAdapter


class Service(Flask):
    """An application without coroutines, whose routes depend on the path alone."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The hook or view itself: none of them is a coroutine."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """What finds the route of a request, whatever its host."""
        if request is None:
            return super().create_url_adapter(None)
        return MapAdapter(
            self.url_map,
            server_name=request.environ.get("HTTP_HOST", ""),
            script_name=request.root_path,
            subdomain="",
            url_scheme=request.scheme,
            path_info=request.path,
            default_method=request.method,
            query_args=request.query_string.decode("latin-1"),
        )
