-- What became of invitations' mail, recovery codes of one-time passwords, and links for new passwords that a newer one has
-- replaced. Small tables: milliseconds, whatever the database holds.

-- 0 nothing is known (before this migration), 1 no mail server was set up, 2 queued, 3 handed to the mail server, 4 refused,
-- 5 the server stopped before it was handed over.
ALTER TABLE invitation ADD COLUMN mail_state INTEGER NOT NULL DEFAULT 0 CHECK (mail_state BETWEEN 0 AND 5);
ALTER TABLE invitation ADD COLUMN mail_at INTEGER; -- when that was
ALTER TABLE invitation ADD COLUMN mail_note TEXT; -- what the mail server said

DROP VIEW live_invitation;

-- Invitations that whoever made them may still make: an owner of the account, or an operator; to accounts that are on.
CREATE VIEW live_invitation AS
SELECT invitation.id, invitation.token_hash, invitation.account_id, account.name AS account_name, invitation.role,
  invitation.email, invitation.expires_at, invitation.mail_state, invitation.mail_at, invitation.mail_note
FROM invitation
JOIN account ON account.id = invitation.account_id AND account.disabled = 0
JOIN person ON person.id = invitation.invited_by AND person.disabled = 0
WHERE person.is_operator = 1 OR EXISTS (
  SELECT 1 FROM membership
  WHERE person_id = invitation.invited_by AND account_id = invitation.account_id AND membership.role = 4);

-- Only the newest link of a person works; the others are kept to count how many were asked for.
ALTER TABLE password_reset ADD COLUMN replaced INTEGER NOT NULL DEFAULT 0;

-- Each lets its owner in once in place of a one-time password. Used ones are deleted.
CREATE TABLE recovery_code (
  person_id INTEGER NOT NULL REFERENCES person (id),
  code_hash BLOB NOT NULL CHECK (length(code_hash) = 32),
  PRIMARY KEY (person_id, code_hash)
) STRICT, WITHOUT ROWID;
