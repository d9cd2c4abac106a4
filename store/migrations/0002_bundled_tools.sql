-- The tables of the bundled tools: customers, agenda, wallet, charges. A deployment with its own
-- tools may leave them empty.

CREATE TABLE customers (
    id         bigint GENERATED ALWAYS AS IDENTITY (START WITH 1001) PRIMARY KEY,
    account_id text NOT NULL REFERENCES accounts,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    document   text CHECK (document ~ '^[0-9A-Z]{11,14}$'),
    email      text CHECK (length(email) <= 254),
    blocked    boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (account_id, id)
);
CREATE INDEX customers_account ON customers (account_id, name);
CREATE UNIQUE INDEX customers_document ON customers (account_id, document) WHERE document IS NOT NULL;

CREATE TABLE customer_links (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id  text NOT NULL,
    customer_id bigint NOT NULL,
    user_id     text CHECK (length(user_id) BETWEEN 1 AND 140),
    wa_id       text CHECK (length(wa_id) BETWEEN 1 AND 140),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id),
    CHECK (user_id IS NOT NULL OR wa_id IS NOT NULL)
);
COMMENT ON TABLE customer_links IS 'Which customer a person is: public people see and change only their own objects.';
CREATE UNIQUE INDEX customer_links_user ON customer_links (account_id, user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX customer_links_phone ON customer_links (account_id, wa_id) WHERE wa_id IS NOT NULL AND user_id IS NULL;

CREATE TABLE professionals (
    id           bigint GENERATED ALWAYS AS IDENTITY (START WITH 11) PRIMARY KEY,
    account_id   text NOT NULL REFERENCES accounts,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    active       boolean NOT NULL DEFAULT true,
    slot_minutes int NOT NULL DEFAULT 60 CHECK (slot_minutes BETWEEN 5 AND 480),
    opens        time NOT NULL DEFAULT '09:00',
    closes       time NOT NULL DEFAULT '18:00',
    weekdays     int[] NOT NULL DEFAULT '{1,2,3,4,5,6}',
    UNIQUE (account_id, id),
    CHECK (opens < closes)
);
COMMENT ON COLUMN professionals.weekdays IS 'ISO: 1 is Monday, 7 is Sunday. Hours are in the account''s zone.';

CREATE TABLE bookings (
    id              bigint GENERATED ALWAYS AS IDENTITY (START WITH 501) PRIMARY KEY,
    account_id      text NOT NULL,
    professional_id bigint NOT NULL,
    customer_id     bigint NOT NULL,
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz NOT NULL,
    span            int8range NOT NULL,
    cancelled_at    timestamptz,
    action_id       text REFERENCES actions,
    created_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (account_id, professional_id) REFERENCES professionals (account_id, id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id),
    CHECK (starts_at < ends_at),
    -- The last line: no overlapping slots of a professional. One built-in range of professional
    -- and seconds, since an exclusion by scalar and range would need a contrib extension.
    CONSTRAINT bookings_no_overlap EXCLUDE USING gist (span WITH &&) WHERE (cancelled_at IS NULL)
);
COMMENT ON COLUMN bookings.action_id IS 'The executed action that holds this booking now: what a cancellation or a move compensates.';
CREATE FUNCTION set_booking_span() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.span := int8range(
        NEW.professional_id * 100000000000 + extract(epoch FROM NEW.starts_at)::bigint,
        NEW.professional_id * 100000000000 + extract(epoch FROM NEW.ends_at)::bigint);
    RETURN NEW;
END $$;
CREATE TRIGGER bookings_span BEFORE INSERT OR UPDATE ON bookings FOR EACH ROW EXECUTE FUNCTION set_booking_span();
CREATE INDEX bookings_customer ON bookings (account_id, customer_id, starts_at) WHERE cancelled_at IS NULL;

CREATE TABLE wallets (
    account_id      text PRIMARY KEY REFERENCES accounts,
    available_cents bigint NOT NULL DEFAULT 0 CHECK (available_cents >= 0)
);
COMMENT ON TABLE wallets IS 'What the account may still transfer, in cents; lowered in the transaction that records a transfer.';

CREATE TABLE recipients (
    id           bigint GENERATED ALWAYS AS IDENTITY (START WITH 301) PRIMARY KEY,
    account_id   text NOT NULL REFERENCES accounts,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    provider_ref text NOT NULL CHECK (length(provider_ref) BETWEEN 1 AND 100),
    blocked      boolean NOT NULL DEFAULT false,
    UNIQUE (account_id, id)
);

CREATE TABLE charges (
    id             bigint GENERATED ALWAYS AS IDENTITY (START WITH 701) PRIMARY KEY,
    account_id     text NOT NULL,
    customer_id    bigint NOT NULL,
    action_id      text NOT NULL UNIQUE REFERENCES actions,
    provider_ref   text NOT NULL CHECK (length(provider_ref) <= 500),
    amount_cents   bigint NOT NULL CHECK (amount_cents > 0),
    refunded_cents bigint NOT NULL DEFAULT 0 CHECK (refunded_cents BETWEEN 0 AND amount_cents),
    due_date       date NOT NULL,
    pix_code       text NOT NULL CHECK (length(pix_code) <= 4096),
    created_at     timestamptz NOT NULL DEFAULT now(),
    paid_at        timestamptz,
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id)
);
CREATE INDEX charges_account ON charges (account_id, created_at);
