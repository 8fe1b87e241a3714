"""Ridgeline: an explainable neural network for credit decisions."""

__version__ = "0.1.0"
