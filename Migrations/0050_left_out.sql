-- The registrations that a push left out since they show no notifications (`notification_switch_filter`); NULL for nobody. One
-- column: milliseconds.
ALTER TABLE push ADD COLUMN left_out BLOB;
