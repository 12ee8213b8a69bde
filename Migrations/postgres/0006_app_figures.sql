-- Migration 38 of SQLite: what homes say of their apps for pages of other homes.

CREATE TABLE app_figures (
  app_id bigint PRIMARY KEY,
  registrations bigint NOT NULL,
  connected bigint NOT NULL,
  alerts text COLLATE "C" NOT NULL, -- numbers of channels whose credentials need a look, with commas
  at bigint NOT NULL -- by the database's clock, in milliseconds
);
