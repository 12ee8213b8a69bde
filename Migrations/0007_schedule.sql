-- Schedules: pushes to be made later, once or again and again. Only new tables: milliseconds, whatever the database holds.

-- One schedule of an app. Times named "local" are what the clocks of the server's zone show, as seconds since 1970-01-01
-- 00:00:00 on clocks that are never changed; those named "at" are the moments that they stand for.
CREATE TABLE schedule (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of creation
  app_id INTEGER NOT NULL REFERENCES app (id),
  uuid TEXT NOT NULL UNIQUE,
  cid TEXT, -- the customer's name for the request that made it
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  trigger_json BLOB NOT NULL,
  push_json BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  next_local INTEGER, -- the next occurrence; NULL once all are over
  next_at INTEGER,
  last_local INTEGER NOT NULL, -- the last of all occurrences
  last_at INTEGER NOT NULL
) STRICT;

CREATE INDEX schedule_app ON schedule (app_id, id);
CREATE UNIQUE INDEX schedule_cid ON schedule (app_id, cid) WHERE cid IS NOT NULL;
CREATE INDEX schedule_due ON schedule (next_at) WHERE enabled = 1 AND next_at IS NOT NULL;
CREATE INDEX schedule_over ON schedule (last_at);

-- What became of an occurrence: written in the transaction that stores its push and moves the schedule on.
CREATE TABLE schedule_run (
  msg_id INTEGER PRIMARY KEY, -- of the push; of no push if there is an error
  schedule_id INTEGER NOT NULL REFERENCES schedule (id) ON DELETE CASCADE,
  occurrence INTEGER NOT NULL, -- local
  at INTEGER NOT NULL,
  code INTEGER NOT NULL DEFAULT 0, -- of the error, 0 for none
  message TEXT NOT NULL DEFAULT '',
  need_retry INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX schedule_run_schedule ON schedule_run (schedule_id, msg_id);
