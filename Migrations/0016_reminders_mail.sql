-- Reminders of certificates that end, mail that waits, links for new passwords. New tables, and a column in a small one:
-- milliseconds, whatever the database holds.

-- The reminders that were given: of each credential at most one for a number of days before its end.
CREATE TABLE credential_notice (
  credential_id INTEGER NOT NULL,
  days INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (credential_id, days)
) STRICT, WITHOUT ROWID;

-- Mail to be sent. Mail with a secret link never comes here.
CREATE TABLE mail (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: it is part of the message's ID
  credential_id INTEGER, -- what it reminds of: not sent any more once that is replaced or gone
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)), -- 0 waits, 1 sent, 2 given up
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  error TEXT, -- why the latest attempt failed
  done_at INTEGER -- when it left state 0
) STRICT;

CREATE INDEX mail_due ON mail (next_at) WHERE state = 0;

-- Whoever has the link may choose a new password for the person, once.
CREATE TABLE password_reset (
  token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
  person_id INTEGER NOT NULL REFERENCES person (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whoever is told everything is told of certificates that end as well.
UPDATE callback_setting SET types = types | 32 WHERE types & 31 = 31;

-- Whose a group is. NULL: the operator's, who may group apps of any account.
ALTER TABLE app_group ADD COLUMN account_id INTEGER REFERENCES account (id);
