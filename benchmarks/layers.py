"""Count the instructions of each layer for a list of 20.

    python -m benchmarks.layers --store sqlite

Needs valgrind. The applications that are counted, without a server, are a Flask view of
constant bytes, and the service with more and more of its layers, the others replaced by
constants (yardsticks/layered.py). The cost of a layer is what its application takes
beyond the previous one, in thousands of instructions.
"""

import tempfile
from itertools import pairwise
from pathlib import Path

from benchmarks.cost import COUNTED, WARM_UP
from benchmarks.meters import METERS, Program
from benchmarks.requests import Crowd
from benchmarks.rounds import options, print_heads, print_row
from benchmarks.stage import stage

FLASK = "Flask: request, response, dispatch"
LAYERS = {
    "hooks": "log line, metrics, headers, routing, contract",
    "key": "look-up of the key",
    "quota": "counters",
    "query": "query and its 20 animals as JSON",
}
METER = "alone"


def main() -> None:
    """Print a table for each store."""
    for store in options(__doc__).stores:
        print_heads(f"Layer ({store})", "Thousands of instructions")
        with stage(store) as place, tempfile.TemporaryDirectory() as directory:
            crowd = Crowd(place)
            place = place.without_proxies()
            program = Program(place, "benchmarks.yardsticks.constant", Path(directory))
            counts = {FLASK: _count(crowd, program)}
            for layer, title in LAYERS.items():
                place = place._replace(environ=place.environ | {"LAYER": layer})
                program = program._replace(
                    place=place, app="benchmarks.yardsticks.layered"
                )
                counts[title] = _count(crowd, program)
        print_row(FLASK, f"{counts[FLASK]:,.0f}")
        for before, layer in pairwise(counts):
            print_row(layer, f"{counts[layer] - counts[before]:,.0f}")
        print_row("**total**", f"{counts[layer]:,.0f}")


def _count(crowd: Crowd, program: Program) -> float:
    with METERS[METER](program) as measure:
        requests = (crowd.requests("list", count) for count in (WARM_UP, COUNTED))
        return measure(*requests)[METER]


if __name__ == "__main__":
    main()
