"""Store a list of animals by the API: `python3 nightly.py list.csv ids.csv`.

list.csv has the columns number, name, categoryId and status; the numbers are its own.
ids.csv, which this writes, says which animal each number is. Set API and KEY.
"""

import csv
import json
import os
import re
import sys
import time
from io import StringIO
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

COLUMNS = ("number", "name", "categoryId", "status")
API, KEY = (os.environ.get(name, "").strip() for name in ("API", "KEY"))
failed = []
if not re.fullmatch("https?://.+/v1", API) or not KEY or len(sys.argv) != 3:
    sys.exit(
        "set API to https://.../v1 and KEY, and name the files list.csv and ids.csv"
    )
HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}


def send(method, url, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            request = Request(url, data, HEADERS | headers, method=method)
            with urlopen(request, timeout=60) as answer:
                return answer.headers, json.loads(answer.read() or "null")
        except HTTPError as error:
            if (seconds := error.headers["Retry-After"] or "").isdecimal():
                time.sleep(int(seconds))
                continue
            said = " ".join(error.read().decode(errors="replace").split())
            failed.append(f"{method} {url} {body}: {error.code} {said[:300]}")
            return {}, None
        except (OSError, ValueError) as error:  # no answer, or none of the service
            sys.exit(f"{method} {url}: {error}; run it again when that is mended")


list_file, ids_file = map(Path, sys.argv[1:])
rows, there, url = {}, {}, f"{API}/pets?limit=100"
try:
    reader = csv.DictReader(StringIO(list_file.read_text("utf-8-sig")))
    if not set(COLUMNS).issubset(reader.fieldnames or ()):
        sys.exit(
            f"{list_file}: the first line must be {','.join(COLUMNS)}, with commas"
        )
    ids_file.touch()
    ids = dict(csv.reader(ids_file.read_text().splitlines()))
    for row in reader:
        where = f"{list_file}, line {reader.line_num}"
        number, name, category, status = (row[column] for column in COLUMNS)
        if not number or number in rows:
            sys.exit(f"{where}: each animal needs a number of its own, not {number!r}")
        if not (category or "").isdecimal():
            sys.exit(f"{where}: categoryId is a number like 7, not {category!r}")
        members = {"name": name, "categoryId": int(category)}
        rows[number] = members | ({"status": status} if status else {})  # or it stays
except (OSError, ValueError, csv.Error) as error:
    sys.exit(f"{list_file} and {ids_file} must be CSV in UTF-8: {error}")
while url:
    headers, pets = send("GET", url)
    there |= {str(pet["id"]): pet for pet in pets or []}
    more = re.search('<(.+?)>; rel="next"', headers.get("Link", ""))
    url = more and more[1]
known = [number for number in ids if ids[number] in there]
gone = [number for number in known if number not in rows]
if failed or len(gone) > len(known) / 2:
    sys.exit("\n".join(failed) or f"{len(gone)} animals are missing: look at the list")

with ids_file.open("a", newline="") as file:
    for number, wanted in rows.items():
        pet_id = ids.get(number)
        if pet_id not in there:
            once = quote(f"{list_file.name}-{number}-{pet_id}")
            _, pet = send("POST", f"{API}/pets", wanted, **{"Idempotency-Key": once})
            if pet:
                csv.writer(file).writerow([number, pet["id"]])
                file.flush()
        elif changes := dict(wanted.items() - there[pet_id].items()):
            send("PATCH", f"{API}/pets/{pet_id}", changes)
for number in gone:
    send("DELETE", f"{API}/pets/{ids[number]}")
sys.exit("\n".join(failed) or 0)
