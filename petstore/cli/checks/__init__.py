"""flask check, and what gunicorn warns of when it starts."""

from collections.abc import Iterable

import click
from flask import current_app
from flask.cli import with_appcontext

from petstore.cli.checks.database import check_clock, check_database, check_files
from petstore.cli.checks.network import (
    ListenAddress,
    check_hosts,
    check_listen_addresses,
    check_proxies,
)
from petstore.cli.checks.redis import check_redis, refused_certificate
from petstore.cli.checks.settings import check_settings, check_version
from petstore.cli.commands import Command
from petstore.cli.output import echo_json, json_option
from petstore.settings import Settings, unknown_settings
from petstore.storage import migrator

CHECKS = {
    "version": check_version,
    "settings": check_settings,
    "database": check_database,
    "clock": check_clock,
    "redis": check_redis,
    "files": check_files,
    "proxies": check_proxies,
    "hosts": check_hosts,
}


@click.command(cls=Command)
@json_option
@with_appcontext
def check(*, as_json: bool) -> None:
    """Check the settings, the stores and the network, and say what to do."""
    settings = current_app.extensions["settings"]
    results = [(name, *run(settings)) for name, run in CHECKS.items()]
    if as_json:
        names = ("check", "status", "message")
        echo_json(dict(zip(names, result, strict=True)) for result in results)
    else:
        for name, status, message in results:
            click.echo(f"{name:<9} {status:<8} {message}")
    if any(status == "wrong" for _, status, _ in results):
        raise click.exceptions.Exit(1)


def startup_warnings(
    settings: Settings, addresses: Iterable[ListenAddress]
) -> list[str]:
    """Return a sentence for each thing that is open to more people than intended.

    The addresses are those that the service is about to listen on. Among the warnings
    are, too: unknown settings, a certificate of Redis that is not accepted, and a newer
    version that has migrated the database, which this one serves nevertheless.
    """
    results = [check_files(settings), check_listen_addresses(settings, addresses)]
    warnings = [message for status, message in results if status != "ok"]
    warnings += unknown_settings()
    if newer := migrator.newer_version():
        warnings.append(newer)
    if settings.redis_url and (fault := refused_certificate(settings.redis_url)):
        warnings.append(fault)
    return warnings
