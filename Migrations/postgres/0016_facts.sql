-- Migration 48 of SQLite: facts of devices that apps ask for.

-- The facts that the app asks for, a bit for each.
ALTER TABLE app ADD COLUMN facts bigint NOT NULL DEFAULT 0;
-- The number of the next value.
ALTER TABLE app ADD COLUMN next_fact bigint NOT NULL DEFAULT 0;
-- The first registration that may have numbers of deleted values left; NULL when none has.
ALTER TABLE app ADD COLUMN erased_facts_from bigint;

-- Numbers of the values of its facts, of four bytes each, ascending.
ALTER TABLE registration ADD COLUMN facts bytea;

-- The values that registrations of an app have.
CREATE TABLE fact_value (
  app_id bigint NOT NULL REFERENCES app (id),
  number bigint NOT NULL,
  fact bigint NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (app_id, number),
  UNIQUE (app_id, fact, value)
);

DROP VIEW live_app;

CREATE VIEW live_app AS
SELECT app.id, app.app_key, app.name, app.secret_hash, app.created_at, app.next_number,
  CASE WHEN app.disabled <> 0 OR account.disabled <> 0 THEN 1 ELSE 0 END AS disabled, app.account_id, app.old_secret_hash, app.android_package,
  app.allowed_networks, app.imports_from, app.facts, app.erased_facts_from, plan.name AS plan, plan.push_calls,
  plan.device_calls, plan.report_calls, plan.schedule_calls, plan.file_calls, plan.broadcasts, plan.max_time_to_live,
  plan.speed, plan.shares_speed, plan.registrations
FROM app
JOIN account ON account.id = app.account_id
JOIN plan ON plan.name = app.plan
WHERE app.deleted_at IS NULL;
