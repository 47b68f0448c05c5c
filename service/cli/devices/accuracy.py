"""Accuracy of predictions for a device, as lines of text."""

from collections.abc import Iterator

from db.errors import DatabaseError
from service.api.accuracy.schemas import AccuracyList
from service.cli.connection import connect, same
from service.cli.printing.output import ERRORS, print_line
from xetune_client import ClientError, NotFound


def known_accuracy(device: str) -> AccuracyList:
    """Return the accuracy of predictions for a device; empty, with a message, if the database does not answer."""
    try:
        with connect() as client:
            return same(AccuracyList, client.accuracy(device))
    except NotFound:  # a device of a file, or one that nobody tuned for
        return AccuracyList(device=device, models=[])
    except (ClientError, DatabaseError) as error:
        print_line(f"accuracy of predictions is not known: {error}", ERRORS)
        return AccuracyList(device=device, models=[])


def accuracy_lines(accuracy: AccuracyList) -> Iterator[str]:
    """Yield a line for each model version."""
    for of in accuracy.models:
        yield (
            f"predictions for {accuracy.device} by {of.model} were off by x{of.off_by:.2f} (median of {of.measured}); "
            f"measured over predicted: median {of.median_ratio:.2f}, {of.least_ratio:.2f} to {of.most_ratio:.2f}; "
            f"{of.inside} of {of.measured} in the interval"
        )
