"""How often intervals cover, how many stable features are false, and how often noise passes for more."""
