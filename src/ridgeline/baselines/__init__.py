"""The methods that the explainable network is compared with."""
