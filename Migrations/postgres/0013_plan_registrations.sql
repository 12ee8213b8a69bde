-- Migration 45 of SQLite: how many registrations an app of a plan may have.

ALTER TABLE plan ADD COLUMN registrations bigint;

DROP VIEW live_app;

CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  CASE WHEN app.disabled <> 0 OR account.disabled <> 0 THEN 1 ELSE 0 END AS disabled, app.account_id, app.old_secret_hash, app.android_package,
  app.allowed_networks, app.imports_from, plan.name AS plan, plan.push_calls, plan.device_calls, plan.report_calls, plan.schedule_calls,
  plan.file_calls, plan.broadcasts, plan.max_time_to_live, plan.speed, plan.shares_speed, plan.registrations
FROM app
JOIN account ON account.id = app.account_id
JOIN plan ON plan.name = app.plan
WHERE app.deleted_at IS NULL;
