-- Pushes that say something else in some languages, and templates for pushes. Columns without a value and an empty table:
-- milliseconds.

-- What some of the targets get in their language, and who, in the router's encoding; NULL if all get the same.
ALTER TABLE push ADD COLUMN languages BLOB;

CREATE TABLE template (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: pushes name it
  app_id INTEGER NOT NULL REFERENCES app (id),
  name TEXT NOT NULL,
  body BLOB NOT NULL, -- JSON
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  UNIQUE (app_id, name)
) STRICT;

-- The template that the schedule's push names; NULL for none.
ALTER TABLE schedule ADD COLUMN template INTEGER REFERENCES template (id);

CREATE INDEX schedule_template ON schedule (template) WHERE template IS NOT NULL;
