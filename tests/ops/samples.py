"""What /metrics says, taken apart."""

from collections import Counter

from prometheus_client.parser import text_string_to_metric_families


class Samples:
    """The samples of one scrape."""

    def __init__(self, text: str) -> None:
        families = list(text_string_to_metric_families(text))
        self._samples = [sample for family in families for sample in family.samples]

    def total(self, name: str, **labels: str) -> float:
        """The sum of those that have the name and, among others, these labels."""
        return sum(
            sample.value
            for sample in self._samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def by(self, name: str, *labels: str) -> Counter[tuple[str, ...]]:
        """The values of those that have the name, by their labels."""
        values = Counter()
        for sample in self._samples:
            if sample.name == name:
                values[tuple(sample.labels[label] for label in labels)] += sample.value
        return values
