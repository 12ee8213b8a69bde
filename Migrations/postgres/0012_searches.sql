-- Migration 44 of SQLite: indexes for what was searched in all rows of a table, or of an account.

CREATE INDEX invitation_account ON invitation (account_id);

CREATE INDEX invitation_end ON invitation (expires_at);

CREATE INDEX mail_done ON mail (done_at) WHERE done_at IS NOT NULL;

CREATE INDEX file_end ON file (expires_at);

CREATE INDEX file_begun ON file (created_at) WHERE is_complete = 0;

CREATE INDEX outcome_taken_back ON outcome (taken_back_at) WHERE taken_back_at IS NOT NULL;

-- When the master secret of an app was changed.
CREATE INDEX audit_rotation ON audit (subject_app, id) WHERE action = 'app.rotate';
