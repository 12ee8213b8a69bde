-- Registrations that are no more are also looked for by their numbers, a range of an app's at a time.
DROP INDEX gone_registration_app;
CREATE INDEX gone_registration_app ON gone_registration (app_id, number);
