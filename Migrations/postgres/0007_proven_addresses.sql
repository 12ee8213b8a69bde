-- Migration 39 of SQLite: whether a person has followed a link that was mailed to the address.

-- 0: an invitation's link was shown to whoever invited. People from before this migration keep what a mailed link leaves as it is.
ALTER TABLE person ADD COLUMN is_proven bigint NOT NULL DEFAULT 1;
