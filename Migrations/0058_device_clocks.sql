-- Schedules that follow the clocks of devices. A column with a constant default and an empty table: milliseconds.

-- Whether its times are those that the clocks of each device show: it fires once for each moment at which some zone's do.
-- "next_at" is the next such moment, and "next_local" the time that clocks show there.
ALTER TABLE schedule ADD COLUMN follows_devices INTEGER NOT NULL DEFAULT 0;

-- An occurrence of such a schedule on its way around the earth.
CREATE TABLE schedule_turn (
  schedule_id INTEGER NOT NULL REFERENCES schedule (id) ON DELETE CASCADE,
  occurrence INTEGER NOT NULL, -- local
  skipped_until INTEGER, -- who is not in "passed" and whose turn was up to this moment has passed as well; NULL for nobody
  passed BLOB NOT NULL, -- whose turn has come, in the router's encoding
  PRIMARY KEY (schedule_id, occurrence)
) STRICT, WITHOUT ROWID;
