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

API, failed = os.environ["API"], []
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}"}
HEADERS["Content-Type"] = "application/json"


def send(method, url, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            request = Request(url, data, HEADERS | headers, method=method)
            with urlopen(request, timeout=60) as answer:
                return answer.headers, json.loads(answer.read() or "null")
        except HTTPError as error:
            if seconds := error.headers["Retry-After"]:
                time.sleep(int(seconds))
                continue
            failed.append(f"{method} {url} {body}: {error.read().decode()}")
            return {}, None


list_file, ids_file = map(Path, sys.argv[1:])
ids_file.touch()
ids = dict(csv.reader(ids_file.read_text().splitlines()))
rows, there, url = {}, {}, f"{API}/pets?limit=100"
for row in csv.DictReader(StringIO(list_file.read_text("utf-8-sig"))):
    members = {"name": row["name"], "categoryId": int(row["categoryId"])}
    status = {"status": row["status"]} if row["status"] else {}  # or it stays
    rows[row["number"]] = members | status
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
