"""/dashboard/settings/domains: the project's own hosts, from DNS to certificate."""

from functools import partial

from flask import (
    current_app,
    flash,
    g,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from markupsafe import Markup, escape

from petstore.dashboard.forms import EMPTY, Form, PageResponse
from petstore.dashboard.lists import read_page
from petstore.dashboard.pages import pages_blueprint
from petstore.domains.inspection import Busy, Inspection, inspection_of
from petstore.domains.names import normalised, readable
from petstore.errors import NotFound
from petstore.models.domains import Domain, DomainRefused
from petstore.schemas.paging import PageQuery

bp = pages_blueprint("domains", __name__, "/settings/domains")
bp.add_app_template_filter(readable)

NO_DOMAINS = "The plan Free has no domains."


@bp.app_template_filter()
def breakable(name: str) -> Markup:
    """Let a long name break at its dots."""
    return escape(name).replace(".", Markup(".<wbr>"))


@bp.get("")
def domains(form: Form = EMPTY) -> str:
    """List the domains, with a form to add one."""
    page = read_page(PageQuery(), partial(Domain.page, g.project))
    _check_again(page.rows)
    return render_template(
        "domains.html", page=page, inspection=inspection_of(current_app), form=form
    )


@bp.post("")
def add_domain() -> PageResponse:
    """Add a domain and show its DNS records."""
    form, base_domain = Form.of_request(), _inspection().base_domain
    try:
        name = normalised(form.values.get("name", ""), base_domain)
        added = Domain.add(g.project, name)
    except DomainRefused as refused:
        page = domains(form.with_errors({"name": str(refused)}))
        return make_response(page, 400)
    return make_response(redirect(url_for("domains.domain", domain_id=added.id), 303))


@bp.get("/<id:domain_id>")
def domain(domain_id: int) -> str:
    """Show one domain: its DNS records, what DNS says, its certificate."""
    domain, inspection = Domain.find(g.project, domain_id), inspection_of(current_app)
    _check_again([domain])
    records = inspection.required_records(domain).records if inspection else ()
    return render_template("domain.html", domain=domain, records=records)


@bp.post("/<id:domain_id>/verify")
def verify_domain(domain_id: int) -> PageResponse:
    """Query DNS for proof that the domain is the project's."""
    inspection, domain = _inspection(), Domain.find(g.project, domain_id)
    if not g.project.has_domains:
        return _back_to(domain, NO_DOMAINS, "bad")
    try:
        is_proved = inspection.verify(domain)
    except Busy:
        busy = "DNS is still being asked about another domain. Try again in a moment."
        return _back_to(domain, busy, "warning")
    if is_proved is None:
        slow = "DNS has not answered yet. Open this page again in a few seconds."
        return _back_to(domain, slow, "note")
    if not is_proved:
        return _back_to(domain, "DNS does not point here. See below why.", "bad")
    return _back_to(domain, f"DNS is right: {domain.name} is yours.")


@bp.post("/<id:domain_id>/primary")
def choose_domain(domain_id: int) -> PageResponse:
    """Redirect the project's other domains to this one."""
    domain = Domain.find(g.project, domain_id)
    if not g.project.has_domains:
        return _back_to(domain, NO_DOMAINS, "bad")
    if not domain.choose():
        return _back_to(domain, "Only a verified domain can be primary.", "bad")
    return _back_to(domain, f"Your other domains redirect to {domain.name} now.")


@bp.post("/<id:domain_id>/remove")
def remove_domain(domain_id: int) -> PageResponse:
    """Stop serving a domain at once."""
    domain = Domain.find(g.project, domain_id)
    domain.remove()
    flash(f"{domain.name} is removed. Nothing answers there any more.", "good")
    return make_response(redirect(url_for("domains.domains"), 303))


@bp.before_request
def _refuse_forms_without_base_domain() -> None:
    if request.method == "POST":
        _inspection()


def _inspection() -> Inspection:
    inspection = inspection_of(current_app)
    if inspection is None:
        raise NotFound("This service has no base domain.")
    return inspection


def _check_again(shown: list[Domain]) -> None:
    inspection = inspection_of(current_app)
    if inspection and any(domain.verified_ms for domain in shown):
        inspection.check_again(g.project)


def _back_to(domain: Domain, message: str, kind: str = "good") -> PageResponse:
    flash(message, kind)
    return make_response(redirect(url_for("domains.domain", domain_id=domain.id), 303))
