-- Pushes that go to a share of their audience first, and to the rest only if few of these fail. An empty table:
-- milliseconds.

CREATE TABLE canary (
  msg_id INTEGER PRIMARY KEY, -- the push to the share
  app_id INTEGER NOT NULL REFERENCES app (id),
  body BLOB NOT NULL, -- JSON: the push object for the rest; empty once it is over
  rest BLOB NOT NULL, -- the others of the audience, in the router's encoding; empty once they get the push
  rest_count INTEGER NOT NULL,
  sender_kind INTEGER NOT NULL,
  sender_number INTEGER NOT NULL,
  share INTEGER NOT NULL, -- percent
  wait INTEGER NOT NULL, -- seconds
  max_failures INTEGER NOT NULL, -- percent
  started_at INTEGER NOT NULL,
  look INTEGER NOT NULL, -- how often the figures were looked at, from 1
  look_at INTEGER, -- when that is next; NULL once it is over
  state INTEGER NOT NULL DEFAULT 0, -- 0 waits; all others are ends: CanaryRow.State
  ended_at INTEGER,
  rest_msg_id INTEGER UNIQUE, -- the push to the others; NULL for none
  succeeded INTEGER, -- devices when it was decided; NULL before
  failed INTEGER,
  code INTEGER, -- the API's error why the rest could not be sent
  message TEXT -- what that says
) STRICT;

CREATE INDEX canary_due ON canary (look_at, msg_id) WHERE look_at IS NOT NULL;
CREATE INDEX canary_ended ON canary (ended_at, msg_id) WHERE ended_at IS NOT NULL;
CREATE INDEX canary_app ON canary (app_id, msg_id);
-- Those that stopped without being asked to.
CREATE INDEX canary_stopped ON canary (ended_at, app_id) WHERE state IN (4, 5, 8);
CREATE INDEX canary_stopped_of_app ON canary (app_id, ended_at, msg_id) WHERE state IN (4, 5, 8);
