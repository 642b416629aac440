/* SPDX-License-Identifier: MIT */
/* Reads the headers of found files: a few threads take runs of files from a counter, since most of
 * the time they wait for the disk.  Their results are combined such that the order of the threads
 * does not matter. */
#include "datafile.h"
#include "cores.h"
#include "folderscan.h"
#include "hash.h"
#include "image.h"
#include <string.h>
#include <unistd.h>

#define RUN         64
#define MAX_THREADS 8

typedef struct {
  guint32 file;
  char *reason;
} Refused;

typedef struct {
  const DynoFolderScan *scan;
  const DynoOpenContext *context;
  guint8 *readable; /* (files) */
  gint next_run;    /* atomic */
  gint stop;        /* atomic */

  GMutex mutex; /* guards what follows */
  GCond ended;
  guint running;
  guint64 found, size_bytes, content_hash;
  guint32 min_width, max_width, min_height, max_height;
  gboolean unsure; /* the disk or the owner refuses a file, not its content */
  GArray *refused; /* Refused; the first max_listed of each thread: no more can be listed */
} Probe;

typedef struct {
  guint64 found, size_bytes, content_hash;
  guint32 min_width, max_width, min_height, max_height;
  gboolean unsure;
} Tally;

static gboolean
probe_path (const char *path, DynoImageFacts *facts, guint64 *size, GError **error)
{
  int fd = dyno_datafile_open (path, size, error);
  gboolean ok;

  if (fd < 0)
    return FALSE;
  ok = dyno_image_probe_file (fd, 0, *size, facts, error);
  close (fd);
  if (ok && *size > DYNO_IMAGE_MAX_FILE_BYTES)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                           "file of more than 256 MB");
      return FALSE;
    }
  return ok;
}

static void
probe_one (Probe *probe, guint32 i, Tally *tally, GArray *refused)
{
  const DynoScanFile *file = &g_array_index (probe->scan->files, DynoScanFile, i);
  const DynoScanFolder *folder =
      &g_array_index (probe->scan->folders, DynoScanFolder, file->folder);
  g_autofree char *path = dyno_folder_scan_get_path (probe->scan, file);
  g_autoptr (GError) error = NULL;
  DynoImageFacts facts;
  guint64 size, words[2];
  guint32 width, height;

  if (!probe_path (path, &facts, &size, &error))
    {
      Refused one = { .file = i };
      tally->unsure |= !g_error_matches (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED)
                       && !g_error_matches (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT)
                       && !g_error_matches (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
      if (refused->len < probe->context->max_listed)
        {
          one.reason = g_strdup (error->message);
          g_array_append_val (refused, one);
        }
      return;
    }
  probe->readable[i] = TRUE;
  tally->found++;
  tally->size_bytes += size;
  /* A sum, so that the order of threads does not matter; the path within the data set makes each
   * term its own. */
  words[0] = size;
  words[1] = (guint64) folder->class_id << 1 | (folder->part > DYNO_PART_TRAIN);
  tally->content_hash += dyno_hash_bytes (
      dyno_hash_string (DYNO_HASH_START, path + strlen (probe->scan->root)), words, sizeof words);
  dyno_image_get_shown (&facts, &width, &height);
  tally->min_width = MIN (tally->min_width, width);
  tally->max_width = MAX (tally->max_width, width);
  tally->min_height = MIN (tally->min_height, height);
  tally->max_height = MAX (tally->max_height, height);
}

static void
add_tally (Probe *probe, const Tally *tally)
{
  probe->found += tally->found;
  probe->size_bytes += tally->size_bytes;
  probe->content_hash += tally->content_hash;
  probe->min_width = MIN (probe->min_width, tally->min_width);
  probe->max_width = MAX (probe->max_width, tally->max_width);
  probe->min_height = MIN (probe->min_height, tally->min_height);
  probe->max_height = MAX (probe->max_height, tally->max_height);
  probe->unsure |= tally->unsure;
}

static gpointer
probe_main (gpointer data)
{
  Probe *probe = data;
  guint32 n_files = probe->scan->files->len;
  g_autoptr (GArray) refused = g_array_new (FALSE, FALSE, sizeof (Refused));
  guint64 first;

  while (!g_atomic_int_get (&probe->stop)
         && (first = (guint64) g_atomic_int_add (&probe->next_run, 1) * RUN) < n_files)
    {
      Tally tally = { .min_width = G_MAXUINT32, .min_height = G_MAXUINT32 };

      for (guint64 i = first; i < MIN (first + RUN, n_files); i++)
        probe_one (probe, (guint32) i, &tally, refused);
      g_mutex_lock (&probe->mutex);
      add_tally (probe, &tally);
      g_mutex_unlock (&probe->mutex);
    }
  g_mutex_lock (&probe->mutex);
  g_array_append_vals (probe->refused, refused->data, refused->len);
  probe->running--;
  g_cond_signal (&probe->ended);
  g_mutex_unlock (&probe->mutex);
  return NULL;
}

/* Starts the threads and waits for them; this thread reports progress and checks for
 * cancellation. */
static void
run_threads (Probe *probe)
{
  GThread *threads[MAX_THREADS];
  guint wanted = CLAMP (dyno_cores_count (), 2, MAX_THREADS), started = 0;
  guint64 found;

  wanted = MIN (wanted, probe->scan->files->len / RUN + 1);
  g_mutex_lock (&probe->mutex);
  for (guint i = 0; i < wanted; i++)
    {
      threads[started] = g_thread_try_new ("dyno-scan", probe_main, probe, NULL);
      started += threads[started] != NULL;
    }
  probe->running = started > 0 ? started : 1;
  g_mutex_unlock (&probe->mutex);
  if (started == 0)
    probe_main (probe);

  g_mutex_lock (&probe->mutex);
  while (probe->running > 0)
    {
      if (g_cond_wait_until (&probe->ended, &probe->mutex,
                             g_get_monotonic_time () + G_USEC_PER_SEC / 10))
        continue;
      found = probe->scan->files->len;
      g_mutex_unlock (&probe->mutex);
      if (g_cancellable_is_cancelled (probe->context->cancellable))
        g_atomic_int_set (&probe->stop, TRUE);
      else if (probe->context->progress)
        probe->context->progress (found, probe->context->progress_data);
      g_mutex_lock (&probe->mutex);
    }
  g_mutex_unlock (&probe->mutex);
  for (guint i = 0; i < started; i++)
    g_thread_join (threads[i]);
}

static int
compare_refused (gconstpointer a, gconstpointer b)
{
  guint32 first = ((const Refused *) a)->file, second = ((const Refused *) b)->file;
  return first < second ? -1 : first > second;
}

/* Writes the facts into info; the list keeps the readable files, in their order. */
static void
take_results (DynoFolderScan *scan, DynoDataset *dataset, Probe *probe, guint max_listed)
{
  DynoDatasetInfo *info = &dataset->info;
  guint32 kept = 0, n_files = scan->files->len;

  g_array_sort (probe->refused, compare_refused);
  for (guint i = 0; i < probe->refused->len; i++)
    {
      Refused *one = &g_array_index (probe->refused, Refused, i);
      g_autofree char *path =
          dyno_folder_scan_get_path (scan, &g_array_index (scan->files, DynoScanFile, one->file));
      if (dataset->unreadable->len < max_listed)
        {
          g_autofree char *shown = g_filename_display_name (path);
          g_ptr_array_add (dataset->unreadable, g_strdup_printf ("%s: %s", shown, one->reason));
        }
      if (!info->first_refused && dyno_name_is_sample (path))
        {
          g_autofree char *shown = g_filename_display_name (path);
          info->first_refused = g_strdup_printf ("%s: %s", shown, one->reason);
        }
      g_free (one->reason);
    }
  for (guint32 i = 0; i < n_files; i++)
    if (probe->readable[i])
      {
        DynoScanFile file = g_array_index (scan->files, DynoScanFile, i);
        g_array_index (scan->files, DynoScanFile, kept++) = file;
        info->class_counts[g_array_index (scan->folders, DynoScanFolder, file.folder).class_id]++;
      }
    else
      {
        const DynoScanFile *file = &g_array_index (scan->files, DynoScanFile, i);

        info->n_refused += dyno_name_is_sample ((const char *) scan->names->data + file->name);
        if (++scan->n_refused <= DYNO_INDEX_WITNESSES)
          g_array_append_val (scan->refused, *file);
      }
  scan->unsure |= probe->unsure;
  g_array_set_size (scan->files, kept);
  info->n_samples = kept;
  info->n_unreadable += n_files - kept;
  info->size_bytes = probe->size_bytes;
  info->content_hash = probe->content_hash;
  info->min_width = kept > 0 ? probe->min_width : 0;
  info->min_height = kept > 0 ? probe->min_height : 0;
  info->max_width = probe->max_width;
  info->max_height = probe->max_height;
}

gboolean
dyno_folder_probe (DynoFolderScan *scan, DynoDataset *dataset, const DynoOpenContext *context,
                   GError **error)
{
  Probe probe = {
    .scan = scan, .context = context, .min_width = G_MAXUINT32, .min_height = G_MAXUINT32
  };
  g_autofree guint8 *readable = g_new0 (guint8, MAX (scan->files->len, 1));
  gboolean cancelled;

  probe.readable = readable;
  probe.content_hash = DYNO_HASH_START;
  probe.refused = g_array_new (FALSE, FALSE, sizeof (Refused));
  g_mutex_init (&probe.mutex);
  g_cond_init (&probe.ended);
  run_threads (&probe);
  take_results (scan, dataset, &probe, context->max_listed);
  cancelled = g_cancellable_set_error_if_cancelled (context->cancellable, error);
  g_array_unref (probe.refused);
  g_mutex_clear (&probe.mutex);
  g_cond_clear (&probe.ended);
  return !cancelled;
}
