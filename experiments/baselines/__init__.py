"""What the paper compares with, or prints, and no well-kept library has."""

from .group_logistic import GroupLogisticRegression
from .literal_csi import LiteralCSI

__all__ = ["GroupLogisticRegression", "LiteralCSI"]
