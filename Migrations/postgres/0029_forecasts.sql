-- Migration 61 of SQLite: what a person was told of a push before sending it.

ALTER TABLE push_sender ADD COLUMN IF NOT EXISTS forecast bytea; -- JSON; NULL if nobody was told anything
