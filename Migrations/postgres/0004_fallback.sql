-- Migration 36 of SQLite: pushes that go to a vendor's channel if devices do not acknowledge them in time.

-- For whom a channel takes over: one row for a push and channel, whatever the number of devices.
CREATE TABLE fallback (
  msg_id bigint NOT NULL,
  channel bigint NOT NULL,
  app_id bigint NOT NULL,
  seconds bigint NOT NULL, -- what the sender asked for
  due_at bigint NOT NULL, -- when the channel takes over, or did
  is_done bigint NOT NULL DEFAULT 0,
  targets bytea NOT NULL, -- who is waited for; once it is done, whom the channel took over
  PRIMARY KEY (msg_id, channel)
);

CREATE INDEX fallback_due ON fallback (due_at) WHERE is_done = 0;
