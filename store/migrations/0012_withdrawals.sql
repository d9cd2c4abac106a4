-- A provider that knows no key asks before money leaves whether an operation is ours. What was
-- answered is bound to the operation, and an action lets one operation through.

CREATE TABLE withdrawals (
    account_id   text NOT NULL REFERENCES accounts,
    operation_id text NOT NULL CHECK (length(operation_id) BETWEEN 1 AND 100),
    action_id    text REFERENCES actions,
    fingerprint  text NOT NULL CHECK (length(fingerprint) = 64),
    approved     boolean NOT NULL,
    reason       text CHECK (length(reason) BETWEEN 1 AND 200),
    decided_at   timestamptz NOT NULL,
    asked        int NOT NULL DEFAULT 1 CHECK (asked >= 1),
    asked_at     timestamptz NOT NULL,
    PRIMARY KEY (account_id, operation_id),
    CHECK (approved = (reason IS NULL)),
    CHECK (NOT approved OR action_id IS NOT NULL)
);
COMMENT ON TABLE withdrawals IS 'What a provider was told when it asked whether an operation is ours; a redelivery is told the same.';
COMMENT ON COLUMN withdrawals.fingerprint IS 'SHA-256 of what the operation said it was: the same id with another content is another operation.';
COMMENT ON COLUMN withdrawals.action_id IS 'NULL where none of the account bears the operation''s key.';
CREATE UNIQUE INDEX withdrawals_one_operation ON withdrawals (action_id) WHERE approved;

-- A decision is never turned round; only how often it was asked for moves.
CREATE FUNCTION check_withdrawal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.account_id, NEW.operation_id, NEW.action_id, NEW.fingerprint, NEW.approved, NEW.reason, NEW.decided_at)
       IS DISTINCT FROM
       (OLD.account_id, OLD.operation_id, OLD.action_id, OLD.fingerprint, OLD.approved, OLD.reason, OLD.decided_at) THEN
        RAISE EXCEPTION 'withdrawal %: a decision may not change', OLD.operation_id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER withdrawals_change BEFORE UPDATE ON withdrawals
    FOR EACH ROW EXECUTE FUNCTION check_withdrawal_change();
