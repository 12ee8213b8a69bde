-- Migration 42 of SQLite: a registration ID belongs to an app. Two new indexes: seconds for a million registrations.

ALTER TABLE registration DROP CONSTRAINT registration_registration_id_key,
  ADD CONSTRAINT registration_id_of_app UNIQUE (app_id, registration_id);

ALTER TABLE gone_registration DROP CONSTRAINT gone_registration_registration_id_key,
  ADD CONSTRAINT gone_registration_id_of_app UNIQUE (app_id, registration_id);
