"""How a fit is carried out: functions over a plan that return one record."""
