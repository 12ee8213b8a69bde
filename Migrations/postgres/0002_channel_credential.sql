-- Migration 34 of SQLite: what apps authenticate with at the services of channels other than APNs.
CREATE TABLE channel_credential (
  app_id bigint NOT NULL REFERENCES app (id),
  channel bigint NOT NULL,
  id text COLLATE "C" NOT NULL, -- random: names it in addresses, and tells it from the one that it replaced
  subject text COLLATE "C" NOT NULL, -- what it is for, as the service calls it: the project, the app ID
  name text COLLATE "C" NOT NULL, -- which of the subject's it is: a key's ID
  created_at bigint NOT NULL,
  reason text COLLATE "C", -- why it is paused
  changed_at bigint NOT NULL, -- when it was paused or resumed
  sealed bytea NOT NULL,
  PRIMARY KEY (app_id, channel)
);
