"""What a terminal says of the accuracy of predictions for a device."""

from collections.abc import Iterator

from db.errors import DatabaseError
from db.migrate import prepare
from db.session import open_database, sqlite_path
from service.accuracy.schemas import AccuracyList
from service.accuracy.service import accuracy_of
from service.cli.output import ERRORS
from service.settings import read_settings


def stored_accuracy(device: str) -> AccuracyList:
    """What the database tells; nothing without one, which is not made for this."""
    none, url = AccuracyList(device=device, models=[]), read_settings().database_url
    try:
        path = sqlite_path(open_database(url).engine)
        if path is not None and not path.exists():
            return none
        database = prepare(url, create=False)
        try:
            with database.read() as session:
                return accuracy_of(session, device)
        finally:
            database.close()
    except DatabaseError as error:
        ERRORS.print(f"whether predictions were right is not known: {error}", highlight=False, soft_wrap=True)
        return none


def accuracy_lines(accuracy: AccuracyList) -> Iterator[str]:
    """A line for each version of the model that is judged."""
    for of in accuracy.models:
        yield (
            f"predictions for {accuracy.device} by {of.model} were off by x{of.off_by:.2f} (median of {of.measured}); "
            f"measured over predicted: median {of.median_ratio:.2f}, {of.least_ratio:.2f} to {of.most_ratio:.2f}; "
            f"{of.inside} of {of.measured} in the interval"
        )
