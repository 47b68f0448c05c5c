"""The service with an empty route for comparison. Run: python -m benchmarks.service.load_server"""

import gc

import uvicorn
from fastapi import Response

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
    app = create_app(settings)
    app.add_api_route("/empty", answer_nothing)
    gc.collect()
    gc.freeze()  # as xetune serve does
    uvicorn.run(app, host=settings.host, port=settings.port, log_config=None, access_log=False)


if __name__ == "__main__":
    main()
