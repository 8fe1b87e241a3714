"""From raw rows to the columns of a model, by recipes that the model's file carries."""
