"""The arrays of this package."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
