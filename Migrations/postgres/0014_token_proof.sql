-- Migration 46 of SQLite: which tokens have worked with the credentials of channels.
CREATE TABLE token_proof (
  app_id bigint NOT NULL REFERENCES app (id),
  channel bigint NOT NULL,
  service bigint NOT NULL,
  credential text COLLATE "C" NOT NULL, -- the ID of the credential that was used last
  is_proven bigint NOT NULL, -- whether it is known to be right
  working bytea NOT NULL, -- hashes of tokens that have worked with it, of 16 bytes each
  former bytea NOT NULL, -- the same of the credential before, until this one is known to be right
  PRIMARY KEY (app_id, channel, service)
);
