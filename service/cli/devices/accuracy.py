"""What a terminal says of the accuracy of predictions for a device."""

from collections.abc import Iterator

from service.api.accuracy.schemas import AccuracyList
from service.api.accuracy.service import accuracy_of
from service.cli.backend.choice import server
from service.cli.backend.chosen import of_service
from service.cli.backend.peek import peek


def known_accuracy(device: str) -> AccuracyList:
    """What the service tells that the command works with, else the database; nothing without one."""
    if (url := server()) is not None:
        with of_service(url) as remote:
            return remote.accuracy(device)
    none = AccuracyList(device=device, models=[])
    return peek(lambda session: accuracy_of(session, device), none, "whether predictions were right")


def accuracy_lines(accuracy: AccuracyList) -> Iterator[str]:
    """A line for each version of the model that is judged."""
    for of in accuracy.models:
        yield (
            f"predictions for {accuracy.device} by {of.model} were off by x{of.off_by:.2f} (median of {of.measured}); "
            f"measured over predicted: median {of.median_ratio:.2f}, {of.least_ratio:.2f} to {of.most_ratio:.2f}; "
            f"{of.inside} of {of.measured} in the interval"
        )
