-- People who use the console. Small tables, none of them on the way of a push: milliseconds, whatever the database holds.

CREATE TABLE person (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name TEXT NOT NULL,
  password TEXT NOT NULL, -- scrypt, with its cost and salt
  totp BLOB, -- the secret of one-time passwords, sealed; NULL: the password is enough
  totp_step INTEGER NOT NULL DEFAULT 0, -- of the latest code, which is not taken twice
  language TEXT NOT NULL CHECK (language IN ('en', 'zh')),
  is_operator INTEGER NOT NULL DEFAULT 0, -- of the installation: sees and makes accounts
  created_at INTEGER NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Who may do what in an account: 1 viewer, 2 sender, 3 admin, 4 owner. Each may do what those before may.
CREATE TABLE membership (
  person_id INTEGER NOT NULL REFERENCES person (id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  role INTEGER NOT NULL CHECK (role BETWEEN 1 AND 4),
  PRIMARY KEY (person_id, account_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX membership_account ON membership (account_id);

-- Whoever has the link of an invitation becomes a member, once.
CREATE TABLE invitation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  account_id INTEGER NOT NULL REFERENCES account (id),
  role INTEGER NOT NULL CHECK (role BETWEEN 1 AND 4),
  email TEXT NOT NULL COLLATE NOCASE,
  invited_by INTEGER NOT NULL REFERENCES person (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- Browsers that are logged in. The cookie holds the token.
CREATE TABLE console_session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  person_id INTEGER NOT NULL REFERENCES person (id),
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  agent TEXT NOT NULL -- what the browser calls itself
) STRICT;

CREATE INDEX console_session_person ON console_session (person_id);

-- What people did. The name is kept as it was.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  account_id INTEGER, -- NULL: of the installation
  subject_app INTEGER, -- it stays when the app goes
  person_id INTEGER,
  who TEXT NOT NULL,
  action TEXT NOT NULL, -- a word of the program's, such as app.create
  target TEXT NOT NULL, -- what it was done to
  address TEXT NOT NULL
) STRICT;

CREATE INDEX audit_account ON audit (account_id, id);

-- The list of an app's pushes, newest first. Its rows are appended at the end of each app's range.
CREATE INDEX push_app ON push (app_id, msg_id);
