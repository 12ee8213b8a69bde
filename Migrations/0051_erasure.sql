-- Erasures of people: what is looked for until nothing of it is left.
CREATE TABLE erasure (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: requests name it
  app_id INTEGER NOT NULL REFERENCES app (id),
  asked_at INTEGER NOT NULL,
  step INTEGER NOT NULL DEFAULT 0, -- what is looked through
  position INTEGER NOT NULL DEFAULT 0, -- behind which row of that the next look begins
  names BLOB, -- what is looked for, JSON; NULL once no other row has it
  done_at INTEGER
) STRICT;

CREATE INDEX erasure_app ON erasure (app_id, id);

CREATE INDEX erasure_open ON erasure (id) WHERE done_at IS NULL;

-- The registrations that a registration has replaced.
CREATE INDEX gone_registration_successor ON gone_registration (app_id, successor) WHERE successor IS NOT NULL;
