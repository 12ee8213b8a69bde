-- Keys for contents that only devices read. Two empty tables: takes no time.

-- The public key that a registration told last.
CREATE TABLE device_key (
  app_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- 1 X25519, 2 P-256, 3 SM2
  key BLOB NOT NULL, -- the point, then 16 bytes `auth`
  told_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, number),
  FOREIGN KEY (app_id, number) REFERENCES registration (app_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Keys that an app server shares with devices, each enciphered for the device.
CREATE TABLE content_key (
  app_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  published_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, number, key_id),
  FOREIGN KEY (app_id, number) REFERENCES registration (app_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- For the sweep of old ones.
CREATE INDEX content_key_published_at ON content_key (published_at);
