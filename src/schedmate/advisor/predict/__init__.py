"""How long, from what is known when a job is submitted; and how far such answers can be trusted."""
