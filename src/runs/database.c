/* SPDX-License-Identifier: MIT */
/* connect_to() tries to open the file once; where the file is damaged, repair() follows.  SQLite's
 * own locks keep two processes apart; the lock of the folder keeps two repairs apart. */
#include "database.h"
#include "file.h"
#include "migrations.h"
#include "salvage.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BUSY_MS     2000
#define HURRY_MS    200
#define RETRY_US    10000
#define CHECK_BYTES (64 << 20) /* larger files are not read as a whole when they are opened */

struct _DynoDatabase {
  GRecMutex lock;
  char *path, *shown;
  sqlite3 *handle;
  GHashTable *statements; /* by the address of the SQL text */
  char *read_only, *aside;
  const gint *hurry;
  gint64 waiting_us; /* begin of the wait */
  dev_t device;      /* device and inode of the open file: see dyno_database_begin */
  ino_t inode;
};

/* --- errors ----------------------------------------------------------------------------------- */

static gboolean
is_damage (int code)
{
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

static DynoRunsError
find_kind (DynoDatabase *db, int code)
{
  int system = db->handle ? sqlite3_system_errno (db->handle) : 0;

  switch (code & 0xff)
    {
    case SQLITE_FULL:
      return DYNO_RUNS_ERROR_DISK;
    case SQLITE_IOERR:
      return system == ENOSPC || system == EDQUOT || system == EFBIG ? DYNO_RUNS_ERROR_DISK
                                                                     : DYNO_RUNS_ERROR_IO;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return DYNO_RUNS_ERROR_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DYNO_RUNS_ERROR_CORRUPT;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return DYNO_RUNS_ERROR_READ_ONLY;
    default:
      return DYNO_RUNS_ERROR_IO;
    }
}

static const char *
find_advice (DynoRunsError kind)
{
  switch (kind)
    {
    case DYNO_RUNS_ERROR_DISK:
      return "make room there";
    case DYNO_RUNS_ERROR_BUSY:
      return "another process holds it; try again";
    case DYNO_RUNS_ERROR_CORRUPT:
      return "it is moved aside when it is opened the next time";
    default:
      return "--state-dir names another folder";
    }
}

gboolean
dyno_database_fail (DynoDatabase *db, int code, GError **error)
{
  DynoRunsError kind = find_kind (db, code);

  g_set_error (error, DYNO_RUNS_ERROR, kind, "The history “%s”: %s; %s", db->shown,
               db->handle ? sqlite3_errmsg (db->handle) : sqlite3_errstr (code),
               find_advice (kind));
  return FALSE;
}

/* --- statements ------------------------------------------------------------------------------- */

static gboolean
bind (DynoDatabase *db, sqlite3_stmt *statement, const char *types, va_list values, GError **error)
{
  for (int i = 1; types[i - 1]; i++)
    {
      int code = SQLITE_MISUSE;
      const char *text;
      double number;

      switch (types[i - 1])
        {
        case 'i':
          code = sqlite3_bind_int64 (statement, i, va_arg (values, gint64));
          break;
        case 'u':
          code = sqlite3_bind_int64 (statement, i, (gint64) va_arg (values, guint64));
          break;
        case 'd':
          number = va_arg (values, double);
          code = sqlite3_bind_double (statement, i, number); /* NaN becomes NULL */
          break;
        case 's':
          text = va_arg (values, const char *);
          code = sqlite3_bind_text (statement, i, text, -1, SQLITE_TRANSIENT);
          break;
        case 'b':
          text = va_arg (values, const char *);
          code = text ? sqlite3_bind_blob64 (statement, i, text, strlen (text), SQLITE_TRANSIENT)
                      : sqlite3_bind_null (statement, i);
          break;
        default:
          g_assert_not_reached ();
        }
      if (code != SQLITE_OK)
        return dyno_database_fail (db, code, error);
    }
  return TRUE;
}

static sqlite3_stmt *
prepare (DynoDatabase *db, const char *sql, const char *types, va_list values, GError **error)
{
  sqlite3_stmt *statement = g_hash_table_lookup (db->statements, sql);
  int code;

  if (!statement)
    {
      code = sqlite3_prepare_v3 (db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
      if (code != SQLITE_OK)
        {
          dyno_database_fail (db, code, error);
          return NULL;
        }
      g_hash_table_insert (db->statements, (gpointer) sql, statement);
    }
  sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
  return bind (db, statement, types, values, error) ? statement : NULL;
}

sqlite3_stmt *
dyno_database_prepare (DynoDatabase *db, GError **error, const char *sql, const char *types, ...)
{
  sqlite3_stmt *statement;
  va_list values;

  va_start (values, types);
  statement = prepare (db, sql, types, values, error);
  va_end (values);
  return statement;
}

gboolean
dyno_database_step (DynoDatabase *db, sqlite3_stmt *statement, gboolean *row, GError **error)
{
  int code = statement ? sqlite3_step (statement) : SQLITE_MISUSE;

  *row = code == SQLITE_ROW;
  if (code == SQLITE_ROW)
    return TRUE;
  if (code != SQLITE_DONE && statement)
    dyno_database_fail (db, code, error);
  if (statement)
    sqlite3_reset (statement);
  return code == SQLITE_DONE;
}

gboolean
dyno_database_run (DynoDatabase *db, GError **error, const char *sql, const char *types, ...)
{
  sqlite3_stmt *statement;
  va_list values;
  gboolean row = FALSE, good;

  va_start (values, types);
  dyno_database_lock (db);
  statement = prepare (db, sql, types, values, error);
  good = statement && dyno_database_step (db, statement, &row, error);
  if (row)
    sqlite3_reset (statement);
  dyno_database_unlock (db);
  va_end (values);
  return good;
}

gint64
dyno_database_get_changes (DynoDatabase *db)
{
  return sqlite3_changes (db->handle);
}

gint64
dyno_database_get_last_id (DynoDatabase *db)
{
  return sqlite3_last_insert_rowid (db->handle);
}

double
dyno_column_double (sqlite3_stmt *statement, int column)
{
  return sqlite3_column_type (statement, column) == SQLITE_NULL
             ? (double) NAN
             : sqlite3_column_double (statement, column);
}

char *
dyno_column_text (sqlite3_stmt *statement, int column)
{
  const void *bytes = sqlite3_column_blob (statement, column); /* as the bytes of a text */
  int size = sqlite3_column_bytes (statement, column);

  if (sqlite3_column_type (statement, column) == SQLITE_NULL)
    return NULL;
  return g_strndup (bytes ? bytes : "", (gsize) size);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int
execute (sqlite3 *handle, const char *sql)
{
  return sqlite3_exec (handle, sql, NULL, NULL, NULL);
}

/* The only value of a statement such as a PRAGMA, as text; or NULL.  g_free. */
static char *
ask (sqlite3 *handle, const char *sql, int *code)
{
  sqlite3_stmt *statement = NULL;
  char *answer = NULL;

  *code = sqlite3_prepare_v2 (handle, sql, -1, &statement, NULL);
  if (*code == SQLITE_OK)
    *code = sqlite3_step (statement);
  if (*code == SQLITE_ROW)
    {
      answer = dyno_column_text (statement, 0);
      *code = SQLITE_OK;
    }
  sqlite3_finalize (statement);
  return answer;
}

static void
finalise (gpointer statement)
{
  sqlite3_finalize (statement);
}

static void
disconnect (DynoDatabase *db)
{
  if (db->statements)
    g_hash_table_remove_all (db->statements);
  if (db->handle)
    sqlite3_close_v2 (db->handle);
  db->handle = NULL;
}

/* On these file systems processes cannot share the memory of a write-ahead log. */
static gboolean
is_remote (const char *path)
{
  static const gint64 kinds[] = { 0x6969 /* NFS */,      0xff534d42 /* CIFS */,
                                  0xfe534d42 /* SMB2 */, 0x517b /* SMB */,
                                  0x65735546 /* FUSE */, 0x01021997 /* 9P */,
                                  0x00c36400 /* Ceph */, 0x0bd00bd0 /* Lustre */,
                                  0x47504653 /* GPFS */, 0x5346414f /* AFS */ };
  g_autofree char *folder = g_path_get_dirname (path);
  struct statfs status;

  if (statfs (folder, &status) != 0)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if ((gint64) (guint32) status.f_type == kinds[i])
      return TRUE;
  return FALSE;
}

static gint busy_ms = BUSY_MS; /* atomic */

void
dyno_database_set_patience (guint ms)
{
  g_atomic_int_set (&busy_ms, (gint) ms);
}

static gboolean
is_late (DynoDatabase *db, gint64 since_us)
{
  gboolean hurries = db->hurry && g_atomic_int_get (db->hurry);

  gint64 most_ms = hurries ? HURRY_MS : g_atomic_int_get (&busy_ms);

  return g_get_monotonic_time () - since_us >= most_ms * 1000;
}

/* SQLite's own busy handler cannot be interrupted. */
static int
wait_a_little (void *data, int n)
{
  DynoDatabase *db = data;

  if (n == 0)
    db->waiting_us = g_get_monotonic_time ();
  if (is_late (db, db->waiting_us))
    return 0;
  g_usleep (RETRY_US);
  return 1;
}

/* Of two processes that set this mode of a new file at the same time, SQLite fails in the second
 * instead of waiting. */
static int
choose_journal (DynoDatabase *db)
{
  const char *sql =
      is_remote (db->path) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
  gint64 since = g_get_monotonic_time ();
  int code;

  for (;;)
    {
      g_free (ask (db->handle, sql, &code));
      if ((code & 0xff) != SQLITE_BUSY || is_late (db, since))
        return code;
      g_usleep (RETRY_US);
    }
}

static int
migrate (DynoDatabase *db)
{
  guint n;
  const char *const *versions = dyno_migrations_list (&n);
  g_autofree char *now = NULL;
  int code = execute (db->handle, "BEGIN IMMEDIATE");

  if (code != SQLITE_OK)
    return code;
  now = ask (db->handle, "PRAGMA user_version", &code); /* another process may have been faster */
  for (guint i = now ? (guint) g_ascii_strtoull (now, NULL, 10) : n; code == SQLITE_OK && i < n;
       i++)
    {
      g_autofree char *mark = g_strdup_printf ("PRAGMA user_version = %u", i + 1);

      code = execute (db->handle, versions[i]);
      if (code == SQLITE_OK)
        code = execute (db->handle, mark);
    }
  if (code == SQLITE_OK)
    code = execute (db->handle, "COMMIT");
  if (code != SQLITE_OK)
    execute (db->handle, "ROLLBACK");
  return code;
}

/* SQLite creates files that all users may read, and its log with the mode of the file.  An existing
 * file is not opened here: closing it would free the locks that this process holds on it. */
static void
make_private_file (const char *path)
{
  int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  if (fd >= 0)
    close (fd);
}

static int
open_handle (DynoDatabase *db, const char *name, int flags)
{
  int code;

  disconnect (db);
  if (flags & SQLITE_OPEN_CREATE)
    make_private_file (name);
  code = sqlite3_open_v2 (name, &db->handle, flags | SQLITE_OPEN_FULLMUTEX, NULL);
  if (code == SQLITE_OK)
    {
      sqlite3_extended_result_codes (db->handle, 1);
      sqlite3_busy_handler (db->handle, wait_a_little, db);
    }
  return code;
}

static int
check (DynoDatabase *db)
{
  g_autofree char *answer = NULL;
  GStatBuf status;
  int code;

  if (g_stat (db->path, &status) != 0)
    return SQLITE_CANTOPEN;
  db->device = status.st_dev;
  db->inode = status.st_ino;
  if (status.st_size > CHECK_BYTES)
    return SQLITE_OK;
  answer = ask (db->handle, "PRAGMA quick_check(1)", &code);
  return code == SQLITE_OK && g_strcmp0 (answer, "ok") != 0 ? SQLITE_CORRUPT : code;
}

/* Opens the file if it is intact: an older version is migrated, a newer one is only read.  Else
 * returns an SQLite code. */
static int
connect_to (DynoDatabase *db)
{
  guint known;
  g_autofree char *version = NULL;
  int code = open_handle (db, db->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

  dyno_migrations_list (&known);
  if (code == SQLITE_OK)
    version = ask (db->handle, "PRAGMA user_version", &code);
  if (code != SQLITE_OK)
    return code;
  if (g_ascii_strtoull (version, NULL, 10) > known)
    {
      db->read_only = g_strdup_printf ("The history “%s” is of a newer Dyno (version %s of its "
                                       "tables, this one knows %u): it is only read",
                                       db->shown, version, known);
      code = open_handle (db, db->path, SQLITE_OPEN_READONLY);
      return code == SQLITE_OK ? check (db) : code;
    }
  code = check (db);
  if (code == SQLITE_OK)
    code = choose_journal (db);
  if (code == SQLITE_OK)
    code = execute (db->handle, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  if (code == SQLITE_OK && g_ascii_strtoull (version, NULL, 10) < known)
    code = migrate (db);
  return code;
}

/* --- a damaged file --------------------------------------------------------------------------- */

/* One process repairs at a time, so that nobody moves away a file that another process has just
 * made. */
static int
repair (DynoDatabase *db)
{
  g_autofree char *folder = g_path_get_dirname (db->path), *shown = NULL;
  char *aside;
  int lock = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), code;
  gint64 since = g_get_monotonic_time ();
  guint n;

  while (lock >= 0 && flock (lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
         && !is_late (db, since))
    g_usleep (RETRY_US);
  code = connect_to (db);
  if (is_damage (code))
    {
      disconnect (db);
      aside = dyno_salvage_move_aside (db->path);
      if (aside)
        {
          g_free (db->aside);
          db->aside = aside;
          code = connect_to (db);
        }
      if (code == SQLITE_OK)
        {
          n = dyno_salvage_copy (db->aside, db->handle);
          shown = g_filename_display_name (db->aside);
          g_message ("The history “%s” was damaged: it is kept as “%s” and begun anew with the %u "
                     "%s that could be read",
                     db->shown, shown, n, dyno_plural (n, "entry", "entries"));
        }
    }
  if (lock >= 0)
    close (lock);
  return code;
}

/* --- life ------------------------------------------------------------------------------------- */

/* TRUE where a file beside the history can be created and locked; else errno gives the reason. */
static gboolean
probe (const char *path, gboolean *locks)
{
  struct flock order = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  g_autofree char *temporary = NULL;
  int fd = dyno_file_open_temporary (path, &temporary);

  int code;

  *locks = fd >= 0 && fcntl (fd, F_SETLK, &order) == 0;
  code = errno;
  if (fd >= 0)
    {
      close (fd);
      g_unlink (temporary);
    }
  errno = code;
  return fd >= 0;
}

/* Without a log beside the file nobody writes: no lock is needed, and none could be had.  Where
 * there is a log, another user may be writing. */
static int
connect_unwritable (DynoDatabase *db, int problem)
{
  g_autofree char *uri = g_filename_to_uri (db->path, NULL, NULL);
  g_autofree char *name = g_strconcat (uri ? uri : "", "?immutable=1", NULL);
  g_autofree char *version = NULL, *log = g_strconcat (db->path, "-wal", NULL);
  gboolean alone = !g_file_test (log, G_FILE_TEST_EXISTS);
  int code = open_handle (db, alone ? name : db->path,
                          SQLITE_OPEN_READONLY | (alone ? SQLITE_OPEN_URI : 0));

  g_free (db->read_only);
  db->read_only = g_strdup_printf ("The history “%s” cannot be written: %s; --state-dir names "
                                   "another folder",
                                   db->shown, g_strerror (problem));
  if (code == SQLITE_OK)
    version = ask (db->handle, "PRAGMA user_version", &code);
  return code;
}

DynoDatabase *
dyno_database_open (const char *path, const gint *hurry, GError **error)
{
  g_autoptr (DynoDatabase) db = g_new0 (DynoDatabase, 1);
  g_autofree char *folder = g_path_get_dirname (path);
  gboolean locks, writable;
  int problem, code;

  g_rec_mutex_init (&db->lock);
  db->path = g_canonicalize_filename (path, NULL);
  db->shown = g_filename_display_name (db->path);
  db->statements = g_hash_table_new_full (NULL, NULL, NULL, finalise);
  db->hurry = hurry;
  dyno_dir_make (folder);
  writable = probe (db->path, &locks);
  problem = errno;
  if (!writable && !g_file_test (db->path, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_READ_ONLY,
                   "No history can be kept in “%s”: %s; --state-dir names another folder",
                   db->shown, g_strerror (problem));
      return NULL;
    }
  if (writable && !locks)
    {
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_IO,
                   "The history “%s” lies where files cannot be locked (%s); --state-dir names a "
                   "folder on a local disk",
                   db->shown, g_strerror (problem));
      return NULL;
    }
  code = writable ? connect_to (db) : connect_unwritable (db, problem);
  if (is_damage (code) && writable)
    code = repair (db);
  if (code == SQLITE_OK)
    return g_steal_pointer (&db);
  dyno_database_fail (db, code, error);
  return NULL;
}

void
dyno_database_free (DynoDatabase *db)
{
  if (!db)
    return;
  disconnect (db);
  g_hash_table_unref (db->statements);
  g_rec_mutex_clear (&db->lock);
  g_free (db->path);
  g_free (db->shown);
  g_free (db->read_only);
  g_free (db->aside);
  g_free (db);
}

const gint *
dyno_database_set_hurry (DynoDatabase *db, const gint *hurry)
{
  const gint *before;

  dyno_database_lock (db);
  before = db->hurry;
  db->hurry = hurry;
  dyno_database_unlock (db);
  return before;
}

void
dyno_database_lock (DynoDatabase *db)
{
  g_rec_mutex_lock (&db->lock);
}

void
dyno_database_unlock (DynoDatabase *db)
{
  g_rec_mutex_unlock (&db->lock);
}

const char *
dyno_database_get_path (DynoDatabase *db)
{
  return db->path;
}

const char *
dyno_database_get_read_only (DynoDatabase *db)
{
  return db->read_only;
}

const char *
dyno_database_get_aside (DynoDatabase *db)
{
  return db->aside;
}

/* --- transactions ----------------------------------------------------------------------------- */

static gboolean
was_moved (DynoDatabase *db)
{
  GStatBuf status;

  return g_stat (db->path, &status) != 0 || status.st_dev != db->device
         || status.st_ino != db->inode;
}

gboolean
dyno_database_begin (DynoDatabase *db, GError **error)
{
  int code;

  if (db->read_only)
    {
      g_set_error_literal (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_READ_ONLY, db->read_only);
      return FALSE;
    }
  dyno_database_lock (db);
  code = was_moved (db) || !db->handle ? connect_to (db) : SQLITE_OK;
  if (code == SQLITE_OK)
    code = execute (db->handle, "BEGIN IMMEDIATE");
  if (code == SQLITE_OK && !db->read_only)
    return TRUE;
  if (db->read_only)
    g_set_error_literal (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_READ_ONLY, db->read_only);
  else
    dyno_database_fail (db, code, error);
  dyno_database_unlock (db);
  return FALSE;
}

gboolean
dyno_database_end (DynoDatabase *db, gboolean good, GError **error)
{
  int code = good ? execute (db->handle, "COMMIT") : SQLITE_OK;

  if (good && code != SQLITE_OK)
    good = dyno_database_fail (db, code, error);
  if (!sqlite3_get_autocommit (db->handle))
    execute (db->handle, "ROLLBACK");
  dyno_database_unlock (db);
  return good;
}
