-- That a push was taken back is a fact of its own, beside how its way over our connection ended: 3 recalled, 4 overridden, 0
-- neither. Rows of before have it in `status` alone.
ALTER TABLE outcome ADD COLUMN taken_back INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outcome ADD COLUMN taken_back_at INTEGER;
-- 1 once every target has the push, by whatever evidence: the history shows it without reading sets.
ALTER TABLE outcome ADD COLUMN reached_all INTEGER NOT NULL DEFAULT 0;
-- `receipt` has a third kind from here on, also for pushes to one: whose acknowledgement came when nothing waited any more.
