-- Which push replaced this one: a push may be replaced once. Written beside the outcome, which stays `delivered` for a
-- push that had arrived everywhere before.
ALTER TABLE push ADD COLUMN replaced_by INTEGER;
