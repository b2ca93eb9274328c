"""Files larger than memory, read in chunks of rows: Parquet, CSV, svmlight and .npy."""

from .data import ChunkedData, chunk_arrays, read_chunks

__all__ = ["ChunkedData", "chunk_arrays", "read_chunks"]
