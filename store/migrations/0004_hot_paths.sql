-- Two questions that are asked on every click and on every reply would read their whole table: is a
-- change of identity stored, and what of a conversation is not sent yet.

CREATE INDEX inbox_identity ON inbox (conversation_id, received_at) WHERE kind = 'identity_changed';
CREATE INDEX outbox_unsent ON outbox (conversation_id) WHERE done_at IS NULL;
