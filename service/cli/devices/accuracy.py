"""Accuracy of predictions for a device, as lines of text."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from db.errors import DatabaseError
from service.api.accuracy.schemas import AccuracyList
from service.cli.access.opening import open_access
from service.cli.devices.resources import accuracy_of
from service.cli.printing.output import ERRORS, print_line
from service.errors import NotFound, ServiceError
from xetune_client.errors import ClientError
from xetune_client.errors import NotFound as Missing

if TYPE_CHECKING:
    from hal.probe.probe import Probes


def known_accuracy(device: str, probes: "Callable[[], Probes] | None" = None) -> AccuracyList:
    """Return the accuracy of predictions for a device; empty, with a message, if the database does not answer.

    `probes` returns the results of probes of the drivers that the command started.
    """
    try:
        with open_access(probes=probes) as access:
            return access.read(accuracy_of(device))
    except (Missing, NotFound):  # a device of a file, or one that nobody tuned for
        return AccuracyList(device=device, models=[])
    except (ClientError, DatabaseError, ServiceError) as error:
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
