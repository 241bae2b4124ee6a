"""The addresses under /dashboard, and the links at the head of every page."""

PREFIX = "/dashboard"
STATIC = f"{PREFIX}/static/"
PAGES = (
    ("Overview", "overview.overview"),
    ("Animals", "dashboard_pets.animals"),
    ("Orders", "dashboard_orders.orders"),
    ("Keys", "keys.keys"),
    ("Settings", "domains.domains"),
)


def is_dashboard_path(path: str) -> bool:
    """Return whether a path belongs to the dashboard, known or not."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")
