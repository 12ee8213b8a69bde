-- What a person was told of a push before sending it. A column without a value: milliseconds.

ALTER TABLE push_sender ADD COLUMN forecast BLOB; -- JSON; NULL if nobody was told anything
