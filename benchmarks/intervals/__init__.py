"""How far single predictions and the headline can be trusted, on generated data with a known truth."""
