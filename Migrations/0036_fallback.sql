-- Pushes that go to a vendor's channel if devices do not acknowledge them in time. Docs/decisions/0060 says how. An empty table:
-- takes no time.

-- For whom a channel takes over: one row for a push and channel, whatever the number of devices.
CREATE TABLE fallback (
  msg_id INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  seconds INTEGER NOT NULL, -- what the sender asked for
  due_at INTEGER NOT NULL, -- when the channel takes over, or did
  is_done INTEGER NOT NULL DEFAULT 0,
  targets BLOB NOT NULL, -- who is waited for; once it is done, whom the channel took over
  PRIMARY KEY (msg_id, channel)
) STRICT, WITHOUT ROWID;

CREATE INDEX fallback_due ON fallback (due_at) WHERE is_done = 0;
