-- What Getui's API needs beside the push itself. New tables only: takes no time.

-- The master secret that an app calls Getui's API with. It signs, so that it must be known, and is sealed.
CREATE TABLE getui_access (
  app_id INTEGER PRIMARY KEY REFERENCES app (id),
  secret BLOB NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;

-- Tokens that were given back before their end.
CREATE TABLE getui_revoked_token (
  app_id INTEGER NOT NULL,
  token BLOB NOT NULL, -- the part that tells tokens apart; opens nothing
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX getui_revoked_token_end ON getui_revoked_token (expires_at);

-- Tasks that are no push yet: stored messages, which are sent many times, and scheduled pushes.
CREATE TABLE getui_task (
  id INTEGER PRIMARY KEY, -- a message ID
  app_id INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  group_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  stopped_at INTEGER,
  schedule_id INTEGER, -- NULL for a stored message
  body BLOB NOT NULL -- the push object without its audience, JSON
) STRICT;
CREATE UNIQUE INDEX getui_task_request ON getui_task (app_id, request_id);
CREATE INDEX getui_task_end ON getui_task (expires_at);

-- Pushes that belong to a stored message or to a group of tasks.
CREATE TABLE getui_push (
  push_id INTEGER PRIMARY KEY,
  app_id INTEGER NOT NULL,
  task_id INTEGER, -- NULL if it was sent by itself
  group_name TEXT NOT NULL -- empty for none
) STRICT;
CREATE INDEX getui_push_task ON getui_push (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX getui_push_app ON getui_push (app_id, group_name);
