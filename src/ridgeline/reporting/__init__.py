"""What every report shares: page, words, labels, and models side by side."""
