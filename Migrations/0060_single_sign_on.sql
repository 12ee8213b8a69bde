-- Logging in with the identity provider of a company. Columns without a value or with a constant default, and an index of what
-- no row has yet: milliseconds.

-- Who the person is at the provider: "iss" and "sub" of OpenID Connect; NULL for a person who never logged in that way.
-- The password of a person without one is empty.
ALTER TABLE person ADD COLUMN oidc_issuer TEXT;
ALTER TABLE person ADD COLUMN oidc_subject TEXT;

CREATE UNIQUE INDEX person_oidc ON person (oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL;

-- Whether the role is by a claim of the provider, and ends with it; 0 for one that was given in the console.
ALTER TABLE membership ADD COLUMN from_claim INTEGER NOT NULL DEFAULT 0;
