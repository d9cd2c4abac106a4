-- A human may take a conversation over; one business number may serve the members of several
-- accounts; and a change of identity may be about more than one conversation.

CREATE TABLE pauses (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations,
    cause           text NOT NULL CHECK (cause IN ('operator', 'person', 'echo')),
    operator        text CHECK (length(operator) BETWEEN 1 AND 120),
    action_id       text REFERENCES actions,
    since           timestamptz NOT NULL,
    until           timestamptz NOT NULL,
    ended_at        timestamptz,
    ended_by        text CHECK (length(ended_by) BETWEEN 1 AND 120),
    CHECK (since < until),
    CHECK ((cause = 'operator') = (operator IS NOT NULL)),
    CHECK ((cause = 'person') = (action_id IS NOT NULL)),
    CHECK (ended_by IS NULL OR ended_at IS NOT NULL)
);
COMMENT ON TABLE pauses IS 'While one lasts the agent reads and answers nothing in the conversation; what is pending stays decidable.';
COMMENT ON COLUMN pauses.cause IS 'operator: by the command line. person: asked for a human, by this action. echo: a human answered from another device.';
COMMENT ON COLUMN pauses.ended_at IS 'Set by whoever ended it, or when the next one begins; without it a pause is over at "until".';
CREATE UNIQUE INDEX pauses_one_open ON pauses (conversation_id) WHERE ended_at IS NULL;
CREATE INDEX pauses_conversation ON pauses (conversation_id, since);
CREATE INDEX pauses_action ON pauses (action_id) WHERE action_id IS NOT NULL;

CREATE INDEX inbox_echo ON inbox (conversation_id) WHERE kind = 'echo' AND turn_id IS NULL;

ALTER TABLE alerts DROP CONSTRAINT alerts_kind_check,
    ADD CONSTRAINT alerts_kind_check
        CHECK (kind IN ('unknown', 'contradiction', 'mirror_failed', 'human_wanted'));

CREATE TABLE shared_numbers (
    phone_number_id text NOT NULL REFERENCES business_numbers,
    account_id      text NOT NULL REFERENCES accounts,
    PRIMARY KEY (phone_number_id, account_id)
);
COMMENT ON TABLE shared_numbers IS 'Further accounts whose members may work through a number. Everybody else who writes to it is with the account of business_numbers.';

ALTER TABLE conversations
    ADD COLUMN chosen_account text REFERENCES accounts,
    ADD COLUMN asked_accounts text[],
    ADD COLUMN asked_at timestamptz,
    ADD CHECK ((asked_accounts IS NULL) = (asked_at IS NULL));
COMMENT ON COLUMN conversations.chosen_account IS 'For which of his accounts a member of several works here.';
COMMENT ON COLUMN conversations.asked_accounts IS 'The open question for which, with its answers in the order shown.';

ALTER TABLE turns ADD COLUMN account_id text REFERENCES accounts;
COMMENT ON COLUMN turns.account_id IS 'The account that the turn works for. NULL in turns of before: the conversation''s.';

CREATE TABLE identity_changes (
    inbox_id        uuid NOT NULL REFERENCES inbox,
    conversation_id uuid NOT NULL REFERENCES conversations,
    received_at     timestamptz NOT NULL,
    PRIMARY KEY (inbox_id, conversation_id)
);
COMMENT ON TABLE identity_changes IS 'Whom a change of identity is about: every conversation that may be meant.';
CREATE INDEX identity_changes_conversation ON identity_changes (conversation_id, received_at);
INSERT INTO identity_changes (inbox_id, conversation_id, received_at)
    SELECT id, conversation_id, received_at FROM inbox
    WHERE kind = 'identity_changed' AND conversation_id IS NOT NULL;
DROP INDEX inbox_identity;

CREATE INDEX members_phone_only ON members (wa_id) WHERE active AND user_id IS NULL;
CREATE INDEX customer_links_phone_only ON customer_links (wa_id) WHERE user_id IS NULL;
