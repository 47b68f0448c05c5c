"""A served app and a real browser, for the tests marked `browser`."""

import shutil
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect, sync_playwright

_PATIENCE_MS = 60_000  # only a failure takes this long, and a busy machine
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")  # while it is open, no other test of this process can run an event loop
def browser() -> Generator[Browser]:
    """Chromium without a window, with a fresh profile; the test is skipped where there is none."""
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("needs Chromium: on Debian `apt-get install chromium`, elsewhere put `chromium` on the PATH")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(_QUIET))
        expect.set_options(timeout=_PATIENCE_MS)
        yield chromium
        chromium.close()


@contextmanager
def opened(browser: Browser, url: str, width: int = 1280, height: int = 900) -> Generator[tuple[Page, list[str]]]:
    """A page and what its console complains about, in a context of its own."""
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(_PATIENCE_MS)
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    yield page, complaints
    context.close()


@contextmanager
def served(app: FastAPI) -> Generator[str]:
    """The app on a free port of this machine, in a thread; gives its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.02)
    assert server.started, "the server did not start"
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
