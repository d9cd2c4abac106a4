-- What was heard in a voice message, once a message: a retry finds it and costs no second call. No text:
-- it cannot be heard, and the reason says why.

CREATE TABLE transcripts (
    inbox_id uuid PRIMARY KEY REFERENCES inbox,
    text     text CHECK (length(text) BETWEEN 1 AND 20000),
    reason   text CHECK (length(reason) <= 200),
    at       timestamptz NOT NULL,
    CHECK ((text IS NULL) <> (reason IS NULL))
);
