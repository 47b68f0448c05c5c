"""Policy of a command for pydantic's models: each is built when it is first used.

The API and FastAPI define some hundred; building them took a tenth of the processor time of a command that lists.
"""

import warnings


def build_models_when_used() -> None:
    """Defer the models of this process that are defined from now on."""
    # Imported here: help and the version do without.
    from pydantic import BaseModel
    from pydantic.warnings import UnsupportedFieldAttributeWarning

    BaseModel.model_config["defer_build"] = True
    # FastAPI ignores it where it defines the models of parameters.
    warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
