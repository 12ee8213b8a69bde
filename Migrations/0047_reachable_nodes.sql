-- Used in PostgreSQL only: which nodes reach each other, and nodes that died.

-- What the node's program can do, as bits; 0 for programs that tell nothing of it.
ALTER TABLE node ADD COLUMN capabilities INTEGER NOT NULL DEFAULT 0;
-- The incarnations of the nodes that it reaches for requests, with commas between them; NULL until it has tried.
ALTER TABLE node ADD COLUMN reaches TEXT;

-- Nodes that were taken for dead and have not started again, for a week. Not those that ended in an orderly way.
CREATE TABLE dead_node (
  name TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  version TEXT NOT NULL,
  seen_at INTEGER NOT NULL -- its last sign of life, by the clock of the node that noticed; milliseconds
) STRICT;
