-- For homes of some apps each (Docs/decisions/0065): up to which push each app's pushes are counted in its statistics. One mark for
-- all would count, or leave out, what another home has accepted.
CREATE TABLE counted_push (
  app_id INTEGER PRIMARY KEY,
  through INTEGER NOT NULL -- msg_id
) STRICT;

INSERT INTO counted_push (app_id, through) SELECT app.id, statistics_mark.through FROM app, statistics_mark;
DROP TABLE statistics_mark;
