"""slurmrestd as the second way to Slurm, beside its commands."""
