"""The report on a table: findings, figures, limits and the page that has them all."""
