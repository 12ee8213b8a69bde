-- Migration 60 of SQLite: logging in with the identity provider of a company.

-- Who the person is at the provider: "iss" and "sub" of OpenID Connect; NULL for a person who never logged in that way.
-- The password of a person without one is empty.
ALTER TABLE person ADD COLUMN IF NOT EXISTS oidc_issuer text COLLATE "C";
ALTER TABLE person ADD COLUMN IF NOT EXISTS oidc_subject text COLLATE "C";

CREATE UNIQUE INDEX IF NOT EXISTS person_oidc ON person (oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL;

-- Whether the role is by a claim of the provider, and ends with it; 0 for one that was given in the console.
ALTER TABLE membership ADD COLUMN IF NOT EXISTS from_claim bigint NOT NULL DEFAULT 0;
