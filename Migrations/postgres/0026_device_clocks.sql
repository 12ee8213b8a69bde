-- Migration 58 of SQLite: schedules that follow the clocks of devices.

-- Whether its times are those that the clocks of each device show: it fires once for each moment at which some zone's do.
-- "next_at" is the next such moment, and "next_local" the time that clocks show there.
ALTER TABLE schedule ADD COLUMN IF NOT EXISTS follows_devices bigint NOT NULL DEFAULT 0;

-- An occurrence of such a schedule on its way around the earth.
CREATE TABLE IF NOT EXISTS schedule_turn (
  schedule_id bigint NOT NULL REFERENCES schedule (id) ON DELETE CASCADE,
  occurrence bigint NOT NULL, -- local
  skipped_until bigint, -- who is not in "passed" and whose turn was up to this moment has passed as well; NULL for nobody
  passed bytea NOT NULL, -- whose turn has come, in the router's encoding
  PRIMARY KEY (schedule_id, occurrence)
);
