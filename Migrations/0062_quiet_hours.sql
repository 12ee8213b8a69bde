-- Quiet hours of apps. Columns with constant defaults, or without a value, and an empty table: milliseconds.

-- Minutes of the day from which and until which devices get no notifications, by their own clocks: the same for none.
ALTER TABLE app ADD COLUMN quiet_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE app ADD COLUMN quiet_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE app ADD COLUMN quiet_drops INTEGER NOT NULL DEFAULT 0; -- 0: they get them later

DROP VIEW live_app;

-- Apps that are not deleted, with what their account and their plan say about them.
CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  max(app.disabled, account.disabled) AS disabled, app.account_id, app.old_secret_hash, app.android_package,
  app.allowed_networks, app.imports_from, app.facts, app.erased_facts_from, app.approval_above, app.approval_of_servers,
  app.undo_seconds, app.cap_normal, app.cap_marketing, app.quiet_from, app.quiet_until, app.quiet_drops,
  plan.name AS plan, plan.push_calls, plan.device_calls,
  plan.report_calls, plan.schedule_calls, plan.file_calls, plan.broadcasts, plan.max_time_to_live, plan.speed,
  plan.shares_speed, plan.registrations
FROM app
JOIN account ON account.id = app.account_id
JOIN plan ON plan.name = app.plan
WHERE app.deleted_at IS NULL;

-- Members of the audience that were in their quiet hours and do not get it, in the router's encoding; NULL for none.
ALTER TABLE push ADD COLUMN quiet BLOB;

-- Targets of a push that wait for the end of their quiet hours: one row for all whose hours end at the same moment. Deleted
-- when they have ended. Docs/decisions/0112 says more.
CREATE TABLE held_push (
  msg_id INTEGER NOT NULL,
  until INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  targets BLOB NOT NULL,
  PRIMARY KEY (msg_id, until)
) STRICT, WITHOUT ROWID;

-- Apps are looked through one by one, so that none waits for another.
CREATE INDEX held_push_app ON held_push (app_id, until, msg_id);
