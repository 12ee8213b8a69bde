-- What was wrong with apps: when it began, and when it was over.
CREATE TABLE incident (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  app_id INTEGER NOT NULL REFERENCES app (id),
  kind INTEGER NOT NULL, -- what it was: TroubleKind
  channel INTEGER NOT NULL, -- of which channel, 0 for none
  service TEXT NOT NULL, -- of which of its services, empty if it has only one
  english TEXT NOT NULL, -- what was said when it began
  chinese TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  ended_at INTEGER, -- NULL as long as it lasts
  is_settled INTEGER NOT NULL DEFAULT 0 CHECK (is_settled IN (0, 1)) -- 1 when it was over for some minutes: what comes then is another one
) STRICT;

CREATE UNIQUE INDEX incident_unsettled ON incident (app_id, kind, channel, service) WHERE is_settled = 0;
CREATE INDEX incident_app ON incident (app_id, id);
CREATE INDEX incident_ended ON incident (ended_at) WHERE is_settled = 1;

-- Whether a person gets mail about incidents of the apps that the person administers.
ALTER TABLE person ADD COLUMN incident_mail INTEGER NOT NULL DEFAULT 0 CHECK (incident_mail IN (0, 1));
