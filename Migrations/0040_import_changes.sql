-- What an import has changed of registrations that were there, for the server that is running meanwhile. A new column: milliseconds.

-- Tags that the only registration of the row has no more, as in registration.tags. A registration that is no more had only these.
ALTER TABLE import_batch ADD COLUMN removed BLOB;
