-- Migration 63 of SQLite: pushes that go to a share of their audience first, and to the rest only if few of these fail.

CREATE TABLE IF NOT EXISTS canary (
  msg_id bigint PRIMARY KEY, -- the push to the share
  app_id bigint NOT NULL REFERENCES app (id),
  body bytea NOT NULL, -- JSON: the push object for the rest; empty once it is over
  rest bytea NOT NULL, -- the others of the audience, in the router's encoding; empty once they get the push
  rest_count bigint NOT NULL,
  sender_kind bigint NOT NULL,
  sender_number bigint NOT NULL,
  share bigint NOT NULL, -- percent
  wait bigint NOT NULL, -- seconds
  max_failures bigint NOT NULL, -- percent
  started_at bigint NOT NULL,
  look bigint NOT NULL, -- how often the figures were looked at, from 1
  look_at bigint, -- when that is next; NULL once it is over
  state bigint NOT NULL DEFAULT 0, -- 0 waits; all others are ends: CanaryRow.State
  ended_at bigint,
  rest_msg_id bigint UNIQUE, -- the push to the others; NULL for none
  succeeded bigint, -- devices when it was decided; NULL before
  failed bigint,
  code bigint, -- the API's error why the rest could not be sent
  message text COLLATE "C" -- what that says
);

CREATE INDEX IF NOT EXISTS canary_due ON canary (look_at, msg_id) WHERE look_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS canary_ended ON canary (ended_at, msg_id) WHERE ended_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS canary_app ON canary (app_id, msg_id);
-- Those that stopped without being asked to.
CREATE INDEX IF NOT EXISTS canary_stopped ON canary (ended_at, app_id) WHERE state IN (4, 5, 8);
CREATE INDEX IF NOT EXISTS canary_stopped_of_app ON canary (app_id, ended_at, msg_id) WHERE state IN (4, 5, 8);
