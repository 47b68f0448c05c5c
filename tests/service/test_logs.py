"""What is logged holds no secret, in either form."""

import logging
from collections.abc import Generator
from typing import Literal

import pytest
import structlog

from service.logs import configure_logs
from service.settings import Settings

SECRET = "sekret"


@pytest.fixture(autouse=True)
def logs_as_before() -> Generator[None]:
    """Give the test's own handlers and structlog's settings back."""
    before, level = logging.root.handlers, logging.root.level
    logging.root.handlers = []
    yield
    logging.root.handlers = before
    logging.root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_logged_exception_shows_its_place_and_no_local_variable(
    form: Literal["console", "json"], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(database_url=f"postgresql://u:{SECRET}@h/db", log_format=form)
    configure_logs(settings)
    url = settings.database_url
    try:
        raise ZeroDivisionError("oops")
    except ZeroDivisionError:
        structlog.stdlib.get_logger("ours").exception("fault of this program")
        logging.getLogger("theirs").exception("fault of a library")
    logged = capsys.readouterr().err
    assert logged.count("ZeroDivisionError: oops") == 2
    assert "test_logs.py" in logged
    assert SECRET in url
    assert SECRET not in logged


def test_settings_do_not_show_the_password() -> None:
    assert SECRET not in repr(Settings(database_url=f"postgresql://u:{SECRET}@h/db"))
