-- Migration 61 of SQLite: the forecast made when a person sends a push in the console.

ALTER TABLE push_sender ADD COLUMN IF NOT EXISTS forecast bytea; -- JSON; NULL if there is none
