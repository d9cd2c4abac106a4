-- A typed yes counts only if nothing was sent or received since the prompt: two questions asked of a
-- whole conversation. And the one reminder per action to use the buttons is a purpose of its own: like
-- a prompt it goes out only while its action is pending, and like a notice it is not repeated.

CREATE INDEX inbox_conversation ON inbox (conversation_id, received_at);
CREATE INDEX outbox_conversation ON outbox (conversation_id, fenced_at);

ALTER TABLE outbox DROP CONSTRAINT outbox_purpose_check,
    ADD CONSTRAINT outbox_purpose_check
        CHECK (purpose IN ('prompt', 'receipt', 'reply', 'notice', 'reminder'));
