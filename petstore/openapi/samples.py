"""Samples of each operation for curl, Python and JavaScript.

They read the base address and the key from the environment, as the guide says.
"""

import json
from typing import Any

CURL = """\
curl{method} "$API{path}" \\
  -H "Authorization: Bearer $KEY\""""
CURL_BODY = """ \\
  -H "Content-Type: application/json" \\
  -d '{body}'"""
PYTHON = """\
import os

import requests

answer = requests.{method}(
    os.environ["API"] + "{path}",
    headers={{"Authorization": "Bearer " + os.environ["KEY"]}},{body}
)
answer.raise_for_status()
print(answer.json())"""
JAVASCRIPT = """\
const answer = await fetch(process.env.API + "{path}", {{{method}
  headers: {{
    Authorization: `Bearer ${{process.env.KEY}}`,{type}
  }},{body}
}});
if (!answer.ok) throw new Error((await answer.json()).message);
console.log(await answer.json());"""


def samples(method: str, path: str, body: Any) -> list[dict[str, str]]:
    """Return a call of an operation in each language, as Redocly's x-codeSamples."""
    sources = {
        ("Shell", "curl"): _curl(method, path, body),
        ("Python", "Python"): _python(method, path, body),
        ("JavaScript", "JavaScript"): _javascript(method, path, body),
    }
    return [
        {"lang": language, "label": label, "source": source}
        for (language, label), source in sources.items()
    ]


def _curl(method: str, path: str, body: Any) -> str:
    option = f" -X {method}" if method not in ("GET", "POST") else ""
    call = CURL.format(method=option, path=path)
    return call + CURL_BODY.format(body=json.dumps(body)) if body else call


def _python(method: str, path: str, body: Any) -> str:
    sent = f"\n    json={body!r}," if body else ""
    return PYTHON.format(method=method.lower(), path=path, body=sent)


def _javascript(method: str, path: str, body: Any) -> str:
    return JAVASCRIPT.format(
        path=path,
        method=f'\n  method: "{method}",' if method != "GET" else "",
        type='\n    "Content-Type": "application/json",' if body else "",
        body=f"\n  body: JSON.stringify({json.dumps(body)})," if body else "",
    )
