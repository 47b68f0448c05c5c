"""Model of the time of a GEMM on an Intel Xe GPU, from its problem, configurations and the facts of the device.

Accounts for work-groups on the busiest core, their traffic from each level of the memory, and latency: see
docs/model.md.
"""

from typing import TYPE_CHECKING

from hal.late import late_exports

if TYPE_CHECKING:
    from tuner.model.xe.columns import Columns, columns_of, columns_of_axes, columns_of_space
    from tuner.model.xe.constants import CONSTANTS, MODEL_VERSION, Constants
    from tuner.model.xe.explanation import Ceiling, Explanation, PartTime, explain
    from tuner.model.xe.l2 import L2Size, is_current, l2_size, model_of
    from tuner.model.xe.prediction import PARTS, Predictions, predict, predict_many

__all__ = [
    "CONSTANTS",
    "MODEL_VERSION",
    "PARTS",
    "Ceiling",
    "Columns",
    "Constants",
    "Explanation",
    "L2Size",
    "PartTime",
    "Predictions",
    "columns_of",
    "columns_of_axes",
    "columns_of_space",
    "explain",
    "is_current",
    "l2_size",
    "model_of",
    "predict",
    "predict_many",
]

# Imported when it is first asked for: most programs need a part of it, and predictions need numpy.
_LATE = {
    "CONSTANTS": "tuner.model.xe.constants",
    "Ceiling": "tuner.model.xe.explanation",
    "Columns": "tuner.model.xe.columns",
    "Constants": "tuner.model.xe.constants",
    "Explanation": "tuner.model.xe.explanation",
    "L2Size": "tuner.model.xe.l2",
    "MODEL_VERSION": "tuner.model.xe.constants",
    "PARTS": "tuner.model.xe.prediction",
    "PartTime": "tuner.model.xe.explanation",
    "Predictions": "tuner.model.xe.prediction",
    "columns_of": "tuner.model.xe.columns",
    "columns_of_axes": "tuner.model.xe.columns",
    "columns_of_space": "tuner.model.xe.columns",
    "explain": "tuner.model.xe.explanation",
    "is_current": "tuner.model.xe.l2",
    "l2_size": "tuner.model.xe.l2",
    "model_of": "tuner.model.xe.l2",
    "predict": "tuner.model.xe.prediction",
    "predict_many": "tuner.model.xe.prediction",
}

__getattr__ = late_exports(globals(), _LATE)
