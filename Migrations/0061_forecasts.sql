-- The forecast made when a person sends a push in the console. A column without a value: milliseconds.

ALTER TABLE push_sender ADD COLUMN forecast BLOB; -- JSON; NULL if there is none
