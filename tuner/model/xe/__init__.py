"""Model of the time of a GEMM on an Intel Xe GPU, from its problem, configurations and the facts of the device.

Accounts for work-groups on the busiest core, their traffic from each level of the memory, and latency: see
docs/model.md.
"""

from tuner.model.xe.columns import Columns, columns_of, columns_of_axes, columns_of_space
from tuner.model.xe.constants import CONSTANTS, MODEL_VERSION, Constants
from tuner.model.xe.explain import Ceiling, Explanation, PartTime, explain
from tuner.model.xe.l2 import L2Size, is_current, l2_size, model_of
from tuner.model.xe.predict import PARTS, Predictions, predict, predict_many

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
