-- Frozen is frozen: also how the action is decided, where its effect happens, for which role it was
-- proposed, and the keys that keep it from happening twice. The digest does not bind these, so that
-- here is the only place that holds them.

CREATE OR REPLACE FUNCTION check_action_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status <> OLD.status AND NOT EXISTS (
        SELECT 1 FROM action_transitions t WHERE t.before = OLD.status AND t.after = NEW.status) THEN
        RAISE EXCEPTION 'action %: % may not become %', OLD.id, OLD.status, NEW.status;
    END IF;
    IF (NEW.id, NEW.conversation_id, NEW.account_id, NEW.turn_id, NEW.tool, NEW.tool_version, NEW.risk,
        NEW.confirm, NEW.effect, NEW.payload, NEW.payload_hash, NEW.summary, NEW.request, NEW.digest,
        NEW.business_key, NEW.compensates, NEW.phone_number_id, NEW.user_id, NEW.wa_id, NEW.role,
        NEW.expires_at, NEW.created_at)
       IS DISTINCT FROM
       (OLD.id, OLD.conversation_id, OLD.account_id, OLD.turn_id, OLD.tool, OLD.tool_version, OLD.risk,
        OLD.confirm, OLD.effect, OLD.payload, OLD.payload_hash, OLD.summary, OLD.request, OLD.digest,
        OLD.business_key, OLD.compensates, OLD.phone_number_id, OLD.user_id, OLD.wa_id, OLD.role,
        OLD.expires_at, OLD.created_at) THEN
        RAISE EXCEPTION 'action %: a frozen column may not change', OLD.id;
    END IF;
    RETURN NEW;
END $$;
