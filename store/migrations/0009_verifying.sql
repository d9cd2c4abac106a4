-- "Estamos verificando" is true as long as its action executes, so it may be repeated like a prompt;
-- as a notice a copy in doubt was never repeated, and a person who had confirmed could hear nothing
-- while his action was stuck.

ALTER TABLE outbox DROP CONSTRAINT outbox_purpose_check,
    ADD CONSTRAINT outbox_purpose_check
        CHECK (purpose IN ('prompt', 'receipt', 'reply', 'notice', 'reminder', 'verifying'));
