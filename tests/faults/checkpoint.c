/* SPDX-License-Identifier: MIT */
/* Writing a checkpoint, and any file that is replaced as a whole: at each of its system calls the
 * process is killed, or the call fails with a full disk, a limit, or a device error. */
#include "calls.h"
#include "base-error.h"
#include "checkpoint.h"
#include "file.h"
#include "runfolder.h"
#include "train-test.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CALLS 1000 /* a loop that does not end before is an error */

static DynoGraph *graph;

/* --- writing ---------------------------------------------------------------------------------- */

static DynoState *
make_state (float value)
{
  DynoState *state = g_new0 (DynoState, 1);
  DynoWeights **parts[] = { &state->model, &state->moment1 };

  state->graph = graph;
  state->scaler.scale = value;
  for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
    {
      *parts[k] = dyno_weights_new (graph, NULL);
      for (guint i = 0; i < (*parts[k])->n; i++)
        (*parts[k])->values[i][0] = value + (float) k;
    }
  return state;
}

/* Writes version v of the file. */
typedef gboolean (*Writer) (const char *path, guint version, GError **error);

static gboolean
write_checkpoint (const char *path, guint version, GError **error)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoState) state = make_state ((float) version);
  DynoPosition position = { .step = version };

  return dyno_checkpoint_write (path, state, job, 7, &position, error);
}

static gboolean
write_text (const char *path, guint version, GError **error)
{
  g_autofree char *text = g_strnfill (100000, (char) ('a' + version));

  return dyno_file_write_atomic (path, text, 100000, error);
}

/* --- the folder ------------------------------------------------------------------------------- */

typedef struct {
  Writer write;
  char *folder, *path, *previous;
  char *texts[4]; /* the file's content in each version */
  gsize size;     /* the same in all */
} Case;

static void
read_text (Case *c, const char *path, char **text)
{
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, text, &c->size, &error);
  g_assert_no_error (error);
}

static void
case_init (Case *c, Writer writer)
{
  *c = (Case){ .write = writer, .folder = test_folder () };
  c->path = g_build_filename (c->folder, DYNO_CHECKPOINT_NAME, NULL);
  c->previous = g_build_filename (c->folder, DYNO_CHECKPOINT_NAME_PREVIOUS, NULL);
  for (guint v = 0; v < G_N_ELEMENTS (c->texts); v++)
    {
      g_assert_true (c->write (c->path, v, NULL));
      read_text (c, c->path, &c->texts[v]);
    }
}

static void
case_clear (Case *c)
{
  for (guint v = 0; v < G_N_ELEMENTS (c->texts); v++)
    g_free (c->texts[v]);
  test_remove_tree (c->folder);
  g_free (c->folder);
  g_free (c->path);
  g_free (c->previous);
}

/* Restores versions 0 and 1 of the file. */
static void
reset (Case *c)
{
  g_unlink (c->path);
  g_unlink (c->previous);
  g_assert_true (c->write (c->path, 0, NULL) && c->write (c->path, 1, NULL));
}

/* The version that a file equals, byte for byte. */
static guint
version_of (Case *c, const char *path)
{
  g_autofree char *text = NULL;
  gsize size = c->size;

  read_text (c, path, &text);
  g_assert_cmpuint (c->size, ==, size);
  for (guint v = 0; v < G_N_ELEMENTS (c->texts); v++)
    if (memcmp (text, c->texts[v], size) == 0)
      return v;
  g_assert_not_reached ();
}

static guint
count_temporaries (Case *c)
{
  g_autoptr (GDir) folder = g_dir_open (c->folder, 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (folder)))
    n += name[0] == '.';
  return n;
}

/* Cleans up as the start of the next run does. */
static void
start_next (Case *c)
{
  g_autoptr (GError) error = NULL;
  DynoRunFolder *dir = dyno_run_folder_open (c->folder, &error);
  DynoMetrics *metrics = dyno_metrics_new ();

  g_assert_no_error (error);
  g_assert_true (dyno_run_folder_begin (dir, metrics, &error));
  dyno_run_folder_free (dir);
  dyno_metrics_unref (metrics);
  g_assert_cmpuint (count_temporaries (c), ==, 0);
}

/* Checks that the file has the new or the old version; with the old one, the previous file is still
 * there. */
static guint
check_whole (Case *c)
{
  guint now = version_of (c, c->path);

  g_assert_true (now == 1 || now == 2);
  if (c->write == write_checkpoint)
    g_assert_cmpuint (version_of (c, c->previous), <=, 1);
  return now;
}

/* --- tests ------------------------------------------------------------------------------------ */

/* The bytes reach the disk before the name does, and the name is synced too. */
static void
test_order (gconstpointer data)
{
  g_autofree char *list = NULL, *named = NULL;
  g_auto (GStrv) lines = NULL;
  int fd = -1, folder_fd = -1;
  gboolean written = FALSE, synced = FALSE, renamed = FALSE, durable = FALSE;
  Case c;

  case_init (&c, (Writer) data);
  reset (&c);
  calls_arm (0, 0);
  g_assert_true (c.write (c.path, 2, NULL));
  calls_disarm (&list);
  named = g_strdup_printf (" %s", c.path);
  lines = g_strsplit (list, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    {
      int number = lines[i][0] ? atoi (strchr (lines[i], ' ') + 1) : -1;

      if (g_str_has_prefix (lines[i], "opened ") && g_str_has_suffix (lines[i], c.folder))
        folder_fd = number;
      else if (g_str_has_prefix (lines[i], "opened ") && fd < 0)
        fd = number;
      else if (g_str_has_prefix (lines[i], "write "))
        {
          g_assert_cmpint (number, ==, fd);
          g_assert_false (synced); /* nothing is written after the sync */
          written = TRUE;
        }
      else if (g_str_has_prefix (lines[i], "fsync ") && number == fd && !renamed)
        synced = TRUE;
      else if (g_str_has_prefix (lines[i], "fsync ") && number == folder_fd)
        durable = renamed;
      else if (g_str_has_prefix (lines[i], "rename ") && g_str_has_suffix (lines[i], named))
        {
          g_assert_true (written && synced);
          renamed = TRUE;
        }
    }
  g_assert_true (renamed && durable);
  case_clear (&c);
}

/* After a kill at each call, also in the middle of the writes, the file has one of the two
 * versions, complete; the next start removes other files. */
static void
test_killed (gconstpointer data)
{
  gboolean over = FALSE;
  guint old = 0, renewed = 0;
  Case c;

  case_init (&c, (Writer) data);
  for (guint at = 1; !over; at++)
    {
      int status = 0;
      pid_t child;

      g_assert_cmpuint (at, <, MOST_CALLS);
      reset (&c);
      child = fork ();
      g_assert_cmpint (child, >=, 0);
      if (child == 0)
        {
          calls_arm (at, 0);
          _exit (c.write (c.path, 2, NULL) ? 0 : 1);
        }
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      over = WIFEXITED (status) && WEXITSTATUS (status) == 0;
      g_assert_true (over || (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL));
      if (check_whole (&c) == 1)
        old++;
      else
        renewed++;
      start_next (&c);
    }
  g_assert_cmpuint (old, >=, 4);
  g_assert_cmpuint (renewed, >=, 2);
  case_clear (&c);
}

/* Whether the at-th listed call is needed for the bytes to be on disk before the file gets its
 * name. */
static gboolean
is_needed (const char *list, guint at, const char *path)
{
  g_auto (GStrv) lines = g_strsplit (list, "\n", -1);
  g_autofree char *named = g_strdup_printf (" %s", path);
  gboolean renamed = FALSE;

  for (guint i = 0; lines[i]; i++)
    {
      if (g_str_has_prefix (lines[i], "opened ")) /* a note on an open, and no call */
        continue;
      if (--at == 0)
        return g_str_has_prefix (lines[i], "write ")
               || (g_str_has_prefix (lines[i], "fsync ") && !renamed);
      renamed =
          renamed || (g_str_has_prefix (lines[i], "rename ") && g_str_has_suffix (lines[i], named));
    }
  return FALSE;
}

/* Each call fails once, which gives an error with the name of the file, or a file that is written
 * nevertheless; then it can be written again. */
static void
test_failing (gconstpointer data)
{
  static const int codes[] = { ENOSPC, EDQUOT, EFBIG, EIO };
  Case c;

  case_init (&c, (Writer) data);
  for (guint k = 0; k < G_N_ELEMENTS (codes); k++)
    {
      guint failures = 0, lost = 0;
      gboolean over = FALSE;

      for (guint at = 1; !over; at++)
        {
          g_autoptr (GError) error = NULL;
          g_autofree char *list = NULL;
          gboolean written;

          g_assert_cmpuint (at, <, MOST_CALLS);
          reset (&c);
          calls_arm (at, codes[k]);
          written = c.write (c.path, 2, &error);
          over = calls_disarm (&list) < at;
          g_assert_cmpint (written, ==, !error);
          g_assert_false (written && is_needed (list, at, c.path));
          g_assert_cmpuint (check_whole (&c), ==, written ? 2 : 1);
          if (error)
            {
              g_assert_error (error, DYNO_BASE_ERROR,
                              (codes[k] == EIO ? DYNO_BASE_ERROR_IO : DYNO_BASE_ERROR_DISK));
              g_assert_nonnull (strstr (error->message, DYNO_CHECKPOINT_NAME));
              failures++;
            }
          if (error && c.write == write_checkpoint)
            lost += version_of (&c, c.previous) != 0;
          g_assert_true (c.write (c.path, 3, &error));
          g_assert_cmpuint (version_of (&c, c.path), ==, 3);
        }
      g_assert_cmpuint (failures, >=, 4); /* open, write, fsync, rename */
      /* the previous file is removed once the new one is complete: only the last rename can fail
       * later */
      g_assert_cmpuint (lost, <=, 1);
    }
  /* A call that removes a temporary file may fail as well: the next start removes it. */
  start_next (&c);
  case_clear (&c);
}

int
main (int argc, char **argv)
{
  DynoNetworkParams params = { .model = "mlp",
                               .model_width = 0.05,
                               .batch = 1,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 8, 8, 3, 0),
                               .n_outputs = 2,
                               .mode = DYNO_MODE_TRAIN,
                               .loss = DYNO_LOSS_CROSS_ENTROPY };
  int status;

  g_test_init (&argc, &argv, NULL);
  graph = dyno_network_build (&params, NULL);
  g_assert_nonnull (graph);
  g_test_add_data_func ("/faults/checkpoint/on-the-disk-before-it-has-its-name", write_checkpoint,
                        test_order);
  g_test_add_data_func ("/faults/checkpoint/killed-at-each-call-is-old-or-new", write_checkpoint,
                        test_killed);
  g_test_add_data_func ("/faults/checkpoint/each-call-that-fails-keeps-the-old", write_checkpoint,
                        test_failing);
  g_test_add_data_func ("/faults/file/on-the-disk-before-it-has-its-name", write_text, test_order);
  g_test_add_data_func ("/faults/file/killed-at-each-call-is-old-or-new", write_text, test_killed);
  g_test_add_data_func ("/faults/file/each-call-that-fails-keeps-the-old", write_text,
                        test_failing);
  status = g_test_run ();
  dyno_graph_free (graph);
  return status;
}
