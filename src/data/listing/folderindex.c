/* SPDX-License-Identifier: MIT */
/* Keeps the result of scanning a large image folder in the cache folder, so that a million files
 * need not be opened again.
 *
 * Invariants: an index is used whole or not at all; it is valid where its hash is right, each
 * number in it is in its range, and the stamps of all folders and of some files are unchanged; an
 * invalid index is made anew.  The cache folder keeps a bounded number of them. */
#include "cachefile.h"
#include "file.h"
#include "folderscan.h"
#include "hash.h"
#include "parallel.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <utime.h>

#define LEAST_FILES 10000
#define MAX_BYTES   (G_GUINT64_CONSTANT (1) << 30)
#define MAX_KEPT    16 /* number of indexes that are kept: the most recently used */
#define SETTLED     2  /* seconds: the resolution of a file system's clock may be this coarse */
#define BLOCK       64 /* stamps that a thread compares at a time */

static const char magic[8] = "dynoscn3";

/* Numbers of the payload, before its texts and arrays. */
typedef struct {
  guint64 n_unreadable, size_bytes, content_hash, n_refused;
  guint32 min_width, max_width, min_height, max_height;
  guint32 n_classes, n_listed, n_notes, n_folders, n_watched, n_witnesses, n_files, n_name_bytes;
  guint32 has_split, reserved;
} Facts;

typedef struct {
  guint64 stamp;
  DynoScanFile file;
} Witness;

static char *
index_path (const char *root, const DynoOpenContext *context, DynoCacheKey *key)
{
  char *real = realpath (root, NULL);
  guint32 words[] = { (guint32) context->params->links, context->max_listed };
  guint64 hash = dyno_hash_string (DYNO_HASH_START, DYNO_VERSION);

  hash = dyno_hash_string (hash, root);
  key->words[0] = dyno_hash_bytes (hash, words, sizeof words);
  key->words[1] = dyno_hash_string (DYNO_HASH_START, real ? real : "");
  free (real);
  return dyno_cache_file_path ("folders", *key, ".index");
}

/* --- witnesses -------------------------------------------------------------------------------- */

/* Paths and their earlier stamps. */
typedef struct {
  const DynoFolderScan *scan;
  const Witness *witnesses;
  guint32 n_folders, n_watched, n_witnesses;
  GCancellable *cancellable;
  gint changed; /* atomic */
} Check;

static gboolean
is_as_before (const char *path, guint64 stamp)
{
  struct stat status;

  return stat (path, &status) == 0 && dyno_scan_stamp (&status, NULL) == stamp;
}

static void
check_block (guint index, gpointer data)
{
  Check *check = data;
  const DynoFolderScan *scan = check->scan;
  guint64 total = (guint64) check->n_folders + check->n_watched + check->n_witnesses;

  for (guint64 i = (guint64) index * BLOCK; i < MIN ((guint64) (index + 1) * BLOCK, total); i++)
    {
      gboolean same;

      if (g_atomic_int_get (&check->changed) || g_cancellable_is_cancelled (check->cancellable))
        return;
      if (i < check->n_folders)
        {
          const DynoScanFolder *folder = &g_array_index (scan->folders, DynoScanFolder, i);
          same = is_as_before (folder->path, folder->stamp);
        }
      else if (i < check->n_folders + (guint64) check->n_watched)
        {
          const DynoScanWatched *watched =
              &g_array_index (scan->watched, DynoScanWatched, i - check->n_folders);
          same = is_as_before (watched->path, watched->stamp);
        }
      else
        {
          const Witness *witness = &check->witnesses[i - check->n_folders - check->n_watched];
          g_autofree char *path = dyno_folder_scan_get_path (scan, &witness->file);
          same = is_as_before (path, witness->stamp);
        }
      if (!same)
        g_atomic_int_set (&check->changed, TRUE);
    }
}

static gboolean
is_unchanged (const DynoFolderScan *scan, const Witness *witnesses, guint32 n_witnesses,
              GCancellable *cancellable)
{
  Check check = { .scan = scan,
                  .witnesses = witnesses,
                  .n_folders = scan->folders->len,
                  .n_watched = scan->watched->len,
                  .n_witnesses = n_witnesses,
                  .cancellable = cancellable };
  guint64 total = (guint64) check.n_folders + check.n_watched + n_witnesses;

  dyno_parallel_for ((guint) ((total + BLOCK - 1) / BLOCK), check_block, &check);
  return !check.changed && !g_cancellable_is_cancelled (cancellable);
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct {
  const guint8 *at;
  gsize left;
} Reader;

static const guint8 *
take (Reader *reader, guint64 size)
{
  const guint8 *at = reader->at;

  if (size > reader->left)
    return NULL;
  reader->at += size;
  reader->left -= size;
  return at;
}

static gboolean
take_number (Reader *reader, guint64 *number)
{
  const guint8 *at = take (reader, sizeof *number);

  if (at)
    memcpy (number, at, sizeof *number);
  return at != NULL;
}

/* A text of the payload, ended by 0 there; NULL: there is none. */
static const char *
take_text (Reader *reader)
{
  const guint8 *end = reader->left > 0 ? memchr (reader->at, 0, reader->left) : NULL;

  return end ? (const char *) take (reader, (guint64) (end - reader->at) + 1) : NULL;
}

static gboolean
take_texts (Reader *reader, GPtrArray *texts, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    {
      const char *text = take_text (reader);

      if (!text)
        return FALSE;
      g_ptr_array_add (texts, g_strdup (text));
    }
  return TRUE;
}

static gboolean
take_folders (Reader *reader, const Facts *facts, DynoFolderScan *scan)
{
  for (guint32 i = 0; i < facts->n_folders; i++)
    {
      DynoScanFolder folder = { 0 };
      guint64 kind;
      const char *path;

      if (!take_number (reader, &folder.stamp) || !take_number (reader, &kind)
          || !(path = take_text (reader)) || kind >> 2 >= facts->n_classes
          || (kind & 3) == DYNO_PART_NONE)
        return FALSE;
      folder.class_id = (gint32) (kind >> 2);
      folder.part = (DynoPart) (kind & 3);
      folder.path = g_strdup (path);
      g_array_append_val (scan->folders, folder);
    }
  for (guint32 i = 0; i < facts->n_watched; i++)
    {
      DynoScanWatched watched = { 0 };
      const char *path;

      if (!take_number (reader, &watched.stamp) || !(path = take_text (reader)))
        return FALSE;
      watched.path = g_strdup (path);
      g_array_append_val (scan->watched, watched);
    }
  return TRUE;
}

static gboolean
is_within (const DynoScanFile *file, const Facts *facts)
{
  return file->folder < facts->n_folders && file->name < facts->n_name_bytes;
}

/* Reads witnesses, files and names, and checks each; *witnesses points into the payload's copy. */
static gboolean
take_files (Reader *reader, const Facts *facts, DynoFolderScan *scan, Witness **witnesses)
{
  gsize witness_bytes = (gsize) facts->n_witnesses * sizeof (Witness);
  const guint8 *first = take (reader, witness_bytes),
               *files = take (reader, (guint64) facts->n_files * sizeof (DynoScanFile)),
               *names = take (reader, facts->n_name_bytes);

  if (!first || !files || !names || reader->left > 0 || facts->n_files > G_MAXINT32
      || facts->n_name_bytes > G_MAXINT32
      || (facts->n_name_bytes > 0 && names[facts->n_name_bytes - 1] != 0))
    return FALSE;
  *witnesses = g_malloc (MAX (witness_bytes, 1));
  memcpy (*witnesses, first, witness_bytes);
  g_array_append_vals (scan->files, files, facts->n_files);
  g_byte_array_append (scan->names, names, facts->n_name_bytes);
  for (guint32 i = 0; i < facts->n_witnesses; i++)
    if (!is_within (&(*witnesses)[i].file, facts))
      return FALSE;
  for (guint32 i = 0; i < facts->n_files; i++)
    if (!is_within (&g_array_index (scan->files, DynoScanFile, i), facts))
      return FALSE;
  return TRUE;
}

static void
give_facts (const DynoFolderScan *scan, const Facts *facts, DynoDataset *dataset,
            GPtrArray *classes)
{
  DynoDatasetInfo *info = &dataset->info;

  dyno_dataset_info_set_classes (info, facts->n_classes);
  for (guint32 i = 0; i < facts->n_classes; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_steal_pointer (&classes->pdata[i]);
    }
  for (guint32 i = 0; i < scan->files->len; i++)
    info->class_counts[g_array_index (scan->folders, DynoScanFolder,
                                      g_array_index (scan->files, DynoScanFile, i).folder)
                           .class_id]++;
  info->n_samples = scan->files->len;
  info->n_unreadable = facts->n_unreadable;
  info->n_refused = facts->n_refused;
  info->size_bytes = facts->size_bytes;
  info->content_hash = facts->content_hash;
  info->min_width = facts->min_width;
  info->max_width = facts->max_width;
  info->min_height = facts->min_height;
  info->max_height = facts->max_height;
  info->has_split = facts->has_split != 0;
}

static void
append_all (GPtrArray *to, GPtrArray *from)
{
  for (guint i = 0; i < from->len; i++)
    g_ptr_array_add (to, g_steal_pointer (&from->pdata[i]));
}

/* Takes the content of the payload, if all of it is valid and nothing has changed since. */
static gboolean
use (GBytes *payload, DynoFolderScan *scan, DynoDataset *dataset, const DynoOpenContext *context)
{
  g_autoptr (GPtrArray) classes = g_ptr_array_new_with_free_func (g_free),
                        listed = g_ptr_array_new_with_free_func (g_free),
                        notes = g_ptr_array_new_with_free_func (g_free),
                        first = g_ptr_array_new_with_free_func (g_free);
  g_autofree Witness *witnesses = NULL;
  Reader reader;
  Facts facts;
  const guint8 *head;

  reader.at = g_bytes_get_data (payload, &reader.left);
  head = take (&reader, sizeof facts);
  if (!head)
    return FALSE;
  memcpy (&facts, head, sizeof facts);
  if (facts.n_classes == 0 || facts.n_classes > G_MAXINT32
      || !take_texts (&reader, classes, facts.n_classes)
      || !take_texts (&reader, listed, facts.n_listed)
      || !take_texts (&reader, notes, facts.n_notes) || !take_texts (&reader, first, 1)
      || !take_folders (&reader, &facts, scan) || !take_files (&reader, &facts, scan, &witnesses)
      || !is_unchanged (scan, witnesses, facts.n_witnesses, context->cancellable))
    return FALSE;
  give_facts (scan, &facts, dataset, classes);
  append_all (dataset->unreadable, listed);
  append_all (dataset->notes, notes);
  if (facts.n_refused > 0)
    dataset->info.first_refused = g_steal_pointer (&first->pdata[0]);
  return TRUE;
}

gboolean
dyno_folder_index_load (DynoFolderScan *scan, DynoDataset *dataset, const DynoOpenContext *context)
{
  DynoCacheKey key;
  g_autofree char *path = index_path (context->location->body, context, &key);
  g_autoptr (GBytes) payload = NULL;
  GStatBuf status;

  if (context->params->index_from == G_MAXUINT || !path || g_stat (path, &status) != 0
      || (guint64) status.st_size > MAX_BYTES)
    return FALSE;
  payload = dyno_cache_file_read (path, magic, key);
  if (!payload)
    return FALSE;
  dyno_folder_scan_init (scan, context->location->body);
  if (!use (payload, scan, dataset, context))
    {
      g_debug ("The folder has changed since its index “%s”", path);
      dyno_folder_scan_clear (scan);
      return FALSE;
    }
  (void) g_utime (path, NULL); /* marks the index as the most recently used one */
  return TRUE;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void
put_number (GByteArray *payload, guint64 number)
{
  g_byte_array_append (payload, (const guint8 *) &number, sizeof number);
}

static void
put_text (GByteArray *payload, const char *text)
{
  g_byte_array_append (payload, (const guint8 *) text, (guint) strlen (text) + 1);
}

static gboolean
add_witness (const DynoFolderScan *scan, const DynoScanFile *file, GArray *witnesses,
             gint64 *newest)
{
  g_autofree char *path = dyno_folder_scan_get_path (scan, file);
  Witness witness = { .file = *file };
  struct stat status;

  if (stat (path, &status) != 0)
    return FALSE;
  witness.stamp = dyno_scan_stamp (&status, newest);
  g_array_append_val (witnesses, witness);
  return TRUE;
}

/* Takes the stamps of the files that a later opening checks; FALSE: a file is gone, or too many
 * were refused. */
static gboolean
call_witnesses (const DynoFolderScan *scan, GArray *witnesses, gint64 *newest)
{
  guint step = (scan->files->len + DYNO_INDEX_WITNESSES - 1) / DYNO_INDEX_WITNESSES;

  if (scan->n_refused > scan->refused->len)
    return FALSE;
  for (guint i = 0; i < scan->refused->len; i++)
    if (!add_witness (scan, &g_array_index (scan->refused, DynoScanFile, i), witnesses, newest))
      return FALSE;
  for (guint i = 0; i < scan->files->len; i += step)
    if (!add_witness (scan, &g_array_index (scan->files, DynoScanFile, i), witnesses, newest))
      return FALSE;
  return TRUE;
}

static void
put_folders (GByteArray *payload, const DynoFolderScan *scan)
{
  for (guint i = 0; i < scan->folders->len; i++)
    {
      const DynoScanFolder *folder = &g_array_index (scan->folders, DynoScanFolder, i);
      put_number (payload, folder->stamp);
      put_number (payload, (guint64) folder->class_id << 2 | folder->part);
      put_text (payload, folder->path);
    }
  for (guint i = 0; i < scan->watched->len; i++)
    {
      const DynoScanWatched *watched = &g_array_index (scan->watched, DynoScanWatched, i);
      put_number (payload, watched->stamp);
      put_text (payload, watched->path);
    }
}

static GByteArray *
make_payload (const DynoFolderScan *scan, const DynoDataset *dataset, const GArray *witnesses)
{
  const DynoDatasetInfo *info = &dataset->info;
  GByteArray *payload = g_byte_array_new ();
  const Facts facts = { .n_unreadable = info->n_unreadable,
                        .n_refused = info->n_refused,
                        .size_bytes = info->size_bytes,
                        .content_hash = info->content_hash,
                        .min_width = info->min_width,
                        .max_width = info->max_width,
                        .min_height = info->min_height,
                        .max_height = info->max_height,
                        .n_classes = info->n_classes,
                        .n_listed = dataset->unreadable->len,
                        .n_notes = dataset->notes->len,
                        .n_folders = scan->folders->len,
                        .n_watched = scan->watched->len,
                        .n_witnesses = witnesses->len,
                        .n_files = scan->files->len,
                        .n_name_bytes = scan->names->len,
                        .has_split = info->has_split };

  g_byte_array_append (payload, (const guint8 *) &facts, sizeof facts);
  for (guint32 i = 0; i < info->n_classes; i++)
    put_text (payload, info->class_names[i]);
  for (guint i = 0; i < dataset->unreadable->len; i++)
    put_text (payload, g_ptr_array_index (dataset->unreadable, i));
  for (guint i = 0; i < dataset->notes->len; i++)
    put_text (payload, g_ptr_array_index (dataset->notes, i));
  put_text (payload, info->first_refused ? info->first_refused : "");
  put_folders (payload, scan);
  g_byte_array_append (payload, (const guint8 *) witnesses->data,
                       witnesses->len * (guint) sizeof (Witness));
  g_byte_array_append (payload, (const guint8 *) scan->files->data,
                       scan->files->len * (guint) sizeof (DynoScanFile));
  g_byte_array_append (payload, scan->names->data, scan->names->len);
  return payload;
}

typedef struct {
  gint64 used; /* its time, in seconds */
  char *path;
} Kept;

static int
compare_used (gconstpointer a, gconstpointer b)
{
  gint64 first = ((const Kept *) a)->used, second = ((const Kept *) b)->used;
  return first < second ? 1 : first > second ? -1 : 0;
}

/* Removes the indexes that have not been used for the longest time. */
static void
keep_few (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GArray) kept = g_array_new (FALSE, FALSE, sizeof (Kept));
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      Kept one = { .path = g_build_filename (folder, name, NULL) };
      GStatBuf status;

      if (g_str_has_suffix (name, ".index") && g_stat (one.path, &status) == 0)
        {
          /* the new index is the newest, whatever the clock's resolution */
          one.used = strcmp (one.path, path) == 0 ? G_MAXINT64 : (gint64) status.st_mtime;
          g_array_append_val (kept, one);
        }
      else
        g_free (one.path);
    }
  g_array_sort (kept, compare_used);
  for (guint i = 0; i < kept->len; i++)
    {
      Kept *one = &g_array_index (kept, Kept, i);
      if (i >= MAX_KEPT)
        g_unlink (one->path);
      g_free (one->path);
    }
}

void
dyno_folder_index_save (const DynoFolderScan *scan, DynoDataset *dataset,
                        const DynoOpenContext *context, gint64 started)
{
  guint least = context->params->index_from > 0 ? context->params->index_from : LEAST_FILES;
  g_autoptr (GArray) witnesses = g_array_new (FALSE, FALSE, sizeof (Witness));
  g_autoptr (GByteArray) payload = NULL;
  g_autofree char *path = NULL;
  gint64 newest = scan->newest;
  DynoCacheKey key;

  if (scan->files->len < least || scan->unsure || !call_witnesses (scan, witnesses, &newest))
    return;
  if (newest > started - SETTLED)
    {
      g_debug ("No index of “%s”: it was still changing", scan->root);
      return;
    }
  payload = make_payload (scan, dataset, witnesses);
  path = index_path (scan->root, context, &key);
  dyno_cache_file_write (path, magic, key, payload->data, payload->len);
  if (path)
    keep_few (path);
}
