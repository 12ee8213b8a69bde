-- Migration 50 of SQLite.
-- The registrations that a push left out since they show no notifications (`notification_switch_filter`); NULL for nobody. One
-- column: milliseconds.
ALTER TABLE push ADD COLUMN IF NOT EXISTS left_out bytea;
