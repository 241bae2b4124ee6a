"""/dashboard/settings/domains: the project's own hosts, from DNS to certificate."""

from functools import partial

from flask import (
    Response,
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

from petstore.dashboard.forms import EMPTY, Form
from petstore.dashboard.lists import read_page
from petstore.dashboard.pages import pages
from petstore.domains.inspection import Busy, Inspection
from petstore.domains.names import normalised, readable
from petstore.errors import NotFound
from petstore.models.domains import Domain, DomainRefused
from petstore.schemas.paging import PageQuery

bp = pages("domains", __name__, "/settings/domains")
bp.add_app_template_filter(readable)


@bp.app_template_filter()
def breakable(name: str) -> Markup:
    """A name that is broken at its dots where the line is too short for it."""
    return escape(name).replace(".", Markup(".<wbr>"))


@bp.before_request
def require_base_domain() -> None:
    """Take no form where projects have no hosts at all."""
    if request.method == "POST" and _inspection() is None:
        raise NotFound("This service has no base domain.")


@bp.get("")
def domains(form: Form = EMPTY) -> str:
    """The domains, and the way to another one."""
    page = read_page(PageQuery(), partial(Domain.page, g.project))
    _look_again(page.rows)
    return render_template(
        "domains.html", page=page, inspection=_inspection(), form=form
    )


@bp.post("")
def add_domain() -> Response:
    """Add a domain, and show what to write into DNS."""
    form = Form.sent()
    try:
        name = normalised(form.values.get("name", ""), _inspection().base_domain)
        added = Domain.add(g.project, name)
    except DomainRefused as refusal:
        page = domains(form.with_faults({"name": str(refusal)}))
        return make_response(page, 400)
    return redirect(url_for("domains.domain", domain_id=added.id), 303)


@bp.get("/<id:domain_id>")
def domain(domain_id: int) -> str:
    """One domain: its records, what DNS says, its certificate."""
    domain = _own_domain(domain_id)
    _look_again([domain])
    records = _inspection().wanted(domain).records if _inspection() else ()
    return render_template("domain.html", domain=domain, records=records)


@bp.post("/<id:domain_id>/verify")
def verify_domain(domain_id: int) -> Response:
    """Ask DNS whose the domain is."""
    domain = _own_domain(domain_id)
    if not g.project.has_domains:
        return _back_to(domain, "The plan Free has no domains.", "bad")
    try:
        is_proved = _inspection().verify(domain)
    except Busy:
        busy = "DNS is still being asked about another domain. Try again in a moment."
        return _back_to(domain, busy, "warning")
    except Domain.DoesNotExist:
        raise NotFound("The domain was removed.") from None
    if is_proved is None:
        slow = "DNS has not answered yet. Open this page again in a few seconds."
        return _back_to(domain, slow, "note")
    if not is_proved:
        return _back_to(domain, "DNS does not point here. See below why.", "bad")
    return _back_to(domain, f"DNS is right: {domain.name} is yours.")


@bp.post("/<id:domain_id>/primary")
def choose_domain(domain_id: int) -> Response:
    """Redirect the project's other domains to this one."""
    domain = _own_domain(domain_id)
    if not domain.choose():
        return _back_to(domain, "Only a verified domain can be primary.", "bad")
    return _back_to(domain, f"Your other domains redirect to {domain.name} now.")


@bp.post("/<id:domain_id>/remove")
def remove_domain(domain_id: int) -> Response:
    """Stop serving a domain at once."""
    domain = _own_domain(domain_id)
    domain.remove()
    flash(f"{domain.name} is removed. Nothing answers there any more.", "good")
    return redirect(url_for("domains.domains"), 303)


def _inspection() -> Inspection | None:
    """What looks at domains; None where there is no base domain."""
    return current_app.extensions.get("inspection")


def _own_domain(domain_id: int) -> Domain:
    domain = Domain.find(g.project, domain_id)
    if domain is None:
        raise NotFound("There is no such domain.")
    return domain


def _look_again(shown: list[Domain]) -> None:
    if _inspection() and any(domain.verified_ms for domain in shown):
        _inspection().look_again(g.project)


def _back_to(domain: Domain, said: str, kind: str = "good") -> Response:
    flash(said, kind)
    return redirect(url_for("domains.domain", domain_id=domain.id), 303)
