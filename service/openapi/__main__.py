"""Command that writes the API contract and the generated files of the client, or checks them."""

import argparse
import sys

from service.api.records.json_schema import record_schema_text
from service.app import create_app
from service.openapi.client_code import MODELS_FOLDER, SYNC_FILES, model_texts, sync_text
from service.openapi.contract import CONTRACT_FILE, contract, contract_text
from service.settings import Settings

RECORD_FILE = CONTRACT_FILE.parent / "docs/record.schema.json"


def main(arguments: list[str] | None = None) -> int:
    """Write openapi.yaml and the generated files of the client, or check that they are current."""
    parser = argparse.ArgumentParser(description="Write the API contract and the client, or check them.")
    parser.add_argument("--write", action="store_true", help="write the files instead of checking them")
    write: bool = parser.parse_args(arguments).write
    app = create_app(Settings(scheduler=False))
    stale = False
    texts = {CONTRACT_FILE: contract_text(app), **model_texts(contract(app))}
    texts[RECORD_FILE] = record_schema_text()
    texts |= {file: sync_text(source.read_text()) for file, source in SYNC_FILES.items()}
    for file in set(MODELS_FOLDER.glob("*.py")) - texts.keys():
        if write:
            file.unlink()
        else:
            print(f"{file.name} is of no feature; run: python -m service.openapi --write", file=sys.stderr)
            stale = True
    for file, text in texts.items():
        if write:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} is not current; run: python -m service.openapi --write", file=sys.stderr)
            stale = True
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
