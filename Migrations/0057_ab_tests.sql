-- A/B tests of pushes: several contents are compared among a part of an audience, the rest gets the best. A column without
-- a value and empty tables: milliseconds.

CREATE TABLE abtest (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: pushes name it
  app_id INTEGER NOT NULL REFERENCES app (id),
  name TEXT NOT NULL,
  body BLOB NOT NULL, -- JSON: contents, audience, and when the winner is chosen
  segment INTEGER REFERENCES segment (id), -- of the audience; NULL for none
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  UNIQUE (app_id, name)
) STRICT;

CREATE INDEX abtest_segment ON abtest (segment) WHERE segment IS NOT NULL;

-- Each push to a test starts a run.
CREATE TABLE abtest_run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  test_id INTEGER NOT NULL REFERENCES abtest (id) ON DELETE CASCADE,
  app_id INTEGER NOT NULL REFERENCES app (id),
  body BLOB NOT NULL, -- JSON: the push object, and the test as it was
  rest BLOB NOT NULL, -- who gets the winner, in the router's encoding; empty once the run is over
  rest_count INTEGER NOT NULL,
  sender_kind INTEGER NOT NULL,
  sender_number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  look INTEGER NOT NULL, -- the number of the next look at the figures
  look_at INTEGER, -- when that is; NULL once the run is over
  state INTEGER NOT NULL DEFAULT 0, -- 0 runs, 1 the winner was sent, 2 nobody was left to get it, 3 no content could win, 4 stopped, 5 failed
  winner INTEGER, -- the place of the content, from 1
  ended_at INTEGER,
  message TEXT -- why it failed
) STRICT;

-- A test has one run at a time.
CREATE UNIQUE INDEX abtest_run_open ON abtest_run (app_id, test_id) WHERE look_at IS NOT NULL;
CREATE INDEX abtest_run_due ON abtest_run (look_at, id) WHERE look_at IS NOT NULL;
CREATE INDEX abtest_run_test ON abtest_run (test_id, id);
CREATE INDEX abtest_run_ended ON abtest_run (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX abtest_run_app ON abtest_run (app_id, test_id, id);

CREATE TABLE abtest_push (
  run_id INTEGER NOT NULL REFERENCES abtest_run (id) ON DELETE CASCADE,
  place INTEGER NOT NULL, -- of the content, from 1; 0 for the winner's
  msg_id INTEGER NOT NULL UNIQUE,
  delivered INTEGER, -- when the winner was chosen; NULL before
  tapped INTEGER,
  PRIMARY KEY (run_id, place)
) STRICT, WITHOUT ROWID;

-- The A/B test that the schedule's push is for; NULL for none.
ALTER TABLE schedule ADD COLUMN abtest INTEGER REFERENCES abtest (id);

CREATE INDEX schedule_abtest ON schedule (abtest) WHERE abtest IS NOT NULL;
