-- What tells `borealis check` that rows are gone which nothing else refers to. Reads the registrations once: a fraction of a
-- second for a million.

-- How many numbers of an app's registrations were given up: next_number less these is how many there are.
ALTER TABLE app ADD COLUMN given_up INTEGER NOT NULL DEFAULT 0;
UPDATE app SET given_up = next_number - (SELECT count(*) FROM registration WHERE registration.app_id = app.id);

-- 1 if somebody has acknowledged a push to several: then there is a row of `delivered`, unless all have (status 1).
ALTER TABLE pending ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 0;
UPDATE pending SET acknowledged = 1 WHERE msg_id IN (SELECT msg_id FROM delivered);
ALTER TABLE outcome ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 0;
UPDATE outcome SET acknowledged = 1 WHERE msg_id IN (SELECT msg_id FROM delivered);
