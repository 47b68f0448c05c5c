"""Take a picture of a page of the dashboard with Chromium.

Run: python -m docs.site.screenshot docs/pictures/dashboard.jpg http://127.0.0.1:8752/jobs/ID
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT, QUALITY = 1200, 760, 72


def take(target: Path, url: str) -> None:
    """Write a JPEG of what a window of 1200 x 760 shows of a page.

    Raises:
        RuntimeError: there is no Chromium.
    """
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise RuntimeError("expected chromium or google-chrome in PATH: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(url)
        page.wait_for_timeout(1500)  # charts are drawn
        page.screenshot(path=target, type="jpeg", quality=QUALITY)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), sys.argv[2])
