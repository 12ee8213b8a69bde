-- What homes of some apps each say of their apps for pages of other homes (Docs/decisions/0066). An empty table: takes no time.
CREATE TABLE app_figures (
  app_id INTEGER PRIMARY KEY,
  registrations INTEGER NOT NULL,
  connected INTEGER NOT NULL,
  alerts TEXT NOT NULL, -- numbers of channels whose credentials need a look, with commas
  at INTEGER NOT NULL -- by the database's clock, in milliseconds
) STRICT;
