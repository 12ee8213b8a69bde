-- Used in PostgreSQL only, by servers that work together; here so that both schemas are the same. Docs/decisions/0056 says how.

-- The nodes that are alive, or that nobody knows to be dead yet.
CREATE TABLE node (
  incarnation INTEGER PRIMARY KEY AUTOINCREMENT, -- a node that starts again has another one
  cluster TEXT NOT NULL,
  name TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL, -- where other nodes reach it for requests
  version TEXT NOT NULL, -- of its program
  is_draining INTEGER NOT NULL DEFAULT 0, -- 1: it is about to end, and becomes no home
  beat INTEGER NOT NULL DEFAULT 0, -- grows each second
  started_at INTEGER NOT NULL
) STRICT;

-- Which node an app lives on; the app 0 stands for all. Changed by the new home itself, in its first transaction.
CREATE TABLE home (
  app_id INTEGER PRIMARY KEY,
  incarnation INTEGER NOT NULL, -- a node, which may be gone
  epoch INTEGER NOT NULL, -- grows with each change
  fence INTEGER NOT NULL -- the incarnation of the fence of the home's connections
) STRICT;
