"""What is known of models, optimisers and datasets by name."""
