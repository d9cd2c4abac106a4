-- What the model said to be done and the ledger did not know: evidence of the turn, without its words.

ALTER TABLE turns
    ADD COLUMN claims jsonb CHECK (jsonb_typeof(claims) = 'array'),
    ADD COLUMN claims_replaced boolean NOT NULL DEFAULT false,
    ADD CHECK (NOT claims_replaced OR claims IS NOT NULL);
COMMENT ON COLUMN turns.claims IS 'Kind and subject of each claim in the reply that no fact supported. NULL: no reply of the model was stored, or it is of before.';
COMMENT ON COLUMN turns.claims_replaced IS 'The person was told the true state instead of the reply (AVAL_REPLACE_CLAIMS).';
