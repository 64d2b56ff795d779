"""The numbered steps from an empty file to today's tables. Append; never edit a step."""

from __future__ import annotations

from schedmate.store.run_facts import (
    ALL_KINDS_OF_MESSAGES,
    MADE_OF_RUNS,
    SUBMISSIONS_OF_LISTED,
    SUBMISSIONS_OF_RUNS,
)


def _numbers_changes(table: str, *events: str) -> tuple[str, ...]:
    """Triggers that give the job of a changed row a new number.

    Not by INSERT OR REPLACE: within a trigger the policy of the outer statement holds.
    """
    return tuple(
        f"""
        CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} BEGIN
            DELETE FROM changes WHERE scheduler = {row}.scheduler AND job_id = {row}.job_id;
            INSERT INTO changes (scheduler, job_id) VALUES ({row}.scheduler, {row}.job_id);
        END
        """  # noqa: S608 - the names are those below
        for event in events
        for row in ("OLD" if event == "DELETE" else "NEW",)
    )


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        """
        INSERT INTO meta VALUES
            ('created_at', CAST((julianday('now') - 2440587.5) * 86400 AS TEXT))
        """,
        """
        CREATE TABLE runs (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, attempt INTEGER NOT NULL,
            user TEXT NOT NULL, code TEXT, arguments TEXT, end_time REAL NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (scheduler, job_id, attempt)
        )
        """,
        "CREATE INDEX runs_by_code ON runs (code, arguments, end_time)",
        "CREATE INDEX runs_by_user ON runs (user, end_time)",
        "CREATE INDEX runs_by_end ON runs (end_time)",
        """
        CREATE TABLE advice (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, body TEXT NOT NULL, fingerprint TEXT,
            PRIMARY KEY (scheduler, job_id)
        )
        """,
        """
        CREATE TABLE progress (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, attempt INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (scheduler, job_id)
        )
        """,
        """
        CREATE TABLE diagnoses (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, attempt INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (scheduler, job_id, attempt)
        )
        """,
        """
        CREATE TABLE actions (
            id INTEGER PRIMARY KEY, scheduler TEXT NOT NULL, key TEXT NOT NULL,
            job_id TEXT NOT NULL, state TEXT NOT NULL, at REAL NOT NULL, note TEXT NOT NULL,
            body TEXT NOT NULL,
            UNIQUE (scheduler, key)
        )
        """,
        "CREATE INDEX actions_by_job ON actions (scheduler, job_id)",
        "CREATE TABLE workloads (key TEXT PRIMARY KEY, body TEXT NOT NULL)",
        "CREATE TABLE failures (signature TEXT PRIMARY KEY, body TEXT NOT NULL)",
        """
        CREATE TABLE llm_calls (
            id INTEGER PRIMARY KEY, at REAL NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL,
            outcome TEXT NOT NULL, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
            answer_tokens INTEGER NOT NULL, seconds REAL NOT NULL
        )
        """,
        "CREATE INDEX llm_calls_by_time ON llm_calls (at)",
        "CREATE TABLE llm_answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)",
    ),
    ("ALTER TABLE progress ADD COLUMN at REAL NOT NULL DEFAULT 0",),
    (
        "CREATE TABLE formats (workload TEXT PRIMARY KEY, body TEXT NOT NULL)",
        """
        CREATE TABLE tracking (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, attempt INTEGER NOT NULL,
            state TEXT NOT NULL,
            PRIMARY KEY (scheduler, job_id)
        )
        """,
    ),
    (
        # what it held was found by signatures that are made otherwise now
        "DROP TABLE failures",
        """
        CREATE TABLE past_failures (
            id TEXT PRIMARY KEY, teacher TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL
        )
        """,
        "CREATE INDEX past_failures_by_time ON past_failures (at)",
        """
        CREATE TABLE failure_signatures (
            signature TEXT NOT NULL, teacher TEXT NOT NULL, failure TEXT NOT NULL,
            PRIMARY KEY (signature, teacher)
        )
        """,
        "CREATE INDEX failure_signatures_by_failure ON failure_signatures (failure)",
        """
        CREATE TABLE learned_rules (
            id TEXT PRIMARY KEY, at REAL NOT NULL, hits INTEGER NOT NULL, last_hit REAL,
            body TEXT NOT NULL
        )
        """,
    ),
    (
        """
        CREATE TABLE run_sketches (
            run INTEGER PRIMARY KEY, scheduler TEXT NOT NULL, job_id TEXT NOT NULL,
            attempt INTEGER NOT NULL, end_time REAL NOT NULL, config INTEGER NOT NULL,
            sketch BLOB NOT NULL,
            UNIQUE (scheduler, job_id, attempt)
        )
        """,
        "CREATE INDEX run_sketches_by_config ON run_sketches (config, end_time)",
        "CREATE INDEX run_sketches_by_end ON run_sketches (end_time)",
        """
        CREATE TABLE run_blocks (
            block INTEGER NOT NULL, config INTEGER NOT NULL, end_time REAL NOT NULL,
            run INTEGER NOT NULL,
            PRIMARY KEY (block, config)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX run_blocks_by_end ON run_blocks (block, end_time, run)",
        "CREATE TABLE learnt (name TEXT PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)",
    ),
    (
        # a model's rules wait for a person to accept them
        """
        UPDATE learned_rules SET body = json_set(body, '$.enabled', json('false'))
        WHERE json_extract(body, '$.origin.teacher') = 'llm'
        """,
    ),
    (
        """
        CREATE TABLE events (
            id INTEGER PRIMARY KEY, scheduler TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,
            job_id TEXT NOT NULL, handled INTEGER NOT NULL, body TEXT NOT NULL
        )
        """,
        "CREATE INDEX events_by_job ON events (scheduler, job_id)",
        "CREATE INDEX events_to_handle ON events (scheduler) WHERE NOT handled",
    ),
    (
        # what those who look on need: the scheduler's jobs, and which of them changed since
        """
        CREATE TABLE listed_jobs (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, body TEXT NOT NULL,
            PRIMARY KEY (scheduler, job_id)
        )
        """,
        """
        CREATE TABLE changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, scheduler TEXT NOT NULL,
            job_id TEXT NOT NULL, UNIQUE (scheduler, job_id)
        )
        """,
        *_numbers_changes("listed_jobs", "INSERT", "DELETE"),
        *_numbers_changes("advice", "INSERT"),
        *_numbers_changes("progress", "INSERT"),
        *_numbers_changes("diagnoses", "INSERT"),
        *_numbers_changes("actions", "INSERT", "UPDATE"),
    ),
    (
        # who may ask from elsewhere, and who wants to hear of what
        """
        CREATE TABLE tokens (
            id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, at REAL NOT NULL, body TEXT NOT NULL
        )
        """,
        "CREATE TABLE subscriptions (user TEXT PRIMARY KEY, body TEXT NOT NULL)",
        """
        CREATE TABLE notices (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, attempt INTEGER NOT NULL,
            kind TEXT NOT NULL, at REAL NOT NULL, state TEXT NOT NULL, due REAL NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (scheduler, job_id, attempt, kind)
        )
        """,
        "CREATE INDEX notices_by_due ON notices (scheduler, state, due)",
    ),
    (
        # who did what through a page
        """
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY, scheduler TEXT NOT NULL, at REAL NOT NULL, user TEXT NOT NULL,
            action TEXT NOT NULL, about TEXT NOT NULL, detail TEXT NOT NULL
        )
        """,
        "CREATE INDEX audit_by_subject ON audit (scheduler, about)",
    ),
    (
        # what pages count of ended runs, and ways to what they look up
        """
        CREATE TABLE run_facts (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, attempt INTEGER NOT NULL,
            end_time REAL NOT NULL, user TEXT NOT NULL, "partition" TEXT NOT NULL,
            gpus INTEGER NOT NULL, state TEXT NOT NULL, submitted_at REAL NOT NULL,
            started_at REAL, nodes TEXT NOT NULL, basis TEXT NOT NULL, p10 REAL, p50 REAL, p90 REAL,
            PRIMARY KEY (scheduler, job_id, attempt)
        )
        """,
        MADE_OF_RUNS,
        "CREATE INDEX run_facts_by_end ON run_facts (scheduler, end_time)",
        "CREATE INDEX actions_by_state ON actions (scheduler, state)",
        "CREATE INDEX actions_by_time ON actions (at)",
        "CREATE INDEX events_by_kind ON events (kind, scheduler, id)",
    ),
    (
        # the job that a number stands for, by its first submission
        """
        CREATE TABLE submissions (
            scheduler TEXT NOT NULL, job_id TEXT NOT NULL, whole TEXT NOT NULL,
            user TEXT NOT NULL, submitted_at REAL NOT NULL, latest REAL NOT NULL,
            attempt INTEGER NOT NULL,
            PRIMARY KEY (scheduler, job_id)
        ) WITHOUT ROWID
        """,
        SUBMISSIONS_OF_RUNS,
        SUBMISSIONS_OF_LISTED,
        *(
            f"UPDATE submissions SET whole = substr(job_id, 1, instr(job_id, '{sign}') - 1)"  # noqa: S608
            f" WHERE instr(job_id, '{sign}') > 0"
            for sign in "+_"
        ),
        "CREATE INDEX submissions_by_whole ON submissions (scheduler, whole)",
    ),
    (
        # every request to a model, as it was sent
        """
        CREATE TABLE model_log (
            id INTEGER PRIMARY KEY, at REAL NOT NULL, user_name TEXT NOT NULL,
            job_id TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL,
            endpoint TEXT NOT NULL, outcome TEXT NOT NULL, sent TEXT NOT NULL,
            received TEXT NOT NULL
        )
        """,
        "CREATE INDEX model_log_by_time ON model_log (at)",
        "CREATE INDEX model_log_by_job ON model_log (job_id)",
    ),
    (ALL_KINDS_OF_MESSAGES,),
)
