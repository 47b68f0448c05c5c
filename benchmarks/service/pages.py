"""Size and time to first paint of the dashboard's pages, at few and at many trials.

Run: python -m benchmarks.service.pages [--trials 1000 1000000] [--runs 5] [--keep DIR]

Each number of trials gets a database (`benchmarks.service.filling`; --keep reuses it), which is served on this
machine. Chromium opens each page with an empty cache; bytes are those of all responses as sent, charts included.
"""

import argparse
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import func, select

from benchmarks.service.filling import fill
from db.migrate import upgrade
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Trial
from db.session import Database, open_database
from hal.devices.listing import list_devices
from service.app import create_app
from service.artifacts import ArtifactStore
from service.settings import Settings

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# A page may be loaded before it is painted.
_PAINT = """() => new Promise(painted => new PerformanceObserver(list => {
  const [first] = list.getEntriesByName("first-contentful-paint")
  if (first) painted(first.startTime)
}).observe({type: "paint", buffered: true}))"""
MOST_BYTES, MOST_MS = 300_000, 1000


class Weight(NamedTuple):
    """One page: the median of its first paints in ms, and bytes sent with all of its charts."""

    page: str
    paint_ms: float
    all_bytes: int


def main() -> None:
    """Print one table, in Markdown, with columns for each number of trials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[1000, 1_000_000])
    parser.add_argument("--runs", type=int, default=5, help="loads of each page; the median is printed")
    parser.add_argument("--keep", type=Path, help="folder of the databases, made once and used again")
    options = parser.parse_args()
    executable = next((found for name in _CHROMIUM if (found := shutil.which(name))), None)
    if executable is None:
        parser.error("needs Chromium: on Debian `apt-get install chromium`, elsewhere put `chromium` on the PATH")
    weights: dict[int, list[Weight]] = {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as made:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        for trials in options.trials:
            with _served((options.keep or Path(made)) / f"{trials}", trials) as (address, pages):
                weights[trials] = [_weigh(browser, address, page, path, options.runs) for page, path in pages.items()]
        browser.close()
    _print(weights)


@contextmanager
def _served(folder: Path, trials: int) -> Generator[tuple[str, dict[str, str]]]:
    """Run a service on a database with `trials` trials; yield its address and the pages to open."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        data_dir=folder, database_url=f"sqlite:///{folder / 'xetune.sqlite'}", scheduler=False, rate_per_s=0
    )
    database = open_database(settings.database_url)
    upgrade(database.engine)
    if _is_empty(database):
        fill(database, ArtifactStore(settings.artifacts_dir), max(1, trials // 10), trials)
    pages = _pages(database)
    database.close()
    server = uvicorn.Server(uvicorn.Config(create_app(settings, list_devices), port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", pages
    server.should_exit = True
    thread.join()


def _is_empty(database: Database) -> bool:
    with database.read() as session:
        return session.scalar(select(Job.id).limit(1)) is None


def _pages(database: Database) -> dict[str, str]:
    with database.read() as session:
        count = func.count()
        job = session.scalars(select(Trial.job_id).group_by(Trial.job_id).order_by(count.desc()).limit(1)).one()
        key, slug = session.execute(
            select(Problem.key, Device.slug)
            .select_from(Job)
            .join(Problem)
            .join(Device, Device.id == Job.device_id)
            .where(Job.id == job)
        ).one()
        newest = session.scalars(select(Kernel.id).order_by(Kernel.id.desc()).limit(2)).all()
    return {
        "overview": "/",
        "jobs": "/jobs",
        "job with the most trials": f"/jobs/{job}",
        "its trials by number": f"/jobs/{job}?sort=number",
        "problems": "/problems",
        "problem on a device": f"/problems/{key[:16]}/on/{slug}",
        "its trials explored": f"/explore?job={job}&x=trial&y=time&colour=block m",
        "a problem's trials explored": f"/explore?problem={key[:16]}&device={slug}",
        "kernels": "/kernels",
        "kernels of one evidence": "/kernels?evidence=predicted",
        "kernel": f"/kernels/{newest[0]}",
        "two kernels compared": "/compare?" + "&".join(f"kernel={each}" for each in newest),
        "shapes": "/shapes",
        "schedules": "/schedules",
        "devices": "/devices",
        "device": f"/devices/{slug}",
    }


def _weigh(browser: Browser, address: str, name: str, path: str, runs: int) -> Weight:
    paints: list[float] = []
    whole = 0
    for _ in range(runs):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        sent = _count_bytes(page)
        page.goto(address + path)
        paints.append(page.evaluate(_PAINT))
        _see_all(page)
        whole = sent[0]
        context.close()
    return Weight(name, statistics.median(paints), whole)


def _count_bytes(page: Page) -> list[int]:
    """Return a list whose number grows with every byte of an answer, headers included."""
    sent = [0]
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def add(event: dict[str, float]) -> None:
        sent[0] += int(event["encodedDataLength"])

    session.on("Network.loadingFinished", add)
    return sent


def _see_all(page: Page) -> None:
    for figure in page.locator("figure[data-chart]").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".loading").wait_for(state="detached")


def _print(found: Mapping[int, Sequence[Weight]]) -> None:
    headings = (text for trials in found for text in (f"first paint, {trials:,} trials", "with charts"))
    print(f"| page | {' | '.join(headings)} |\n|{'---|' * (1 + 2 * len(found))}")
    for of_page in zip(*found.values(), strict=True):
        print(f"| {of_page[0].page} | {' | '.join(map(_cells, of_page))} |")


def _cells(w: Weight) -> str:
    """Return the cells of a page, marked where they exceed the targets."""
    slow, large = w.paint_ms > MOST_MS, w.all_bytes > MOST_BYTES
    return f"{w.paint_ms:.0f} ms{' (over)' * slow} | {w.all_bytes / 1000:.0f} kB{' (over)' * large}"


if __name__ == "__main__":
    main()
