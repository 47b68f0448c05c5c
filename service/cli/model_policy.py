"""Policy of a command for pydantic's models: each is built when it is first used.

The API defines some hundred; building them took a tenth of the processor time of a command that lists.
"""


def build_models_when_used() -> None:
    """Defer the models of this process that are defined from now on."""
    # Imported here: help and the version do without.
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
