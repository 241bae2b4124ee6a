"""Measure the CPU time of each layer for a list of 20.

    python -m benchmarks.layers --store sqlite

Needs wrk. The servers are started on loopback: constant bytes under the service's own
worker, a Flask view of constant bytes, and the application with more and more of its
layers, the others replaced by constants (yardsticks/layered.py). The cost of a layer is
the CPU time per request that its server uses beyond the previous one. The output is the
median, the lowest and the highest of all rounds.
"""

from itertools import pairwise

from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import EDGE, Server, Stage, ask, stage
from benchmarks.tenants import settle
from benchmarks.wrk import Case, run

LAYERS = {
    "hooks": "log line, metrics, headers, routing, contract",
    "key": "look-up of the key",
    "quota": "counters",
    "query": "query and its 20 animals as JSON",
}
EDGE_LAYER = "connection, HTTP and WSGI (`edge/`)"
FLASK_LAYER = "Flask: request, response, dispatch"


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__)
    for store in chosen.stores:
        with stage(store) as place:
            runs = {
                layer: lambda s=server: run(s, Case(), chosen.seconds)
                for layer, server in _servers(place).items()
            }
            rounds = [
                {layer: figures.cpu_us["server"] for layer, figures in each.items()}
                for each in interleave(runs, chosen.rounds)
            ]
        print_heads(f"Layer ({store})", "CPU µs per request")
        print_row(EDGE_LAYER, spread((each[EDGE_LAYER] for each in rounds), 0))
        for before, layer in pairwise(runs):
            costs = (each[layer] - each[before] for each in rounds)
            print_row(layer, spread(costs, 0))
        print_row("**total**", spread((each[layer] for each in rounds), 0))


def _servers(place: Stage) -> dict[str, Server]:
    tenants = settle(place)
    servers = {
        EDGE_LAYER: place.yardstick("bare", *EDGE),
        FLASK_LAYER: place.yardstick("constant", *EDGE),
    }
    for layer, title in LAYERS.items():
        servers[title] = place.yardstick("layered", LAYER=layer)
    for server in servers.values():
        status, _, pets = ask(server, tenants[0].key, "?limit=20")
        is_whole = server is servers[LAYERS["query"]]
        assert (status, len(pets)) == (200, 20 if is_whole else 0), server.name
    return servers


if __name__ == "__main__":
    main()
