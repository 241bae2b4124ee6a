"""The addresses under /dashboard."""

PREFIX = "/dashboard"


def is_dashboard_path(path: str) -> bool:
    """Whether the path lies among the pages, known or not."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")
