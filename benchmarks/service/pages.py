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
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import func, select

from benchmarks.service.filling import fill
from db.migrate import upgrade
from db.schema import (
    Device,
    Job,
    Kernel,
    Problem,
    Trial,
)
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
    """One page: the median of its first paints in ms, bytes sent to paint it, and bytes with all of its charts."""

    page: str
    paint_ms: float
    first_bytes: int
    all_bytes: int


def main() -> None:
    """Print a table for each number of trials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[1000, 1_000_000])
    parser.add_argument("--runs", type=int, default=5, help="loads of a page, of which the median is told")
    parser.add_argument("--keep", type=Path, help="folder of the databases, made once and used again")
    options = parser.parse_args()
    executable = next((found for name in _CHROMIUM if (found := shutil.which(name))), None)
    if executable is None:
        parser.error("needs Chromium: on Debian `apt-get install chromium`, elsewhere put `chromium` on the PATH")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as made:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        for trials in options.trials:
            with _served((options.keep or Path(made)) / f"{trials}", trials) as (address, pages):
                _print(trials, [_weigh(browser, address, page, path, options.runs) for page, path in pages.items()])
        browser.close()


@contextmanager
def _served(folder: Path, trials: int) -> Generator[tuple[str, dict[str, str]]]:
    """A service on a database with so many trials, and the pages to open."""
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
        most = session.scalar(select(count).where(Trial.job_id == job))
        newest = session.scalars(select(Kernel.id).order_by(Kernel.id.desc()).limit(2)).all()
    return {
        "overview": "/",
        "jobs": "/jobs",
        f"job of {most:,} trials": f"/jobs/{job}",
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
    first = whole = 0
    for _ in range(runs):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        sent = _count_bytes(page)
        page.goto(address + path)
        paints.append(page.evaluate(_PAINT))
        first = sent[0]
        _see_all(page)
        whole = sent[0]
        context.close()
    return Weight(name, statistics.median(paints), first, whole)


def _count_bytes(page: Page) -> list[int]:
    """A number that grows with every byte of an answer, headers included."""
    sent = [0]
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sent.__setitem__(0, sent[0] + int(event["encodedDataLength"])))
    return sent


def _see_all(page: Page) -> None:
    for figure in page.locator("figure[data-chart]").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".loading").wait_for(state="detached")


def _print(trials: int, weights: Sequence[Weight]) -> None:
    print(f"{trials:,} trials")
    print(f"  {'page':28} {'first paint':>12} {'to load':>10} {'with charts':>12}")
    for w in weights:
        over = " over" if w.paint_ms > MOST_MS or w.all_bytes > MOST_BYTES else ""
        print(f"  {w.page:28} {w.paint_ms:9.0f} ms {w.first_bytes / 1000:7.0f} kB {w.all_bytes / 1000:9.0f} kB{over}")


if __name__ == "__main__":
    main()
