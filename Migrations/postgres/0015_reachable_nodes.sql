-- Migration 47 of SQLite: which nodes reach each other, and nodes that died.

-- What the node's program can do, as bits; 0 for programs that tell nothing of it.
ALTER TABLE node ADD COLUMN capabilities bigint NOT NULL DEFAULT 0;
-- The incarnations of the nodes that it reaches for requests, with commas between them; NULL until it has tried.
ALTER TABLE node ADD COLUMN reaches text COLLATE "C";

-- Nodes that were taken for dead and have not started again, for a week. Not those that ended in an orderly way.
CREATE TABLE dead_node (
  name text COLLATE "C" PRIMARY KEY,
  address text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  seen_at bigint NOT NULL -- its last sign of life, by the clock of the node that noticed; milliseconds
);
