"""The service with an empty route, or FastAPI with that route alone (--bare) in uvicorn's usual server, for comparison.

Run: python -m benchmarks.service.load_server [--bare]
"""

import gc
import sys

import uvicorn
from fastapi import FastAPI, Response

from service.cli.operating.serving import config_of
from service.settings import read_settings
from service.telemetry.logs import configure_logs


async def answer_nothing() -> Response:
    """Nothing."""
    return Response()


def main() -> None:
    """Serve until stopped."""
    settings = read_settings()
    configure_logs(settings)
    if "--bare" in sys.argv[1:]:
        app = FastAPI()
        config = uvicorn.Config(app, host=settings.host, port=settings.port, log_config=None, access_log=False)
    else:
        config = config_of(settings)
        app = config.app
        assert isinstance(app, FastAPI)
    app.add_api_route("/empty", answer_nothing)
    app.add_api_route("/healthz", answer_nothing)
    gc.collect()
    gc.freeze()  # as xetune serve does
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
