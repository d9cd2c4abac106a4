-- The core of Aval: what came in, what was proposed, who decided, what was sent.
-- Rows are the truth, signals are doorbells (design §3). Functions such as now() and
-- clock_timestamp() stand unqualified on purpose: tests shadow them to move the clock.

CREATE TABLE deployment (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    id          text NOT NULL CHECK (length(id) BETWEEN 1 AND 100),
    namespace   text NOT NULL CHECK (length(namespace) BETWEEN 1 AND 255),
    created_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE deployment IS 'A database belongs to one deployment and one Temporal namespace; a mismatch does not start (design §9).';

CREATE TABLE accounts (
    id             text PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name           text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    time_zone      text NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
    language       text NOT NULL DEFAULT 'pt-BR' CHECK (language IN ('pt-BR', 'en', 'es')),
    prompt_file    text CHECK (length(prompt_file) <= 500),
    gateway        text CHECK (length(gateway) <= 60),
    gateway_config jsonb NOT NULL DEFAULT '{}',
    settings       jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN accounts.gateway_config IS 'No secrets: a value may name an environment variable as {"secret": "NAME"}.';
COMMENT ON COLUMN accounts.settings IS 'read_only: offer read tools only. direct_tools: reversible tools that run without a question.';

CREATE TABLE business_numbers (
    phone_number_id text PRIMARY KEY CHECK (phone_number_id ~ '^[0-9]{1,32}$'),
    account_id      text NOT NULL REFERENCES accounts,
    display         text NOT NULL DEFAULT '' CHECK (length(display) <= 32)
);

CREATE TABLE members (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id text NOT NULL REFERENCES accounts,
    user_id    text CHECK (length(user_id) BETWEEN 1 AND 140),
    wa_id      text CHECK (wa_id ~ '^[0-9]{5,20}$'),
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    role       text NOT NULL CHECK (role IN ('owner', 'staff')),
    active     boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (user_id IS NOT NULL OR wa_id IS NOT NULL)
);
CREATE UNIQUE INDEX members_user ON members (account_id, user_id) WHERE active AND user_id IS NOT NULL;
CREATE UNIQUE INDEX members_phone ON members (account_id, wa_id) WHERE active AND wa_id IS NOT NULL;

CREATE TABLE conversations (
    id              uuid PRIMARY KEY,
    account_id      text NOT NULL REFERENCES accounts,
    phone_number_id text NOT NULL REFERENCES business_numbers,
    user_id         text CHECK (length(user_id) BETWEEN 1 AND 140),
    wa_id           text CHECK (length(wa_id) BETWEEN 1 AND 140),
    facts_seq       bigint NOT NULL DEFAULT 0,
    next_position   bigint NOT NULL DEFAULT 0,
    closed_at       timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (user_id IS NOT NULL OR wa_id IS NOT NULL)
);
COMMENT ON COLUMN conversations.facts_seq IS 'Moves with every change of an action; an answer thought on an older value is thought again.';
COMMENT ON COLUMN conversations.closed_at IS 'Set when the phone came back with another user id, or the other way round: a new conversation began.';
CREATE UNIQUE INDEX conversations_user ON conversations (phone_number_id, user_id)
    WHERE user_id IS NOT NULL AND closed_at IS NULL;
CREATE UNIQUE INDEX conversations_phone ON conversations (phone_number_id, wa_id)
    WHERE user_id IS NULL AND closed_at IS NULL;

CREATE TABLE webhooks (
    id          uuid PRIMARY KEY,
    received_at timestamptz NOT NULL,
    body        bytea NOT NULL CHECK (octet_length(body) <= 3145728),
    items       int NOT NULL,
    statuses    int NOT NULL
);
COMMENT ON TABLE webhooks IS 'The bytes as they were signed. Redelivered bytes are stored again: batches may be re-cut, so items are what is unique.';
CREATE INDEX webhooks_received ON webhooks (received_at);

CREATE TABLE turns (
    id              uuid PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations,
    opened_at       timestamptz NOT NULL,
    closed_at       timestamptz,
    outcome         text CHECK (outcome IN ('reply', 'proposal', 'template', 'silence', 'abandoned')),
    CHECK ((closed_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX turns_one_open ON turns (conversation_id) WHERE closed_at IS NULL;

CREATE TABLE inbox (
    id              uuid PRIMARY KEY,
    seq             bigint GENERATED ALWAYS AS IDENTITY,
    webhook_id      uuid NOT NULL REFERENCES webhooks,
    phone_number_id text NOT NULL CHECK (length(phone_number_id) <= 64),
    key             text NOT NULL CHECK (length(key) <= 1024),
    kind            text NOT NULL CHECK (length(kind) <= 40),
    conversation_id uuid REFERENCES conversations,
    turn_id         uuid REFERENCES turns,
    user_id         text,
    wa_id           text,
    name            text,
    sent_at         timestamptz,
    received_at     timestamptz NOT NULL,
    text            text CHECK (length(text) <= 70000),
    button_id       text CHECK (length(button_id) <= 1024),
    quoted_id       text,
    forwarded       boolean NOT NULL DEFAULT false,
    raw             bytea NOT NULL,
    reason          text,
    done_at         timestamptz,
    ring_at         timestamptz,
    rings           int NOT NULL DEFAULT 0,
    UNIQUE (phone_number_id, key),
    CHECK (done_at IS NULL OR ring_at IS NULL)
);
COMMENT ON COLUMN inbox.key IS 'The wamid (a phone number in base64: never in Temporal, never in logs), or sha256:<hex> of an item without one.';
COMMENT ON COLUMN inbox.reason IS 'How it was handled: by a turn, as a decision, ignored and why, quarantined and why.';
CREATE INDEX inbox_waiting ON inbox (conversation_id, sent_at, seq) WHERE done_at IS NULL;
CREATE INDEX inbox_ring ON inbox (ring_at) WHERE ring_at IS NOT NULL;
CREATE INDEX inbox_turn ON inbox (turn_id);
CREATE INDEX inbox_webhook ON inbox (webhook_id);

CREATE TABLE statuses (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    phone_number_id text NOT NULL,
    wamid           text NOT NULL CHECK (length(wamid) <= 1024),
    status          text NOT NULL CHECK (length(status) <= 40),
    at              timestamptz NOT NULL,
    callback_data   text CHECK (length(callback_data) <= 512),
    error_code      int,
    raw             bytea NOT NULL,
    received_at     timestamptz NOT NULL,
    UNIQUE (phone_number_id, wamid, status, at)
);

CREATE TABLE actions (
    id              text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'),
    conversation_id uuid NOT NULL REFERENCES conversations,
    account_id      text NOT NULL REFERENCES accounts,
    turn_id         uuid NOT NULL REFERENCES turns,
    tool            text NOT NULL CHECK (length(tool) BETWEEN 1 AND 64),
    tool_version    int NOT NULL,
    risk            text NOT NULL CHECK (risk IN ('reversible', 'critical')),
    confirm         text NOT NULL CHECK (confirm IN ('button', 'button_or_yes', 'direct')),
    effect          text NOT NULL CHECK (effect IN ('database', 'provider')),
    payload         jsonb NOT NULL,
    payload_hash    text NOT NULL CHECK (length(payload_hash) = 64),
    summary         text NOT NULL CHECK (length(summary) BETWEEN 1 AND 1024),
    request         jsonb,
    digest          text NOT NULL CHECK (length(digest) = 64),
    business_key    text CHECK (length(business_key) = 64),
    compensates     text REFERENCES actions,
    compensated_by  text REFERENCES actions,
    phone_number_id text NOT NULL,
    user_id         text,
    wa_id           text,
    role            text NOT NULL CHECK (role IN ('owner', 'staff', 'public')),
    status          text NOT NULL,
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    decided_at      timestamptz,
    decision_id     uuid,
    executing_since timestamptz,
    finished_at     timestamptz,
    reason          text CHECK (length(reason) <= 60),
    detail          text CHECK (length(detail) <= 1000),
    result          jsonb,
    attempt         int NOT NULL DEFAULT 0,
    attempt_at      timestamptz,
    locked_until    timestamptz,
    verifying_told_at timestamptz,
    looks           int NOT NULL DEFAULT 0,
    look_at         timestamptz,
    last_look       jsonb,
    ring_at         timestamptz,
    rings           int NOT NULL DEFAULT 0,
    CONSTRAINT actions_status CHECK (status IN
        ('pending', 'executing', 'executed', 'failed', 'cancelled', 'expired', 'superseded')),
    CHECK (effect = 'database' OR request IS NOT NULL OR confirm = 'direct'),
    CHECK (risk <> 'critical' OR confirm <> 'direct')
);
CREATE UNIQUE INDEX actions_one_pending ON actions (conversation_id) WHERE status = 'pending';
CREATE UNIQUE INDEX actions_business_key ON actions (business_key)
    WHERE status IN ('executing', 'executed') AND compensated_by IS NULL;
CREATE UNIQUE INDEX actions_equal_effect ON actions (account_id, tool, payload_hash)
    WHERE status = 'executing';
CREATE INDEX actions_conversation ON actions (conversation_id, created_at);
CREATE INDEX actions_open ON actions (status, created_at) WHERE status IN ('pending', 'executing');
CREATE INDEX actions_created ON actions (created_at);
CREATE INDEX actions_ring ON actions (ring_at) WHERE ring_at IS NOT NULL;

-- The states as data: the same table as domain/actions.py, compared by a test. A trigger, so that
-- no query, not even one typed by hand, moves an action along another edge.
CREATE TABLE action_transitions (before text NOT NULL, after text NOT NULL, PRIMARY KEY (before, after));
INSERT INTO action_transitions VALUES
    ('pending', 'executing'), ('pending', 'cancelled'), ('pending', 'expired'),
    ('pending', 'superseded'), ('pending', 'failed'),
    ('executing', 'executed'), ('executing', 'failed');

CREATE FUNCTION check_action_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status <> OLD.status AND NOT EXISTS (
        SELECT 1 FROM action_transitions t WHERE t.before = OLD.status AND t.after = NEW.status) THEN
        RAISE EXCEPTION 'action %: % may not become %', OLD.id, OLD.status, NEW.status;
    END IF;
    IF (NEW.id, NEW.conversation_id, NEW.account_id, NEW.turn_id, NEW.tool, NEW.tool_version, NEW.payload,
        NEW.summary, NEW.request, NEW.digest, NEW.expires_at, NEW.user_id, NEW.wa_id, NEW.phone_number_id)
       IS DISTINCT FROM
       (OLD.id, OLD.conversation_id, OLD.account_id, OLD.turn_id, OLD.tool, OLD.tool_version, OLD.payload,
        OLD.summary, OLD.request, OLD.digest, OLD.expires_at, OLD.user_id, OLD.wa_id, OLD.phone_number_id) THEN
        RAISE EXCEPTION 'action %: a frozen column may not change', OLD.id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER actions_change BEFORE UPDATE ON actions FOR EACH ROW EXECUTE FUNCTION check_action_change();

CREATE TABLE decisions (
    id          uuid PRIMARY KEY,
    seq         bigint GENERATED ALWAYS AS IDENTITY,
    action_id   text NOT NULL REFERENCES actions,
    inbox_id    uuid REFERENCES inbox,
    verdict     text NOT NULL CHECK (verdict IN ('confirm', 'cancel', 'executed', 'failed', 'resend')),
    source      text NOT NULL CHECK (source IN ('button', 'typed', 'operator')),
    phone_number_id text,
    user_id     text,
    wa_id       text,
    operator    text CHECK (length(operator) BETWEEN 1 AND 120),
    evidence    text CHECK (length(evidence) <= 4000),
    as_send     int,
    received_at timestamptz NOT NULL,
    answered_at timestamptz,
    followed    boolean,
    refusal     text CHECK (length(refusal) <= 60),
    ring_at     timestamptz,
    rings       int NOT NULL DEFAULT 0,
    UNIQUE (inbox_id),
    CHECK ((source = 'operator') = (operator IS NOT NULL)),
    CHECK ((source = 'operator') = (inbox_id IS NULL)),
    CHECK (verdict IN ('confirm', 'cancel') OR source = 'operator'),
    CHECK (answered_at IS NULL OR ring_at IS NULL)
);
CREATE INDEX decisions_action ON decisions (action_id, seq);
CREATE INDEX decisions_ring ON decisions (ring_at) WHERE ring_at IS NOT NULL;

CREATE TABLE sends (
    action_id    text NOT NULL REFERENCES actions,
    n            int NOT NULL CHECK (n >= 1),
    attempt      int NOT NULL,
    fenced_at    timestamptz NOT NULL,
    outcome      text CHECK (outcome IN
        ('created', 'rejected', 'not_sent', 'in_progress', 'conflict', 'unknown')),
    outcome_at   timestamptz,
    provider_ref text CHECK (length(provider_ref) <= 500),
    reason       text CHECK (length(reason) <= 1000),
    data         jsonb,
    evidence     jsonb,
    PRIMARY KEY (action_id, n)
);
COMMENT ON TABLE sends IS 'One row per trip over the wire, written before it. No outcome means: it may have been sent.';

CREATE TABLE outbox (
    key             text PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 256),
    seq             bigint GENERATED ALWAYS AS IDENTITY,
    conversation_id uuid NOT NULL REFERENCES conversations,
    action_id       text REFERENCES actions,
    turn_id         uuid REFERENCES turns,
    purpose         text NOT NULL CHECK (purpose IN ('prompt', 'receipt', 'reply', 'notice')),
    message         jsonb NOT NULL,
    state           text NOT NULL CHECK (state IN ('waiting', 'sending', 'accepted', 'unknown', 'dropped')),
    copies          int NOT NULL DEFAULT 0,
    fenced_at       timestamptz,
    wamid           text,
    status          text CHECK (status IN ('sent', 'delivered', 'read', 'played', 'failed')),
    delivered_at    timestamptz,
    error_code      int,
    reason          text CHECK (length(reason) <= 200),
    created_at      timestamptz NOT NULL,
    done_at         timestamptz,
    ring_at         timestamptz,
    rings           int NOT NULL DEFAULT 0
);
COMMENT ON COLUMN outbox.key IS 'Our key, sent as biz_opaque_callback_data: WhatsApp has no idempotency key, statuses bring this one back.';
CREATE INDEX outbox_ring ON outbox (ring_at) WHERE ring_at IS NOT NULL;
CREATE INDEX outbox_action ON outbox (action_id);
CREATE INDEX outbox_turn ON outbox (turn_id);
CREATE INDEX outbox_wamid ON outbox (wamid);

CREATE TABLE outbox_wamids (
    wamid text PRIMARY KEY,
    key   text NOT NULL REFERENCES outbox
);
COMMENT ON TABLE outbox_wamids IS 'Every copy that WhatsApp accepted: a prompt may have been sent twice.';

CREATE TABLE model_answers (
    turn_id     uuid NOT NULL REFERENCES turns,
    step        int NOT NULL CHECK (step >= 0),
    model       text NOT NULL,
    facts_seq   bigint NOT NULL,
    stop_reason text,
    content     jsonb NOT NULL,
    usage       jsonb NOT NULL,
    request_id  text,
    latency_ms  int NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (turn_id, step)
);
COMMENT ON TABLE model_answers IS 'Stored before it is used: a retried think finds its answer and costs no second call.';

CREATE TABLE history (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations,
    position        bigint,
    slot            text NOT NULL CHECK (length(slot) BETWEEN 1 AND 200),
    kind            text NOT NULL CHECK (kind IN
        ('user_text', 'assistant_blocks', 'tool_results', 'sent_text', 'action_event')),
    turn_id         uuid REFERENCES turns,
    action_id       text REFERENCES actions,
    content         jsonb NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (conversation_id, slot),
    UNIQUE (conversation_id, position)
);
COMMENT ON COLUMN history.position IS 'NULL while a turn is open: what happens in mid-turn waits for its boundary.';
COMMENT ON COLUMN history.slot IS 'What the entry is, once: turn:<id>:<step>:answer, action:<id>:click, ... A repeat finds its own row.';

CREATE TABLE audit_events (
    action_id text NOT NULL REFERENCES actions,
    n         int NOT NULL,
    at        timestamptz NOT NULL,
    event     text NOT NULL CHECK (length(event) BETWEEN 1 AND 60),
    detail    jsonb NOT NULL,
    prev_hash text NOT NULL CHECK (length(prev_hash) = 64),
    hash      text NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (action_id, n)
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION audit_hash(action_id text, n int, at timestamptz, event text, detail jsonb, prev_hash text)
RETURNS text LANGUAGE sql AS $$
    SELECT encode(sha256(convert_to(concat_ws(E'\n', action_id, n::text,
        extract(epoch FROM at)::numeric(20, 6)::text, event, detail::text, prev_hash), 'UTF8')), 'hex')
$$;

-- One statement a link of the chain. The caller holds the action's row, so n cannot be taken twice.
CREATE FUNCTION append_audit(p_action text, p_event text, p_detail jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n int;
    v_prev text;
    v_at timestamptz := clock_timestamp();
BEGIN
    SELECT n, hash INTO v_n, v_prev FROM audit_events WHERE action_id = p_action ORDER BY n DESC LIMIT 1;
    v_n := coalesce(v_n, 0) + 1;
    v_prev := coalesce(v_prev, repeat('0', 64));
    INSERT INTO audit_events (action_id, n, at, event, detail, prev_hash, hash)
    VALUES (p_action, v_n, v_at, p_event, p_detail, v_prev,
            audit_hash(p_action, v_n, v_at, p_event, p_detail, v_prev));
END $$;

CREATE TABLE read_results (
    turn_id uuid NOT NULL REFERENCES turns,
    step    int NOT NULL,
    results jsonb NOT NULL,
    PRIMARY KEY (turn_id, step)
);
COMMENT ON TABLE read_results IS 'What the reads of an answer gave, kept until their message is whole (a read beside a proposal).';
