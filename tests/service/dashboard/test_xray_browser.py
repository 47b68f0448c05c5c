"""A file is sent and its kernels are shown beside ours, in real Chromium."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from db.migrate import upgrade
from hal import DeviceSpec
from hal.devices.listed import ListedDevice, Runtime, listed
from hal.facts.xe import XE_DEVICES
from service.app import create_app
from service.settings import Settings
from tests.codegen.xe.xray.files import library, wheel, zebin
from tests.service.api.xray.unconfined import recorded_compiler, unconfined_xray
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served

__all__ = ["recorded_compiler", "unconfined_xray"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def gpus() -> list[ListedDevice]:
    """The table of GPUs, which are absent."""
    specs: list[DeviceSpec] = [row.spec for row in XE_DEVICES]
    return [listed(spec, Runtime.TABLE, None, runnable=False) for spec in specs]


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (800, "light"), (1400, "dark")])
def test_kernels_of_a_file_are_shown_beside_ours(
    browser: Browser, tmp_path: Path, recorded_compiler: tuple[Path, Path], width: int, scheme: str
) -> None:
    settings = Settings(
        data_dir=tmp_path,
        database_url=f"sqlite:///{tmp_path / 'x.sqlite'}",
        scheduler=False,
        ocloc=recorded_compiler[0],
    )
    app = create_app(settings, gpus)
    upgrade(app.state.context.database.engine)
    file = tmp_path / "kernels.whl"
    file.write_bytes(wheel({"lib.so": library(zebin())}))
    with served(app) as address, opened(browser, f"{address}/xray", width=width) as (page, complaints):
        page.emulate_media(color_scheme=scheme)  # pyright: ignore[reportArgumentType]
        page.get_by_role("button", name="Read it").first.click()
        expect(page.locator("#xray-error")).to_contain_text("Zebin, library, wheel or .spv")
        expect(page.locator("[name=file]")).to_be_focused()
        page.set_input_files("[name=file]", str(file))
        page.fill("#xray [name=kernel]", "other*")
        page.get_by_role("button", name="Read it").first.click()
        expect(page.locator("#xray-error")).to_contain_text("named like 'other*'")
        page.fill("#xray [name=kernel]", "")
        page.select_option("[name=device]", "max1550")
        page.get_by_role("button", name="Read it").first.click()
        expect(page.locator("#xray-result tbody tr")).to_have_count(2)
        expect(page.locator("#xray-result h2")).to_be_focused()
        expect(page.locator("tr.ours")).to_contain_text("default")
        page.locator("#xray-result details").evaluate("found => (found.open = true)")
        assert obstacles(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        refused = [said for said in complaints if "400" not in said]  # the browser notes refusals
        assert refused == []
