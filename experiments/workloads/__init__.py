"""What is trained: one model, its batch and its loss a file."""
