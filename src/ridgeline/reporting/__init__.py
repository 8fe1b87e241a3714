"""Tables, figures, sentences and the HTML report, from plain data."""
