"""What is asked when it is read: what a worker has seen may be out of date."""

import peewee
from flask import current_app

from petstore.clock import MS_PER_SECOND
from petstore.models.domain_looks import certificates

_COUNTER_STORE_UP = """\
# HELP petstore_counter_store_up 1 while the counter store answers.
# TYPE petstore_counter_store_up gauge
petstore_counter_store_up {}.0
"""
_FAILED = """\
# HELP petstore_certificates_failed Domains in use whose certificate has failed.
# TYPE petstore_certificates_failed gauge
petstore_certificates_failed {}.0
"""
_EXPIRES = """\
# HELP petstore_certificate_expires_timestamp_seconds When the first one expires.
# TYPE petstore_certificate_expires_timestamp_seconds gauge
petstore_certificate_expires_timestamp_seconds {}.0
"""


def render() -> bytes:
    """The lines of all gauges, as Prometheus reads them."""
    is_up = not current_app.extensions["limiter"].is_degraded()
    return (_COUNTER_STORE_UP.format(int(is_up)) + _of_certificates()).encode()


def _of_certificates() -> str:
    if not current_app.config["BASE_DOMAIN"]:
        return ""
    try:
        found = certificates()
    except peewee.DatabaseError:
        return ""  # no figures are better than old ones
    lines = _FAILED.format(found.failed)
    if found.expires_ms is not None:
        lines += _EXPIRES.format(found.expires_ms // MS_PER_SECOND)
    return lines
