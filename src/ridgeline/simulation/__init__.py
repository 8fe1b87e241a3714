"""The paper's simulation study: scenarios with their truth, and the tasks."""
