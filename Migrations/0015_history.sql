-- Looking back at pushes: what was asked for and by whom. New columns and a table: milliseconds.

-- What kind of push it is and whom it is for, a bit set; 0 for pushes of before.
ALTER TABLE push ADD COLUMN traits INTEGER NOT NULL DEFAULT 0;
-- The push object as it was sent, JSON; NULL for pushes of before. The last column: lists are read without it.
ALTER TABLE push ADD COLUMN object BLOB;

-- Who made the pushes that no app server sent itself: 2 a schedule, 3 the server of a group, 4 a person in the console.
-- In a table of its own, so that a push of an app server, which is nearly every one, costs neither a row nor an index.
CREATE TABLE push_sender (
  msg_id INTEGER PRIMARY KEY,
  app_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  number INTEGER NOT NULL -- of the schedule, the group or the person
) STRICT;

CREATE INDEX push_sender_app ON push_sender (app_id, msg_id);
