-- What the console needs to know people again, and to show what they did. Small tables: milliseconds, whatever the database holds.

-- Signs the cookies of browsers that people logged in with before, so that a restart does not make strangers of them.
CREATE TABLE browser_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  key BLOB NOT NULL CHECK (length(key) = 32)
) STRICT;

-- Invitations that whoever made them may still make: an owner of the account, or an operator; to accounts that are on.
CREATE VIEW live_invitation AS
SELECT invitation.id, invitation.token_hash, invitation.account_id, account.name AS account_name, invitation.role,
  invitation.email, invitation.expires_at
FROM invitation
JOIN account ON account.id = invitation.account_id AND account.disabled = 0
JOIN person ON person.id = invitation.invited_by AND person.disabled = 0
WHERE person.is_operator = 1 OR EXISTS (
  SELECT 1 FROM membership
  WHERE person_id = invitation.invited_by AND account_id = invitation.account_id AND membership.role = 4);

-- Names are no proof of who it was: anybody may call themselves anything.
UPDATE audit SET who = who || ' <' || (SELECT email FROM person WHERE person.id = audit.person_id) || '>'
WHERE action <> 'person.reset' AND EXISTS (SELECT 1 FROM person WHERE person.id = audit.person_id);

-- What a person did.
CREATE INDEX audit_person ON audit (person_id, id);

-- What was done to the installation: what belongs to no account, and what operators did to accounts.
CREATE INDEX audit_installation ON audit (id) WHERE account_id IS NULL OR action GLOB 'account.*';
