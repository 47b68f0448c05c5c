"""The service with an empty route, or FastAPI with that route alone (--bare), for comparison.

Run: python -m benchmarks.service.load_server [--bare]
"""

import gc
import sys

import uvicorn
from fastapi import FastAPI, Response

from service.app import create_app
from service.logs import configure_logs
from service.settings import read_settings


async def answer_nothing() -> Response:
    """Nothing."""
    return Response()


def main() -> None:
    """Serve until stopped."""
    settings = read_settings()
    configure_logs(settings)
    app = FastAPI() if "--bare" in sys.argv[1:] else create_app(settings)
    app.add_api_route("/empty", answer_nothing)
    app.add_api_route("/healthz", answer_nothing)
    gc.collect()
    gc.freeze()  # as xetune serve does
    uvicorn.run(app, host=settings.host, port=settings.port, log_config=None, access_log=False)


if __name__ == "__main__":
    main()
