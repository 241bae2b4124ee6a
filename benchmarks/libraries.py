"""Print which functions of limits, marshmallow and Peewee a request calls.

    python -m benchmarks.libraries

It counts in `REDIS_URL`, or in the SQLite file that `DATABASE_URL` names.
"""

import os
import sys
import tempfile
from collections import Counter
from types import FrameType

LIBRARIES = ("limits", "marshmallow", "peewee", "petstore.quotas")


def main() -> None:
    """Profile a list and a create, each after some that are not profiled."""
    with tempfile.TemporaryDirectory() as directory:
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{directory}/petstore.db")
        from petstore import create_app
        from petstore.models.keys import Key
        from petstore.models.projects import Plan, Project
        from petstore.settings import read_settings
        from petstore.storage.database import open_databases
        from petstore.storage.migrator import migrate

        open_databases(read_settings(os.environ))
        list(migrate())
        app = create_app()
        key = Key.issue(Project.add("Profile", None, Plan("business")))
        client, headers = app.test_client(), {"Authorization": f"Bearer {key}"}
        rex = {"name": "Rex", "categoryId": 1}
        for method, body in (("GET", None), ("POST", rex)):
            for _ in range(3):  # the first ones compile their queries
                client.open("/v1/pets", method=method, json=body, headers=headers)
            calls: Counter[str] = Counter()

            def note(
                frame: FrameType, event: str, _: object, seen: Counter[str] = calls
            ) -> None:
                module = frame.f_globals.get("__name__", "")
                if event == "call" and module.startswith(LIBRARIES):
                    seen[f"{module}: {frame.f_code.co_qualname}"] += 1

            sys.setprofile(note)
            client.open("/v1/pets", method=method, json=body, headers=headers)
            sys.setprofile(None)
            print(f"\n{method} /v1/pets")
            for name, count in sorted(calls.items()):
                print(f"{count:4} {name}")


if __name__ == "__main__":
    main()
