-- Facts of devices that apps ask for. Columns and an empty table: milliseconds.

-- The facts that the app asks for, a bit for each.
ALTER TABLE app ADD COLUMN facts INTEGER NOT NULL DEFAULT 0;
-- The number of the next value.
ALTER TABLE app ADD COLUMN next_fact INTEGER NOT NULL DEFAULT 0;
-- The first registration that may have numbers of deleted values left; NULL when none has.
ALTER TABLE app ADD COLUMN erased_facts_from INTEGER;

-- Numbers of the values of its facts, of four bytes each, ascending.
ALTER TABLE registration ADD COLUMN facts BLOB;

-- The values that registrations of an app have.
CREATE TABLE fact_value (
  app_id INTEGER NOT NULL REFERENCES app (id),
  number INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (app_id, number),
  UNIQUE (app_id, fact, value)
) STRICT, WITHOUT ROWID;

DROP VIEW live_app;

-- Apps that are not deleted, with what their account and their plan say about them.
CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  max(app.disabled, account.disabled) AS disabled, app.account_id, app.old_secret_hash, app.android_package,
  app.allowed_networks, app.imports_from, app.facts, app.erased_facts_from, plan.name AS plan, plan.push_calls,
  plan.device_calls, plan.report_calls, plan.schedule_calls, plan.file_calls, plan.broadcasts, plan.max_time_to_live,
  plan.speed, plan.shares_speed, plan.registrations
FROM app
JOIN account ON account.id = app.account_id
JOIN plan ON plan.name = app.plan
WHERE app.deleted_at IS NULL;
