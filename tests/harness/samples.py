"""A parser for the text of /metrics."""

from collections import Counter

from prometheus_client.parser import text_string_to_metric_families


class Samples:
    """The samples of one scrape."""

    def __init__(self, text: str) -> None:
        families = list(text_string_to_metric_families(text))
        self._samples = [sample for family in families for sample in family.samples]

    def total(self, name: str, **labels: str) -> float:
        """Return the sum of the samples with this name and at least these labels."""
        return sum(
            sample.value
            for sample in self._samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def by(self, name: str, *labels: str) -> Counter[tuple[str, ...]]:
        """Return the sums of the samples with this name, by the labels' values."""
        values = Counter()
        for sample in self._samples:
            if sample.name == name:
                values[tuple(sample.labels[label] for label in labels)] += sample.value
        return values
