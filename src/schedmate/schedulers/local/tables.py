"""The one table of the queue file, and how it came to be."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE jobs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL, user TEXT NOT NULL, workdir TEXT NOT NULL,
            command TEXT NOT NULL, script TEXT, request TEXT NOT NULL,
            stdout TEXT NOT NULL DEFAULT '', stderr TEXT NOT NULL DEFAULT '',
            nice INTEGER NOT NULL, state TEXT NOT NULL,
            submit_time REAL NOT NULL, eligible_time REAL NOT NULL,
            start_time REAL, end_time REAL, exit_code INTEGER, signal INTEGER,
            restarts INTEGER NOT NULL DEFAULT 0, slots TEXT NOT NULL DEFAULT '[]',
            ending TEXT, signalled_at REAL, reason TEXT NOT NULL DEFAULT ''
        )
        """,
        "CREATE INDEX jobs_by_state ON jobs (state, nice, id)",
        "CREATE INDEX jobs_by_end ON jobs (end_time)",
    ),
    ("ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0",),
    (
        "ALTER TABLE jobs ADD COLUMN array_id INTEGER",
        "ALTER TABLE jobs ADD COLUMN task INTEGER",
        "ALTER TABLE jobs ADD COLUMN shape TEXT",
        "ALTER TABLE jobs ADD COLUMN dependency TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE jobs ADD COLUMN options TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE jobs ADD COLUMN top_at REAL",
        "ALTER TABLE jobs ADD COLUMN predicted_s REAL",
        "ALTER TABLE jobs ADD COLUMN backfilled INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX jobs_by_array ON jobs (array_id, task)",
    ),
)
SPLIT_FIELDS = tuple(
    """
    id name user workdir command script request stdout stderr nice state submit_time eligible_time
    start_time end_time exit_code signal restarts slots ending signalled_at reason held array_id
    task shape dependency options top_at predicted_s backfilled
    """.split()  # noqa: SIM905 - a table is easier to read and compare
)
"""Each is a field of `QueueEntry`."""
FIELDS = ", ".join(SPLIT_FIELDS)
ADD = (
    "INSERT INTO jobs (id, array_id, task, shape, command, stdout, stderr, name, user, workdir,"
    " script, request, nice, submit_time, eligible_time, held, dependency, options, state)"
)
LISTED = """
    end_time IS NULL
    OR array_id IN (SELECT array_id FROM jobs WHERE end_time IS NULL)
    OR id IN (
        SELECT id FROM jobs WHERE end_time >= ?1 AND array_id IS NULL
        ORDER BY end_time DESC LIMIT ?2
    )
    OR array_id IN (
        SELECT array_id FROM (
            SELECT array_id,
                SUM(COUNT(*)) OVER (ORDER BY MAX(end_time) DESC, array_id) - COUNT(*) AS before
            FROM jobs WHERE end_time >= ?1 AND array_id NOT IN (
                SELECT array_id FROM jobs WHERE end_time IS NULL AND array_id IS NOT NULL
            )
            GROUP BY array_id
        ) WHERE before < ?2
    )
    ORDER BY id
"""
"""What has not ended, and the newest of the rest: so many jobs, and arrays of about so many tasks.
Of an array all tasks are there or none, as they are counted."""
REQUEUED = (
    "state = 'PENDING', restarts = restarts + 1, eligible_time = ?, start_time = NULL,"
    " end_time = NULL, exit_code = NULL, signal = NULL, slots = '[]', ending = NULL,"
    " signalled_at = NULL, reason = '', backfilled = 0"
)
"""What queuing a job again changes in its row."""
PUT_BACK = (
    "state = 'PENDING', start_time = NULL, slots = '[]', ending = NULL, signalled_at = NULL,"
    " backfilled = 0"
)
"""What it changes that a run was begun and ran nothing."""
