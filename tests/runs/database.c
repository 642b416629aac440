/* SPDX-License-Identifier: MIT */
/* The history's file in each possible state, and with several writers. */
#include "database.h"
#include "migrations.h"
#include "store-private.h"
#include "train-test.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  char *folder, *path;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  f->folder = test_folder ();
  f->path = g_build_filename (f->folder, "history.sqlite", NULL);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  test_remove_tree (f->folder);
  g_free (f->folder);
  g_free (f->path);
}

static DynoStore *
open_store (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  DynoStore *store = dyno_store_open (f->path, &error);

  g_assert_no_error (error);
  return store;
}

static gint64
put (DynoStore *store, const char *model, GError **error)
{
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();

  run->model = g_strdup (model);
  run->state = DYNO_RUN_STATE_FINISHED;
  run->begin_us = 1;
  return dyno_store_put_run (store, run, NULL, 0, error) ? run->id : 0;
}

static guint
count (DynoStore *store)
{
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, NULL, NULL);

  g_assert_nonnull (runs);
  return runs->len;
}

static void
run_sql (const char *path, const char *sql)
{
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

static char *
ask (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  char *answer;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  answer = g_strdup ((const char *) sqlite3_column_text (statement, 0));
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return answer;
}

/* The only file whose name begins with that of the moved history; NULL: none. */
static char *
find_aside (Fixture *f)
{
  g_autoptr (GDir) dir = g_dir_open (f->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)))
    if (g_str_has_prefix (name, "history.sqlite.corrupt-") && !g_str_has_suffix (name, "-wal")
        && !g_str_has_suffix (name, "-shm"))
      return g_build_filename (f->folder, name, NULL);
  return NULL;
}

/* --- versions --------------------------------------------------------------------------------- */

static void
test_new (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = open_store (f);
  g_autofree char *mode = ask (f->path, "PRAGMA journal_mode"),
                  *version = ask (f->path, "PRAGMA user_version");
  guint n;

  dyno_migrations_list (&n);
  g_assert_cmpstr (mode, ==, "wal");
  g_assert_cmpuint ((guint) atoi (version), ==, n);
  g_assert_null (dyno_store_get_read_only (store));
}

static guint
mode_of (const char *path)
{
  GStatBuf status;

  g_assert_cmpint (g_stat (path, &status), ==, 0);
  return status.st_mode & 0777;
}

/* A new file, and its log, are private; an existing file keeps its permissions. */
static void
test_modes (Fixture *f, gconstpointer data)
{
  g_autofree char *log = g_strconcat (f->path, "-wal", NULL);
  mode_t mask = umask (022);
  g_autoptr (DynoStore) store = open_store (f);

  g_assert_cmpint (put (store, "mlp", NULL), ==, 1);
  g_assert_cmphex (mode_of (f->path), ==, 0600);
  g_assert_cmphex (mode_of (log), ==, 0600);
  g_clear_pointer (&store, dyno_store_free);
  g_assert_cmpint (g_chmod (f->path, 0640), ==, 0);
  store = open_store (f);
  g_assert_cmpint (put (store, "mlp", NULL), ==, 2);
  g_assert_cmphex (mode_of (f->path), ==, 0640);
  umask (mask);
}

/* Late entries: of a run whose folder a later run has taken, a file that is no database, and an
 * incomplete one. */
static void
test_late_entries (Fixture *f, gconstpointer data)
{
  static const char *const names[] = { ".late-00112233445566aa", ".late-00112233445566ab",
                                       ".late-00112233445566ac.new" };
  g_autoptr (DynoStore) store = open_store (f);
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new (), found = NULL;
  g_autofree char *first = NULL;

  run->model = g_strdup ("newer");
  run->folder = g_strdup ("/run");
  run->begin_us = 5;
  g_assert_true (dyno_store_put_run (store, run, NULL, 0, NULL));
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *path = g_strconcat (f->path, names[i], NULL);
      g_autoptr (DynoStore) late = i == 1 ? NULL : dyno_store_open (path, NULL);
      g_autoptr (DynoStoredRun) own = dyno_stored_run_new ();

      own->model = g_strdup ("older");
      own->folder = g_strdup ("/run");
      own->steps = 7;
      own->begin_us = 4;
      if (late)
        g_assert_true (dyno_store_put_run (late, own, NULL, 0, NULL));
      else
        g_assert_true (g_file_set_contents (path,
                                            "no database, but longer than its header is "
                                            "(100 bytes), so that it is looked at and seen "
                                            "to be none",
                                            -1, NULL));
      if (i == 0)
        first = g_strdup (path);
    }
  g_clear_pointer (&store, dyno_store_free);
  store = open_store (f);
  g_assert_cmpuint (count (store), ==, 2);
  g_assert_false (g_file_test (first, G_FILE_TEST_EXISTS));
  /* The store waits for other writers again. */
  g_assert_null (dyno_database_set_hurry (store->db, NULL));
  found = dyno_store_find_run (store, 2, NULL);
  g_assert_cmpstr (found->model, ==, "older");
  g_assert_null (found->folder);
  g_clear_pointer (&found, dyno_stored_run_free);
  found = dyno_store_find_run (store, 1, NULL);
  g_assert_cmpstr (found->folder, ==, "/run");

  /* A run that began later takes the folder from the earlier one, but only with its first step. */
  for (guint steps = 0; steps < 2; steps++)
    {
      g_autoptr (DynoStore) late = dyno_store_open (first, NULL);
      g_autoptr (DynoStoredRun) own = dyno_stored_run_new (), before = NULL, now = NULL;

      own->model = g_strdup ("newest");
      own->folder = g_strdup ("/run");
      own->steps = steps;
      own->begin_us = 6 + steps;
      g_assert_true (dyno_store_put_run (late, own, NULL, 0, NULL));
      g_clear_pointer (&late, dyno_store_free);
      g_clear_pointer (&store, dyno_store_free);
      store = open_store (f);
      now = dyno_store_find_run (store, 3 + steps, NULL);
      g_assert_cmpstr (now->model, ==, "newest");
      g_assert_cmpstr (now->folder, ==, "/run");
      before = dyno_store_find_run (store, 1, NULL);
      g_assert_cmpstr (before->folder, ==, steps == 0 ? "/run" : NULL);
    }
}

/* A file of each earlier version, with a run in it, is converted to this version. */
static void
test_migrates (Fixture *f, gconstpointer data)
{
  guint n;
  const char *const *versions = dyno_migrations_list (&n);

  for (guint from = 0; from < n; from++)
    {
      DynoStore *store;

      for (guint i = 0; i < from; i++)
        run_sql (f->path, versions[i]);
      if (from > 0)
        {
          g_autofree char *mark = g_strdup_printf ("PRAGMA user_version = %u", from);
          run_sql (f->path, mark);
          run_sql (f->path, "INSERT INTO runs (uid, model, settings, begin_us, seen_us, state) "
                            "VALUES (5, 'old', 'batch_size=7\nno.such=1\nlr=x\n', 1, 2, "
                            "'finished')");
          run_sql (f->path, "INSERT INTO searches (model, settings, begin_us, seen_us, state) "
                            "VALUES ('sought', '', 1, 2, 'finished')");
        }
      store = open_store (f);
      g_assert_cmpint (put (store, "new", NULL), >, 0);
      g_assert_cmpuint (count (store), ==, from > 0 ? 2 : 1);
      if (from > 0)
        {
          g_autoptr (DynoStoredRun) run = dyno_store_find_run (store, 1, NULL);
          g_assert_cmpstr (run->model, ==, "old");
          g_assert_cmpint (run->settings.batch_size, ==, 7);
          g_assert_true (dyno_store_rename_search (store, 1, "named", NULL));
          g_autoptr (DynoStoredSearch) search = dyno_store_find_search (store, 1, NULL);
          g_assert_cmpstr (search->model, ==, "sought");
          g_assert_cmpstr (search->name, ==, "named");
        }
      dyno_store_free (store);
      g_unlink (f->path);
    }
}

static void
test_newer (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = open_store (f);
  g_autoptr (GError) error = NULL;
  g_autofree char *version = NULL, *newer = NULL;
  guint n;

  dyno_migrations_list (&n);
  newer =
      g_strdup_printf ("ALTER TABLE runs ADD COLUMN later TEXT; PRAGMA user_version = %u", n + 1);
  put (store, "mlp", NULL);
  g_clear_pointer (&store, dyno_store_free);
  run_sql (f->path, newer);
  store = open_store (f);
  g_assert_nonnull (strstr (dyno_store_get_read_only (store), "newer"));
  g_assert_cmpuint (count (store), ==, 1);
  g_assert_cmpint (put (store, "mlp", &error), ==, 0);
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_READ_ONLY);
  g_clear_pointer (&store, dyno_store_free);
  version = ask (f->path, "PRAGMA user_version");
  g_assert_cmpuint ((guint) atoi (version), ==, n + 1);
}

/* --- damage ----------------------------------------------------------------------------------- */

static void
overwrite (const char *path, goffset at, gsize size)
{
  g_autofree char *noise = g_malloc (size);
  FILE *file = fopen (path, "r+b");

  memset (noise, 0xa5, size);
  g_assert_nonnull (file);
  g_assert_cmpint (fseeko (file, at, SEEK_SET), ==, 0);
  g_assert_cmpuint (fwrite (noise, 1, size, file), ==, size);
  g_assert_cmpint (fclose (file), ==, 0);
}

static void
expect_told (void)
{
  g_test_expect_message ("dyno-runs", G_LOG_LEVEL_MESSAGE, "*was damaged*");
}

/* The file is no database at all. */
static void
test_garbage (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = NULL;
  g_autofree char *aside = NULL, *text = NULL;

  g_assert_true (g_file_set_contents (f->path, "this is no database, but it was mine", -1, NULL));
  expect_told ();
  store = open_store (f);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (count (store), ==, 0);
  g_assert_cmpint (put (store, "mlp", NULL), ==, 1);
  aside = find_aside (f);
  g_assert_cmpstr (aside, ==, dyno_store_get_aside (store));
  g_assert_true (g_file_get_contents (aside, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "this is no database, but it was mine");
}

/* One damaged page in the middle: the runs on both sides of it are recovered, with their
 * numbers. */
static void
test_damaged_page (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = open_store (f);
  g_autoptr (DynoStoredRun) first = NULL, last = NULL;
  GStatBuf status;

  for (guint i = 0; i < 200; i++)
    put (store, "mlp", NULL);
  g_clear_pointer (&store, dyno_store_free); /* the log has been merged into the file */
  g_assert_cmpint (g_stat (f->path, &status), ==, 0);
  overwrite (f->path, status.st_size / 2 / 4096 * 4096, 4096);
  expect_told ();
  store = open_store (f);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (count (store), >=, 150);
  g_assert_cmpuint (count (store), <, 200);
  first = dyno_store_find_run (store, 1, NULL);
  last = dyno_store_find_run (store, 200, NULL);
  g_assert_true (first && last);
  g_assert_cmpint (put (store, "mlp", NULL), ==, 201);
}

static void
test_cut_off (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = open_store (f);

  for (guint i = 0; i < 200; i++)
    put (store, "mlp", NULL);
  g_clear_pointer (&store, dyno_store_free);
  g_assert_cmpint (truncate (f->path, 40000), ==, 0);
  expect_told ();
  store = open_store (f);
  g_test_assert_expected_messages ();
  g_assert_cmpint (put (store, "mlp", NULL), >, 0);
}

/* The file is moved away while a process has it open: the next write goes into the new file. */
static void
test_moved (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = open_store (f), other = NULL;
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();
  g_autofree char *elsewhere = g_strconcat (f->path, ".old", NULL);

  run->model = g_strdup ("mlp");
  put (store, "before", NULL);
  g_assert_true (dyno_store_put_run (store, run, NULL, 0, NULL));
  g_assert_cmpint (g_rename (f->path, elsewhere), ==, 0);
  other = open_store (f);
  g_assert_cmpint (put (other, "after", NULL), ==, 1);
  run->steps = 5;
  g_assert_true (dyno_store_put_run (store, run, NULL, 0, NULL));
  g_assert_cmpuint (count (other), ==, 2); /* beside the other file, without overwriting it */
  g_assert_cmpint (run->id, ==, 2);
}

/* --- several, and one that dies --------------------------------------------------------------- */

#define N_PROCESSES 4
#define N_RUNS      25

static pid_t
start (Fixture *f, void (*work) (DynoStore *store, int to), int to)
{
  pid_t child = fork ();

  if (child == 0)
    {
      dyno_database_set_patience (3600 * 1000);
      DynoStore *store = dyno_store_open (f->path, NULL);
      if (store)
        work (store, to);
      _exit (store ? 0 : 1);
    }
  g_assert_cmpint (child, >, 0);
  return child;
}

static void
write_some (DynoStore *store, int to)
{
  for (guint i = 0; i < N_RUNS; i++)
    if (put (store, "mlp", NULL) == 0)
      _exit (2);
}

/* The processes also create the file at the same time. */
static void
test_processes (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = NULL;
  pid_t children[N_PROCESSES];

  for (guint i = 0; i < N_PROCESSES; i++)
    children[i] = start (f, write_some, -1);
  for (guint i = 0; i < N_PROCESSES; i++)
    {
      int status;
      g_assert_cmpint (waitpid (children[i], &status, 0), ==, children[i]);
      g_assert_cmpint (status, ==, 0);
    }
  store = open_store (f);
  g_assert_cmpuint (count (store), ==, N_PROCESSES * N_RUNS);
}

/* Reports each number once it is in the file. */
static void
write_on (DynoStore *store, int to)
{
  for (;;)
    {
      gint64 id = put (store, "mlp", NULL);
      if (id == 0 || write (to, &id, sizeof id) != sizeof id)
        _exit (2);
    }
}

static void
test_killed_writer (Fixture *f, gconstpointer data)
{
  gint64 id, told = 0;

  for (guint round = 1; round <= 5; round++)
    {
      g_autoptr (DynoStore) store = NULL;
      int ends[2], status;
      pid_t child;

      g_assert_cmpint (pipe (ends), ==, 0);
      child = start (f, write_on, ends[1]);
      close (ends[1]);
      for (guint i = 0; i < 7 * round; i++)
        {
          g_assert_cmpint (read (ends[0], &id, sizeof id), ==, sizeof id);
          told = id;
        }
      kill (child, SIGKILL);
      waitpid (child, &status, 0);
      close (ends[0]);
      store = open_store (f);
      g_assert_null (dyno_store_get_aside (store));
      g_assert_cmpuint (count (store), >=, told);
      g_autoptr (DynoStoredRun) run = dyno_store_find_run (store, told, NULL);
      g_assert_nonnull (run);
    }
}

/* Another program locks the file: the store waits, then fails; later the file is free again. */
static void
test_busy (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStore) store = open_store (f);
  g_autoptr (GError) error = NULL;
  sqlite3 *other = NULL;

  g_assert_cmpint (sqlite3_open (f->path, &other), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (other, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (put (store, "mlp", &error), ==, 0);
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_BUSY);
  g_assert_cmpuint (count (store), ==, 0); /* reading is still possible */
  sqlite3_close (other);
  g_assert_cmpint (put (store, "mlp", NULL), ==, 1);
}

/* --- calls that fail -------------------------------------------------------------------------- */

static guint n_calls, failing;
static ssize_t (*real_pwrite) (int, const void *, size_t, off_t);

static ssize_t
fail_to_write (int fd, const void *data, size_t size, off_t at)
{
  if (++n_calls == failing)
    {
      errno = ENOSPC;
      return -1;
    }
  return real_pwrite (fd, data, size, at);
}

static void
set_writer (sqlite3_syscall_ptr function)
{
  sqlite3_vfs *vfs = sqlite3_vfs_find (NULL);
  static const char *const names[] = { "pwrite", "pwrite64" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      sqlite3_syscall_ptr found = vfs->xGetSystemCall (vfs, names[i]);
      if (found && function && !real_pwrite)
        real_pwrite = (ssize_t (*) (int, const void *, size_t, off_t)) found;
      if (found)
        vfs->xSetSystemCall (vfs, names[i], function);
    }
}

/* Each write fails in turn, from the creation of the file on: the error states the reason, and the
 * file keeps its earlier contents. */
static void
test_full_disk (Fixture *f, gconstpointer data)
{
  gboolean clean = FALSE;
  guint n_disk = 0;

  set_writer ((sqlite3_syscall_ptr) fail_to_write);
  for (failing = 1; !clean; failing++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoStore) store = NULL;
      gint64 id = 0;

      n_calls = 0;
      store = dyno_store_open (f->path, &error);
      if (store)
        id = put (store, "mlp", &error);
      clean = n_calls < failing;
      if (error)
        {
          g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_DISK);
          n_disk++;
        }
      n_calls = G_MAXUINT / 2; /* there is room again */
      if (!store)
        store = open_store (f);
      g_assert_cmpint (id > 0, ==, error == NULL);
      g_assert_cmpuint (count (store), ==, id > 0);
      g_assert_cmpint (put (store, "mlp", NULL), >, 0);
      g_clear_pointer (&store, dyno_store_free);
      g_unlink (f->path);
    }
  set_writer (NULL);
  g_assert_cmpuint (n_disk, >=, 3);
}

static void
test_nowhere (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_store_open ("/proc/nowhere/history.sqlite", &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_READ_ONLY);
  g_assert_nonnull (strstr (error->message, "--state-dir"));
}

#define TEST(name, function) \
  g_test_add ("/runs/database/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  TEST ("new-file-has-a-log-and-a-version", test_new);
  TEST ("new-file-is-private", test_modes);
  TEST ("late-entries-are-taken-once", test_late_entries);
  TEST ("migrates-from-each-version", test_migrates);
  TEST ("newer-version-is-only-read", test_newer);
  TEST ("no-database-is-moved-aside", test_garbage);
  TEST ("damaged-page-loses-no-other-run", test_damaged_page);
  TEST ("file-that-was-cut-off", test_cut_off);
  TEST ("file-that-was-moved-away", test_moved);
  TEST ("processes-write-at-once", test_processes);
  TEST ("killed-writer-loses-nothing-told", test_killed_writer);
  TEST ("waiting-for-another-ends", test_busy);
  TEST ("full-disk-at-each-write", test_full_disk);
  TEST ("nowhere-to-write-to", test_nowhere);
  return g_test_run ();
}
