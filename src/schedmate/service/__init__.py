"""The live shell around the decision engine, and what verbs show and do.

`wiring` opens the parts that the settings name, `visibility` decides who sees what, `account` what
this account may change, and `actions` carries out decisions. Above them: `records` (what is known
of a job), `views` (what is shown), `usecases` (what a person asks for) and `daemon` (what runs by
itself). Views and use cases know neither each other nor the daemon.
"""
