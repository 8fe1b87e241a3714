"""How good a model is: the same metrics and curves for every model."""
