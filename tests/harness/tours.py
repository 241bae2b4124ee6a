"""What the tour of README.md prints."""

import json

BOTH = ["name", "categoryId"]
QUOTA = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]


def require_what_the_comments_say(lines: list[str]) -> None:
    """Check the lines that the tour prints on a database with the demo project."""
    answers, headers = lines[:7], lines[7:]
    coco, animals, renamed, category, order, done, error = map(json.loads, answers)
    assert (coco["id"], coco["name"]) == (11, "Coco")
    assert coco in animals
    assert renamed == coco | {"name": "Coco II"}
    assert category == {"id": 7, "name": "Birds"}
    assert (order["status"], done["status"]) == ("placed", "completed")
    assert [part.split(":")[0] for part in error["message"].split("; ")] == BOTH
    assert [header.partition(":")[0].lower() for header in headers] == QUOTA
