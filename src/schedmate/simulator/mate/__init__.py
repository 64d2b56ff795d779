"""SchedMate beside a policy, part by part: what each knows, does and costs in a simulation."""
