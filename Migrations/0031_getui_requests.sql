-- What a request of Getui's API asked for, so that its name cannot stand for another one, and the way from a schedule to its
-- task. Columns without values and an index that no row is in yet: takes milliseconds, whatever the database holds.

ALTER TABLE cid ADD COLUMN digest BLOB; -- SHA-256 of the request; NULL for those of JPush's API
ALTER TABLE getui_task ADD COLUMN digest BLOB; -- the same; NULL for tasks of versions that did not keep it
CREATE INDEX getui_task_schedule ON getui_task (schedule_id) WHERE schedule_id IS NOT NULL;
