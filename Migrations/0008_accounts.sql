-- Accounts own apps; plans say how much an app may ask for. New tables, small ones, and new columns: milliseconds.

-- What apps may do. NULL stands for the server's own setting, or for no limit where it has none.
CREATE TABLE plan (
  name TEXT PRIMARY KEY,
  push_calls INTEGER, -- calls in a minute, for each app and API
  device_calls INTEGER,
  report_calls INTEGER,
  schedule_calls INTEGER,
  file_calls INTEGER,
  broadcasts INTEGER, -- pushes to everybody in a day, for each app
  max_time_to_live INTEGER, -- seconds
  speed INTEGER, -- devices that pushes are accepted for in a second
  shares_speed INTEGER NOT NULL DEFAULT 0 -- 1: all apps of the plan together; 0: each app for itself
) STRICT, WITHOUT ROWID;

INSERT INTO plan (name) VALUES ('unlimited');
-- JPush's figures for apps that pay nothing.
INSERT INTO plan VALUES ('free', 600, 600, 2400, 100, 20, 10, 259200, 200000, 1);
INSERT INTO plan VALUES ('paid', 6000, 6000, 6000, 1000, 200, NULL, 864000, 200000, 0);

CREATE TABLE account (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  dev_key TEXT NOT NULL UNIQUE CHECK (length(dev_key) = 24),
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  plan TEXT NOT NULL DEFAULT 'unlimited' REFERENCES plan (name), -- of its new apps
  created_at INTEGER NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0 -- its apps are off as well
) STRICT;

-- The account of whoever runs the server. Nobody knows its secret before it is given one.
INSERT INTO account (id, name, dev_key, secret_hash, created_at)
VALUES (1, 'default', lower(hex(randomblob(12))), randomblob(32), unixepoch() * 1000);

ALTER TABLE app ADD COLUMN account_id INTEGER NOT NULL DEFAULT 1 REFERENCES account (id);
ALTER TABLE app ADD COLUMN plan TEXT NOT NULL DEFAULT 'unlimited' REFERENCES plan (name);
ALTER TABLE app ADD COLUMN old_secret_hash BLOB; -- still accepted beside the new one
ALTER TABLE app ADD COLUMN android_package TEXT;
ALTER TABLE app ADD COLUMN group_name TEXT; -- as the admin API was told
ALTER TABLE app ADD COLUMN allowed_networks TEXT; -- with spaces between; NULL: its calls may come from everywhere
-- A deleted app's row stays, so that neither its number nor its key are used again.
ALTER TABLE app ADD COLUMN deleted_at INTEGER;
ALTER TABLE app ADD COLUMN purged_at INTEGER; -- when the last of its data was gone

CREATE UNIQUE INDEX app_package ON app (account_id, android_package)
WHERE android_package IS NOT NULL AND deleted_at IS NULL;

-- Pushes to everybody on an app's latest day with one.
CREATE TABLE broadcast_count (
  app_id INTEGER PRIMARY KEY,
  day INTEGER NOT NULL, -- since 1970-01-01, in the server's time zone
  count INTEGER NOT NULL
) STRICT;
