-- What apps authenticate with at the services of channels other than APNs, which has a table of its own: one for each app and
-- channel. What is secret stands in `sealed` only; Docs/decisions/0012 says how.
CREATE TABLE channel_credential (
  app_id INTEGER NOT NULL REFERENCES app (id),
  channel INTEGER NOT NULL,
  id TEXT NOT NULL, -- random: names it in addresses, and tells it from the one that it replaced
  subject TEXT NOT NULL, -- what it is for, as the service calls it: the project, the app ID
  name TEXT NOT NULL, -- which of the subject's it is: a key's ID
  created_at INTEGER NOT NULL,
  reason TEXT, -- why it is paused
  changed_at INTEGER NOT NULL, -- when it was paused or resumed
  sealed BLOB NOT NULL,
  PRIMARY KEY (app_id, channel)
) STRICT;
