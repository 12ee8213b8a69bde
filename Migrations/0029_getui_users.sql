-- What Getui's API knows of devices and callbacks besides. New columns only: takes no time.

-- Since when a registration gets no pushes, because its app's server put it on the black list; NULL for nearly all.
ALTER TABLE registration ADD COLUMN blocked_at INTEGER;

-- How callbacks to the app's own address look: 0 as ours, 1 as Getui's.
ALTER TABLE callback_setting ADD COLUMN format INTEGER NOT NULL DEFAULT 0 CHECK (format IN (0, 1));
