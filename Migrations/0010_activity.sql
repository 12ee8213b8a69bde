-- Who used an app when, and what went on in each hour. Hours and days are those of the installation's zone, counted from
-- 1970-01-01; each table is swept from its lowest period on.

-- Who was connected, and who had the app in front of them, in an hour or on a day: sets in the router's own encoding.
CREATE TABLE activity (
  unit INTEGER NOT NULL, -- 1 hour, 2 day
  period INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- platform * 2, + 1 for the app in front
  targets BLOB NOT NULL,
  PRIMARY KEY (unit, period, app_id, kind)
) STRICT, WITHOUT ROWID;

-- New registrations by hour and platform.
CREATE TABLE newcomers (
  hour INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  platform INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (hour, app_id, platform)
) STRICT, WITHOUT ROWID;

-- Counts of an app's hour. `latencies` counts, in steps that grow by the square root of 2, the time from accepting a push to
-- the acknowledgement of a device that was in reach then: 32-bit big-endian numbers.
CREATE TABLE statistics (
  hour INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  pushes INTEGER NOT NULL,
  targets INTEGER NOT NULL,
  acknowledged INTEGER NOT NULL,
  accepted_by_apns INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  shown INTEGER NOT NULL,
  tapped INTEGER NOT NULL,
  online INTEGER NOT NULL, -- the most at a time
  latencies BLOB NOT NULL,
  PRIMARY KEY (hour, app_id)
) STRICT, WITHOUT ROWID;

-- Pushes up to this one are counted in `statistics`; the others are counted at the next start.
CREATE TABLE statistics_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  through INTEGER NOT NULL -- msg_id
) STRICT;
