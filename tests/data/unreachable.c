/* SPDX-License-Identifier: MIT */
/* Failing disks and servers: they make no sample bad, and an interrupted epoch goes on with the
 * same batches. */
#include "data-test.h"
#include "dataset-class.h"
#include "hash.h"
#include "loader.h"
#include "npyfile.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define N    60
#define SIDE 4
#define SEED 2 /* field of the schema */

static struct {
  gint gone;      /* atomic: no sample can be read */
  gint gone_from; /* number of decodings after which the data are gone; < 0: never */
  gint alone;     /* this sample cannot be read; -1: none */
  gint once;      /* decoding this sample fails the first time; -1: none */
} disk;

static gboolean
answers (guint64 index, GError **error)
{
  if (!g_atomic_int_get (&disk.gone) && (gint) index != disk.alone)
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE, "sample %u: gone",
               (guint) index);
  return FALSE;
}

static gboolean
disk_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoDatasetInfo *info = &dataset->info;

  info->n_samples = N;
  info->min_width = info->max_width = info->min_height = info->max_height = SIDE;
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, SIDE, SIDE, 1, 0);
  dyno_dataset_info_set_classes (info, 2);
  info->class_counts[0] = info->class_counts[1] = N / 2;
  return TRUE;
}

static gboolean
disk_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
            GError **error)
{
  *fetched = 0;
  if (g_atomic_int_add (&disk.gone_from, -1) == 0)
    g_atomic_int_set (&disk.gone, TRUE);
  if ((gint) index != disk.once)
    return answers (index, error);
  disk.once = -1;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE, "once");
  return FALSE;
}

static gboolean
disk_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
             gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  memset (fields[DYNO_DATASET_INPUT], (int) index, SIDE * SIDE);
  *(gint32 *) fields[DYNO_DATASET_TARGET] = (gint32) index;
  return TRUE;
}

static gboolean
disk_probe (DynoDataset *dataset, guint64 index, GError **error)
{
  return answers (index, error);
}

static gint32
disk_label (DynoDataset *dataset, guint64 index)
{
  return (gint32) (index % 2);
}

static const DynoDatasetClass disk_class = { .kind = "disk",
                                             .title = "Disk",
                                             .open = disk_open,
                                             .fetch = disk_fetch,
                                             .decode = disk_decode,
                                             .probe = disk_probe,
                                             .label = disk_label };

static DynoLoader *
load_disk (guint workers)
{
  DynoLocation location = { .text = (char *) "disk",
                            .scheme = (char *) "disk",
                            .body = (char *) "disk" };
  DynoDatasetParams params = { 0 };
  DynoOpenContext context = { .location = &location, .params = &params, .max_listed = 1 };
  DynoLoaderParams loading = { .batch = 5,
                               .width = SIDE,
                               .height = SIDE,
                               .seed = 7,
                               .shuffle = TRUE,
                               .persistent = TRUE,
                               .prefetch = 2,
                               .workers = workers };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_new (&disk_class, &context, &error);
  g_autoptr (GArray) all = NULL, none = NULL;
  DynoLoader *loader;

  g_assert_no_error (error);
  dyno_dataset_split (dataset, 0, 0, &all, &none);
  loader = dyno_loader_new (dataset, all, &loading, &error);
  g_assert_no_error (error);
  memset (&disk, 0, sizeof disk);
  disk.gone_from = disk.alone = disk.once = -1;
  return loader;
}

/* Returns the number of batches that can be read from here on, and their hash. */
static guint
fold (DynoLoader *loader, guint64 *hash, GError **error)
{
  DynoBatch *batch;
  guint count = 0;

  for (; (batch = dyno_loader_next (loader, NULL, NULL, error)); count++)
    {
      *hash = dyno_hash_bytes (*hash, batch->fields[DYNO_DATASET_INPUT], 5 * SIDE * SIDE);
      *hash = dyno_hash_bytes (*hash, batch->fields[DYNO_DATASET_TARGET], 5 * sizeof (gint32));
      *hash = dyno_hash_bytes (*hash, batch->fields[SEED], 5 * sizeof (guint32));
      dyno_loader_release (loader, batch);
    }
  return count;
}

static void
test_outage_changes_no_batch (void)
{
  for (guint workers = 0; workers < 5; workers += 2)
    for (gint at = 0; at < N; at += 13)
      {
        g_autoptr (DynoLoader) loader = load_disk (workers);
        guint64 expected = DYNO_HASH_START, hash = DYNO_HASH_START;
        g_autoptr (GError) error = NULL;
        guint n;

        dyno_loader_start_epoch (loader, 1, 0);
        g_assert_cmpuint (fold (loader, &expected, &error), ==, N / 5);
        g_assert_no_error (error);
        g_atomic_int_set (&disk.gone_from, at);
        dyno_loader_start_epoch (loader, 1, 0);
        n = fold (loader, &hash, &error);
        g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE);
        g_assert_nonnull (strstr (error->message, "gone"));
        g_clear_error (&error);
        /* The data are still gone: a wait detects this and takes no batch. */
        dyno_loader_start_epoch (loader, 1, n);
        g_assert_false (dyno_loader_wait (loader, NULL, &error));
        g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE);
        g_clear_error (&error);
        g_atomic_int_set (&disk.gone, FALSE);
        dyno_loader_start_epoch (loader, 1, n);
        g_assert_true (dyno_loader_wait (loader, NULL, &error));
        g_assert_cmpuint (n + fold (loader, &hash, &error), ==, N / 5);
        g_assert_no_error (error);
        g_assert_cmpuint (hash, ==, expected);
        g_assert_cmpuint (dyno_loader_count_bad (loader), ==, 0);
      }
}

/* After a bad sector other samples can be read, so the sample is bad. */
static void
test_one_sample_alone_is_bad (void)
{
  for (guint workers = 0; workers < 3; workers++)
    {
      g_autoptr (DynoLoader) loader = load_disk (workers);
      guint64 hash = DYNO_HASH_START;
      g_autoptr (GError) error = NULL;

      disk.alone = 17;
      dyno_loader_start_epoch (loader, 0, 0);
      g_assert_cmpuint (fold (loader, &hash, &error), ==, N / 5);
      g_assert_no_error (error);
      g_assert_cmpuint (dyno_loader_count_bad (loader), ==, 1);
    }
}

static void
test_what_comes_back_at_once_is_read (void)
{
  g_autoptr (DynoLoader) loader = load_disk (1);
  guint64 expected = DYNO_HASH_START, hash = DYNO_HASH_START;

  dyno_loader_start_epoch (loader, 0, 0);
  fold (loader, &expected, NULL);
  disk.once = 17;
  dyno_loader_start_epoch (loader, 0, 0);
  g_assert_cmpuint (fold (loader, &hash, NULL), ==, N / 5);
  g_assert_cmpuint (hash, ==, expected);
  g_assert_cmpuint (dyno_loader_count_bad (loader), ==, 0);
}

/* --- files ------------------------------------------------------------------------------------ */

/* The descriptor of this process for path; -1: none. */
static int
find_descriptor (const char *path)
{
  for (int fd = 3; fd < 256; fd++)
    {
      g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
      g_autofree char *target = g_file_read_link (link, NULL);
      if (g_strcmp0 (target, path) == 0)
        return fd;
    }
  return -1;
}

/* As after a disk was unplugged and plugged in again: the path is valid again, the old descriptor
 * is not. */
static void
test_dead_descriptor_is_opened_again (void)
{
  g_autofree char *folder = test_folder_new (), *x = g_build_filename (folder, "X.npy", NULL),
                  *y = g_build_filename (folder, "y.npy", NULL),
                  *away = g_build_filename (folder, "away", NULL);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  float data[5 * 6], out[6];
  gint64 labels[4] = { 0, 1, 0, 1 };
  gint32 label;
  gpointer fields[] = { out, &label };
  int dead = open ("/proc/self/mem", O_RDONLY | O_CLOEXEC), fd;

  g_assert_cmpint (dead, >=, 0);
  for (guint i = 0; i < G_N_ELEMENTS (data); i++)
    data[i] = (float) i;
  g_assert_true (dyno_npy_write (x, "f4", 2, (guint64[]){ 4, 6 }, data, NULL));
  g_assert_true (dyno_npy_write (y, "i8", 1, (guint64[]){ 4 }, labels, NULL));
  dataset = test_open (x);
  g_assert_true (dyno_dataset_probe (dataset, 3, NULL));
  fd = find_descriptor (x);
  g_assert_cmpint (dup2 (dead, fd), ==, fd); /* reading its lowest addresses gives EIO */
  g_assert_true (dyno_dataset_decode (dataset, 2, 1, 1, fields, scratch, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (out, sizeof out, data + 12, sizeof out);
  g_assert_cmpint (g_rename (x, away), ==, 0);
  g_assert_false (dyno_dataset_decode (dataset, 2, 1, 1, fields, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE);
  test_has_words (error, "X.npy|Input/output error");
  g_assert_false (dyno_dataset_probe (dataset, 3, NULL));
  /* Another file at the same path is not accepted. */
  g_assert_true (dyno_npy_write (x, "f4", 2, (guint64[]){ 5, 6 }, data, NULL));
  g_clear_error (&error);
  g_assert_false (dyno_dataset_decode (dataset, 2, 1, 1, fields, scratch, &error));
  close (dead);
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/unreachable/outage-changes-no-batch", test_outage_changes_no_batch);
  g_test_add_func ("/data/unreachable/one-sample-alone-is-bad", test_one_sample_alone_is_bad);
  g_test_add_func ("/data/unreachable/what-comes-back-at-once-is-read",
                   test_what_comes_back_at_once_is_read);
  g_test_add_func ("/data/unreachable/dead-descriptor-is-opened-again",
                   test_dead_descriptor_is_opened_again);
  return g_test_run ();
}
