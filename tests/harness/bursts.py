"""Bursts over all hosts, of which exactly the limit is served."""

import random
from itertools import cycle, islice

from petstore.models.grants import FULL, Grant
from petstore.models.projects import Plan
from tests.harness.crowds import by_window, send_at_once
from tests.harness.services import issue_key

CLIENTS = 64
PLENTY = 10**6
BOTH_PLENTY = (PLENTY, PLENTY)


def burst(
    dice: random.Random,
    environ: dict[str, str],
    urls: list[str],
    clients: int = CLIENTS,
) -> list[str]:
    """Exceed a limit with concurrent requests, and return the faults.

    It is one of a minute or a day, of the project or of the key itself.
    """
    limit = dice.randrange(1, clients)
    limits = dice.choice([(limit, PLENTY), (PLENTY, limit)])
    of_project, of_key = dice.choice([(limits, (None, None)), (BOTH_PLENTY, limits)])
    key = issue_key(environ, Plan("enterprise", *of_project), Grant(FULL, *of_key))
    answers = send_at_once(islice(cycle(urls), clients), key)
    unexpected = {answer.status for answer in answers} - {200, 429}
    faults = [f"answered {status}" for status in unexpected]
    for sent in by_window(answers):
        served = sum(answer.is_served for answer in sent)
        # A burst that crosses into the next window has the full limit in each.
        if served != min(len(sent), limit):
            faults.append(f"{served} served of {len(sent)}, with a limit of {limit}")
    return faults
