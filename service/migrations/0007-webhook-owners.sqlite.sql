-- A webhook gets the events for administrators while the key that created it is one's. The version before reads
-- confidential_key_id, so the column stays until no such version can run; nothing reads or writes it any more.

-- The last event of a replay; it is under way until the position gets there.
ALTER TABLE webhooks ADD COLUMN replay_until INTEGER;

CREATE INDEX webhooks_by_key ON webhooks (api_key_id, id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_expiring_secrets ON webhooks (previous_secret_expires_at) WHERE previous_secret_expires_at IS NOT NULL;

-- Deliveries that do not wait for an earlier one and were never tried: how far ahead a webhook is planned.
CREATE INDEX webhook_deliveries_untried ON webhook_deliveries (webhook_id, next_attempt_at)
  WHERE status = 'pending' AND attempts = 0 AND next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, leased_until) WHERE leased_until IS NOT NULL;
