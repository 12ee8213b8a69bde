-- Apps that are not deleted, with what their account and their plan say about them. The order of the columns is AppRow's.
CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  max(app.disabled, account.disabled) AS disabled, app.account_id, app.old_secret_hash, app.android_package,
  app.allowed_networks, plan.name AS plan, plan.push_calls, plan.device_calls, plan.report_calls, plan.schedule_calls,
  plan.file_calls, plan.broadcasts, plan.max_time_to_live, plan.speed, plan.shares_speed
FROM app
JOIN account ON account.id = app.account_id
JOIN plan ON plan.name = app.plan
WHERE app.deleted_at IS NULL;

-- An account's apps, deleted ones too.
CREATE INDEX app_account ON app (account_id);
