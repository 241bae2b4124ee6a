"""Take marks and write docs/marks.md: `make marks`, or `python -m tests.marks NAME …`.

A mark that fails prints its traceback and leaves its row as it was; the exit code is 1.
"""

import argparse
import traceback

from tests.marks.page import NAMES, take


def main() -> int:
    """Take the named marks, or all, and return the exit code."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*", metavar="NAME")
    chosen = arguments.parse_args().names or NAMES
    if unknown := set(chosen) - set(NAMES):
        arguments.error(f"no mark is named {unknown.pop()}; there are {NAMES}")
    failed = [name for name in chosen if not is_taken(name)]
    return bool(failed)


def is_taken(name: str) -> bool:
    """Take a mark and return whether it did not fail."""
    print(f"{name} ...", flush=True)
    try:
        take(name)
    except Exception:  # noqa: BLE001 (the other marks are taken, whatever fails)
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    raise SystemExit(main())
