"""/dashboard/settings/domains: the project's domains, from DNS to certificate."""

from flask import Flask, abort, current_app, render_template, url_for
from flask.typing import ResponseReturnValue

from petstore.extensions.dashboard import (
    EMPTY,
    NOT_CONFIRMED,
    Form,
    Outcome,
    PageBlueprint,
    add_page,
    current_project,
    filled_in,
    go_to,
    idempotent,
    is_confirmed,
)
from petstore.extensions.hosting.models import Domain, DomainNotAllowed
from petstore.extensions.hosting.names import normalised, readable
from petstore.extensions.hosting.verifier import Verifier, verifier_of
from petstore.models.grants import FULL
from petstore.settings import Settings

INDEX = "domains.domains"
# For each result of a check of DNS, the message of the page, and its kind.
RESULTS = {
    True: ("DNS is right: {} is yours.", "good"),
    False: ("DNS does not point here. See below why.", "bad"),
    None: ("We could not look the domain up in time. Try again in a minute.", "note"),
}

bp = PageBlueprint("domains", __name__, "/settings/domains", required_role=FULL)


def init_app(app: Flask, settings: Settings) -> None:
    app.add_template_filter(readable)
    add_page(app, bp, "Domains", INDEX, place=70)


@bp.get("")
def domains(form: Form = EMPTY) -> str:
    return render_template(
        "domains.html",
        domains=Domain.all_by_name(current_project()),
        verifier=verifier_of(current_app),
        form=filled_in(form, url_for(INDEX)),
    )


@bp.post("")
def add_domain() -> ResponseReturnValue:
    values, base_domain = Form.of_request().values, _verifier().base_domain
    try:
        return _add(name=normalised(values.get("name", ""), base_domain))
    except DomainNotAllowed as error:
        return domains(Form(values, {"name": str(error)})), 400


@idempotent
def _add(name: str) -> Outcome:
    added = Domain.add(current_project(), name)
    return Outcome("domains.domain", "", {"domain_id": added.id})


@bp.get("/<id:domain_id>")
def domain(domain_id: int, form: Form = EMPTY) -> str:
    domain = Domain.get_own(current_project(), domain_id)
    verifier = verifier_of(current_app)
    records = verifier.required_records(domain).records if verifier else ()
    return render_template("domain.html", domain=domain, records=records, form=form)


@bp.post("/<id:domain_id>/verify")
def verify_domain(domain_id: int) -> ResponseReturnValue:
    domain = Domain.get_own(current_project(), domain_id)
    text, kind = RESULTS[_verifier().verify(domain)]
    return go_to("domains.domain", text.format(domain.name), kind, domain_id=domain_id)


@bp.post("/<id:domain_id>/primary")
@idempotent
def choose_domain(domain_id: int) -> Outcome:
    domain = Domain.get_own(current_project(), domain_id)
    domain.choose()
    said = f"Your other domains redirect to {domain.name} now."
    return Outcome("domains.domain", said, {"domain_id": domain_id})


@bp.post("/<id:domain_id>/remove")
def remove_domain(domain_id: int) -> ResponseReturnValue:
    """Stop serving a domain at once; the form needs a full key again."""
    if not is_confirmed():
        return domain(domain_id, NOT_CONFIRMED), 403
    return _remove(domain_id=domain_id)


@idempotent
def _remove(domain_id: int) -> Outcome:
    found = Domain.get_own(current_project(), domain_id)
    was_served = found.remove()
    # If not, another project may serve it.
    effect = " It is no longer served." if was_served else ""
    return Outcome(INDEX, f"{found.name} is removed.{effect}")


def _verifier() -> Verifier:
    return verifier_of(current_app) or abort(404)
