-- Migration 62 of SQLite: quiet hours of apps.

-- Minutes of the day from which and until which devices get no notifications, by their own clocks: the same for none.
ALTER TABLE app ADD COLUMN IF NOT EXISTS quiet_from bigint NOT NULL DEFAULT 0;
ALTER TABLE app ADD COLUMN IF NOT EXISTS quiet_until bigint NOT NULL DEFAULT 0;
ALTER TABLE app ADD COLUMN IF NOT EXISTS quiet_drops bigint NOT NULL DEFAULT 0; -- 0: they get them later

DROP VIEW IF EXISTS live_app;

CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  CASE WHEN app.disabled <> 0 OR account.disabled <> 0 THEN 1 ELSE 0 END AS disabled, app.account_id, app.old_secret_hash, app.android_package,
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
ALTER TABLE push ADD COLUMN IF NOT EXISTS quiet bytea;

-- Targets of a push that wait for the end of their quiet hours: one row for all whose hours end at the same moment.
CREATE TABLE IF NOT EXISTS held_push (
  msg_id bigint NOT NULL,
  until bigint NOT NULL,
  app_id bigint NOT NULL,
  targets bytea NOT NULL,
  PRIMARY KEY (msg_id, until)
);

CREATE INDEX IF NOT EXISTS held_push_app ON held_push (app_id, until, msg_id);
