-- Segments: conditions for devices that apps keep under names. A column and an empty table: milliseconds.
CREATE TABLE segment (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: pushes name it
  app_id INTEGER NOT NULL REFERENCES app (id),
  name TEXT NOT NULL,
  condition BLOB NOT NULL, -- JSON
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  UNIQUE (app_id, name)
) STRICT;

-- The segment that the audience of the schedule's push names; NULL for none.
ALTER TABLE schedule ADD COLUMN segment INTEGER REFERENCES segment (id);

CREATE INDEX schedule_segment ON schedule (segment) WHERE segment IS NOT NULL;
