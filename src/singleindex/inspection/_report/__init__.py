"""The parts of the report page: what is computed, what is drawn, how it is laid out."""
