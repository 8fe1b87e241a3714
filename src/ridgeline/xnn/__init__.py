"""The explainable neural network, as a library of its own."""
