-- Who is told, and when next, that an outcome stays unknown. A table of its own: an alert must wait
-- for no lock that an action's own work holds, and no work for an alert. Without foreign keys for
-- the same reason: the check would lock the action.

CREATE TABLE alerts (
    action_id text NOT NULL CHECK (action_id ~ '^[0-9a-f]{32}$'),
    kind      text NOT NULL CHECK (kind IN ('unknown', 'contradiction', 'mirror_failed')),
    since     timestamptz NOT NULL,
    number    int NOT NULL DEFAULT 0,
    said      boolean NOT NULL DEFAULT false,
    due_at    timestamptz,
    PRIMARY KEY (action_id, kind)
);
COMMENT ON COLUMN alerts.number IS 'How many were delivered.';
COMMENT ON COLUMN alerts.said IS 'The next one is in log and metric already; only its delivery has to be tried again.';
COMMENT ON COLUMN alerts.due_at IS 'When the next one is due; while one is being delivered, when it is taken for lost. NULL: no more.';
CREATE INDEX alerts_due ON alerts (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX audit_alarming ON audit_events (action_id, event)
    WHERE event IN ('contradiction', 'mirror_failed');

CREATE TABLE workers (
    id        text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
    last_seen timestamptz NOT NULL
);
COMMENT ON TABLE workers IS 'One row a worker process, written every few seconds by the loop that alerts: no fresh row means that nobody alerts.';
