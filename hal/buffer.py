"""Contents of a kernel argument; apart, so that describing a launch does without numpy."""

import numpy as np
from numpy.typing import NDArray

Buffer = NDArray[np.generic]
