-- Whether a person has followed a link that was mailed to the address. A small table: milliseconds.

-- 0: an invitation's link was shown to whoever invited. People from before this migration keep what a mailed link leaves as it is.
ALTER TABLE person ADD COLUMN is_proven INTEGER NOT NULL DEFAULT 1;
