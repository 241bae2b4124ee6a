"""What the hooks of a request find out about it, for whatever comes after them."""

from dataclasses import dataclass, field

from petstore.models.callers import Caller
from petstore.models.projects import Project
from petstore.quotas.decisions import Decision

Header = tuple[str, str]


@dataclass(slots=True)
class RequestState:
    """The state of one request, as `current_request().state`.

    The hook that gives a request its id makes it, before any other hook runs. What is
    only known later has a default, or cannot be read before it is set.
    """

    request_id: str
    started: float  # by `clock.monotonic`
    headers: list[Header] = field(default_factory=list)  # of its response
    host_project_id: int | None = None  # None: the host serves every project
    caller: Caller | None = None  # None: no valid key, or nobody has signed in
    project: Project = field(init=False, repr=False)  # of a page, with its caller
    decision: Decision | None = None  # None: the request was not counted
    is_deprecated: bool = False
    error_code: str | None = None

    @property
    def required_caller(self) -> Caller:
        """The caller, for what runs only after a hook has refused everybody else."""
        if self.caller is None:
            raise LookupError("This request needs no key.")
        return self.caller
