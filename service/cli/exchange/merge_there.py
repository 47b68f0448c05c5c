"""`xetune --server merge`: the results of another database go to a service, which takes in all of them or nothing."""

from service.cli.exchange import served
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, print_json
from service.exchange.other import Other
from service.exchange.schemas import ImportOut
from service.exchange.sending import Sent, results_of


def merge_there(url: str, other: Other, origin: str, *, as_json: bool) -> None:
    """Send the results of another database to a service, and say what came and what stays.

    Raises:
        BadRequest: files of its kernels are not where they should be, or the service refuses a line.
        Unavailable: the service does not answer; sent again, nothing comes twice.
    """
    sent = results_of(other, origin)
    done = served.take_in_lines(url, sent.lines, None, None)
    stays = {"active_jobs": sent.active_jobs, "recordings": sent.recordings, "shape_sets": sent.shape_sets}
    if as_json:
        came = {name: getattr(done, name) for name in ("origin", "jobs", "trials", "kernels", "known", "judged")}
        print_json(came | {"stays": stays})
    else:
        _print(done, sent)


def _print(done: ImportOut, sent: Sent) -> None:
    came = ", ".join(
        (counted(done.jobs, "job"), counted(done.trials, "trial"), counted(done.kernels, "kernel")),
    )
    _say(f"merged from {done.origin}: {came}; {counted(done.known, 'trial')} known before")
    if sent.active_jobs:
        _say(f"left alone, not over there: {counted(sent.active_jobs, 'job')}")
    if sent.recordings:
        _say(
            f"stays there: {counted(sent.recordings, 'recording')}; `xetune export --recording ID --format t4 -o FILE` "
            "writes one, `xetune --server URL import FILE` sends it"
        )
    if sent.shape_sets:
        _say(f"stays there: {counted(sent.shape_sets, 'shape set')}; the results of its jobs came")


def _say(text: str) -> None:
    CONSOLE.print(text, highlight=False, soft_wrap=True)
