-- What operators settle by. A resend is a right to one numbered send that ends by itself; a freeze
-- says that this database came back from a backup and may have forgotten what was sent.

ALTER TABLE decisions ADD COLUMN valid_until timestamptz;
ALTER TABLE decisions ADD CHECK ((verdict = 'resend') = (valid_until IS NOT NULL));
ALTER TABLE decisions ADD CHECK ((verdict = 'resend') = (as_send IS NOT NULL));
COMMENT ON COLUMN decisions.valid_until IS 'Until when a resend may pass the fence.';
CREATE UNIQUE INDEX decisions_resend ON decisions (action_id, as_send)
    WHERE verdict = 'resend' AND (answered_at IS NULL OR followed);

ALTER TABLE actions ADD COLUMN frozen_at timestamptz;
COMMENT ON COLUMN actions.frozen_at IS 'Set by `aval restored`: no machine sends or closes it any more; look-ups and operators settle it.';
