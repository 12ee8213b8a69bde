-- Migration 59 of SQLite: how many notifications a device gets in a day.

-- Notifications that an app sends to a device in a day at most, by class; 0 for any number.
ALTER TABLE app ADD COLUMN IF NOT EXISTS cap_normal bigint NOT NULL DEFAULT 0;
ALTER TABLE app ADD COLUMN IF NOT EXISTS cap_marketing bigint NOT NULL DEFAULT 0;

DROP VIEW IF EXISTS live_app;

CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  CASE WHEN app.disabled <> 0 OR account.disabled <> 0 THEN 1 ELSE 0 END AS disabled, app.account_id, app.old_secret_hash, app.android_package,
  app.allowed_networks, app.imports_from, app.facts, app.erased_facts_from, app.approval_above, app.approval_of_servers,
  app.undo_seconds, app.cap_normal, app.cap_marketing, plan.name AS plan, plan.push_calls, plan.device_calls,
  plan.report_calls, plan.schedule_calls, plan.file_calls, plan.broadcasts, plan.max_time_to_live, plan.speed,
  plan.shares_speed, plan.registrations
FROM app
JOIN account ON account.id = app.account_id
JOIN plan ON plan.name = app.plan
WHERE app.deleted_at IS NULL;

-- Members of the audience that had as many notifications on that day as they may, in the router's encoding; NULL for none.
ALTER TABLE push ADD COLUMN IF NOT EXISTS capped bytea;
