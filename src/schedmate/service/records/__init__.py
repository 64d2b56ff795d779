"""What is known of a job: its logs, its attempts, its nodes, and the events of the engine."""
