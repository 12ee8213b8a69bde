-- The same in SQLite: homes of some apps each (Docs/decisions/0065).

-- Up to which push each app's pushes are counted in its statistics.
CREATE TABLE counted_push (
  app_id bigint PRIMARY KEY,
  through bigint NOT NULL -- msg_id
);

INSERT INTO counted_push (app_id, through) SELECT app.id, statistics_mark.through FROM app, statistics_mark;
DROP TABLE statistics_mark;

-- What tells the IDs of a home's pushes from those of others; NULL for who is no home of some apps. No two that may write have the same.
ALTER TABLE fence ADD COLUMN slot bigint CHECK (slot BETWEEN 0 AND 127);

CREATE UNIQUE INDEX fence_slot ON fence (slot) WHERE slot IS NOT NULL;
