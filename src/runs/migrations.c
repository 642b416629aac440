/* SPDX-License-Identifier: MIT */
/* The tables as SQL, a version each. */
#include "migrations.h"

static const char *const versions[] = {
  /* 1: runs with their epochs, searches with their trials */
  "CREATE TABLE runs ("
  "  id INTEGER PRIMARY KEY AUTOINCREMENT, uid INTEGER NOT NULL UNIQUE,"
  "  name TEXT, model TEXT NOT NULL, data BLOB, targets BLOB, preset BLOB, weights_in BLOB,"
  "  settings TEXT NOT NULL, max_steps INTEGER NOT NULL DEFAULT 0,"
  "  fingerprint INTEGER NOT NULL DEFAULT 0,"
  "  n_train INTEGER NOT NULL DEFAULT 0, n_validation INTEGER NOT NULL DEFAULT 0,"
  "  device TEXT, driver TEXT, software INTEGER NOT NULL DEFAULT 0, version TEXT,"
  "  folder BLOB, begin_us INTEGER NOT NULL, end_us INTEGER, seen_us INTEGER NOT NULL,"
  "  state TEXT NOT NULL, error TEXT, process TEXT,"
  "  steps INTEGER NOT NULL DEFAULT 0, epochs INTEGER NOT NULL DEFAULT 0,"
  "  seconds REAL, preparation_s REAL, loss REAL,"
  "  metric TEXT, metric_unit TEXT, metric_is_fraction INTEGER NOT NULL DEFAULT 0,"
  "  best_metric REAL, best_val_loss REAL, best_epoch INTEGER NOT NULL DEFAULT 0,"
  "  samples_per_s REAL, epoch_overhead_s REAL,"
  "  planned_bytes INTEGER NOT NULL DEFAULT 0, vram_bytes INTEGER NOT NULL DEFAULT 0,"
  "  parameters INTEGER NOT NULL DEFAULT 0, parts INTEGER NOT NULL DEFAULT 1);"
  "CREATE INDEX runs_by_folder ON runs (folder);"
  "CREATE TABLE epochs ("
  "  run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, epoch INTEGER NOT NULL,"
  "  step INTEGER NOT NULL, train_loss REAL, val_loss REAL, train_metric REAL, val_metric REAL,"
  "  samples_per_s REAL, seconds REAL, PRIMARY KEY (run, epoch)) WITHOUT ROWID;"
  "CREATE TABLE searches ("
  "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
  "  model TEXT NOT NULL, data BLOB, preset BLOB, settings TEXT NOT NULL,"
  "  fingerprint INTEGER NOT NULL DEFAULT 0, device TEXT, driver TEXT, version TEXT, folder BLOB,"
  "  begin_us INTEGER NOT NULL, end_us INTEGER, seen_us INTEGER NOT NULL,"
  "  state TEXT NOT NULL, process TEXT, best_settings TEXT, best_samples_per_s REAL,"
  "  baseline_samples_per_s REAL, proven INTEGER NOT NULL DEFAULT 0, text TEXT);"
  "CREATE TABLE trials ("
  "  search INTEGER NOT NULL REFERENCES searches (id) ON DELETE CASCADE, number INTEGER NOT NULL,"
  "  time_us INTEGER NOT NULL, stage TEXT, settings TEXT NOT NULL, outcome TEXT NOT NULL,"
  "  samples_per_s REAL, low REAL, high REAL, predicted REAL,"
  "  vram_bytes INTEGER NOT NULL DEFAULT 0, planned_bytes INTEGER NOT NULL DEFAULT 0, text TEXT,"
  "  PRIMARY KEY (search, number)) WITHOUT ROWID;",
  /* 2: the queue of jobs, and the process that runs it */
  "CREATE TABLE jobs ("
  "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
  "  model TEXT NOT NULL, data BLOB, targets BLOB, preset BLOB, weights_in BLOB,"
  "  settings TEXT NOT NULL, max_steps INTEGER NOT NULL DEFAULT 0,"
  "  device INTEGER NOT NULL DEFAULT -1, folder BLOB NOT NULL, state TEXT NOT NULL,"
  "  attempts INTEGER NOT NULL DEFAULT 0, exit_code INTEGER, process TEXT,"
  "  add_us INTEGER NOT NULL, begin_us INTEGER, end_us INTEGER);"
  "CREATE TABLE queue_runner ("
  "  id INTEGER PRIMARY KEY CHECK (id = 1), process TEXT NOT NULL, seen_us INTEGER NOT NULL);",
  /* 3: tags of runs; places of jobs in the queue (NULL: the number of the job is its place) */
  ("ALTER TABLE runs ADD COLUMN tags TEXT;"
   "ALTER TABLE jobs ADD COLUMN place REAL;"),
  /* 4: names of searches */
  "ALTER TABLE searches ADD COLUMN name TEXT;",
  /* 5: the test part of runs */
  ("ALTER TABLE runs ADD COLUMN n_test INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE runs ADD COLUMN test_metric REAL;"
   "ALTER TABLE runs ADD COLUMN test_loss REAL;"),
  /* 6: names of jobs, for their runs; the devices of jobs of several processes */
  ("ALTER TABLE jobs ADD COLUMN name TEXT;"
   "ALTER TABLE jobs ADD COLUMN devices TEXT;"),
};

const char *const dyno_history_tables[] = { "runs", "epochs", "searches", "trials", "jobs", NULL };

const char *const *
dyno_migrations_list (guint *n)
{
  *n = G_N_ELEMENTS (versions);
  return versions;
}
