-- Brakes on large pushes: approval by a second person, and a time to undo. Columns with constant defaults, and indexes of
-- a few rows: milliseconds.

-- Pushes to more devices than this wait for approval; 0 for none.
ALTER TABLE app ADD COLUMN approval_above INTEGER NOT NULL DEFAULT 0;
-- Whether this holds for the app's servers too, which are refused.
ALTER TABLE app ADD COLUMN approval_of_servers INTEGER NOT NULL DEFAULT 0;
-- Seconds for which a push that a person sends can be undone.
ALTER TABLE app ADD COLUMN undo_seconds INTEGER NOT NULL DEFAULT 0;
-- A looser brake that somebody has asked for and nobody else has approved; all NULL for none.
ALTER TABLE app ADD COLUMN asked_above INTEGER;
ALTER TABLE app ADD COLUMN asked_of_servers INTEGER;
ALTER TABLE app ADD COLUMN asked_by INTEGER;
ALTER TABLE app ADD COLUMN asked_at INTEGER;

DROP VIEW live_app;

-- Apps that are not deleted, with what their account and their plan say about them.
CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  max(app.disabled, account.disabled) AS disabled, app.account_id, app.old_secret_hash, app.android_package,
  app.allowed_networks, app.imports_from, app.facts, app.erased_facts_from, app.approval_above, app.approval_of_servers,
  app.undo_seconds, plan.name AS plan, plan.push_calls, plan.device_calls, plan.report_calls, plan.schedule_calls,
  plan.file_calls, plan.broadcasts, plan.max_time_to_live, plan.speed, plan.shares_speed, plan.registrations
FROM app
JOIN account ON account.id = app.account_id
JOIN plan ON plan.name = app.plan
WHERE app.deleted_at IS NULL;

-- The person who made it, or who changed last what it pushes or when; NULL for the app's server.
ALTER TABLE schedule ADD COLUMN author INTEGER;
-- 0 nobody was asked, 1 it waits for approval, 2 approved, 3 stopped by a person, 4 waited too long.
ALTER TABLE schedule ADD COLUMN approval INTEGER NOT NULL DEFAULT 0;
-- Who approved or stopped it, and when.
ALTER TABLE schedule ADD COLUMN decided_by INTEGER;
ALTER TABLE schedule ADD COLUMN decided_at INTEGER;
-- Whether it is a push that a person sent, which goes once: after the time to undo it, or when it is approved.
ALTER TABLE schedule ADD COLUMN is_send INTEGER NOT NULL DEFAULT 0;

CREATE INDEX schedule_waiting ON schedule (next_at, id) WHERE approval = 1;
CREATE INDEX schedule_waiting_app ON schedule (app_id, next_at, id) WHERE approval = 1;
CREATE INDEX schedule_send ON schedule (app_id) WHERE is_send = 1 AND next_local IS NOT NULL;
