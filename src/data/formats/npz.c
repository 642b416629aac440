/* SPDX-License-Identifier: MIT */
/* NumPy archives (.npz): the arrays of one data set in one file, stored or deflated; arrayset.c
 * documents which arrays are accepted.  The names are X and y, or one of the usual pairs for a
 * training part and one for a validation part, a test part or both, as Keras and other programs
 * write them; upper and lower case are equal. */
#include "arrayset.h"
#include "datafile.h"
#include "intl.h"
#include "unlabelled.h"
#include <string.h>
#include <unistd.h>

#define MAX_LISTED 24
#define MAX_NAME   256

typedef struct {
  const char *x, *y;
} Pair;

static const Pair train_pairs[] = {
  { "x_train", "y_train" },
  { "train_x", "train_y" },
  { "train_images", "train_labels" },
  { "train_data", "train_labels" },
  { "x", "y" },
  { "images", "labels" },
  { "data", "labels" },
  { "data", "target" },
  { "features", "labels" },
  { "inputs", "targets" },
};

static const Pair validation_pairs[] = {
  { "x_val", "y_val" },
  { "x_valid", "y_valid" },
  { "val_x", "val_y" },
  { "val_images", "val_labels" },
};

static const Pair test_pairs[] = {
  { "x_test", "y_test" },
  { "test_x", "test_y" },
  { "test_images", "test_labels" },
  { "test_data", "test_labels" },
};

typedef struct {
  char *shown;         /* the archive, for messages */
  GHashTable *by_name; /* from a name in lower case, without .npy, to a DynoMember */
  /* from a name in by_name to one of its members, where the names of two members differ only in
   * case */
  GHashTable *twins;
  GHashTable *names;  /* names of all members, unchanged; owned by the members */
  GPtrArray *members; /* DynoMember, in the order of the archive */
} Contents;

/* TRUE for a name with which unpacking would write outside its folder. */
static gboolean
leads_out (const char *name)
{
  return name[0] == '/' || name[0] == '\\' || g_str_has_prefix (name, "../")
         || g_str_has_prefix (name, "..\\") || strstr (name, "/../") || strstr (name, "\\..\\");
}

/* Matches by the name of the file, or by the name of its first member, which is in the first
 * bytes. */
static gboolean
npz_matches (const DynoLocation *location)
{
  guint8 head[30 + MAX_NAME];
  g_autofree char *name = NULL;
  guint64 size;
  gssize n;
  guint length;
  int fd;

  if (location->scheme || !location->is_regular || location->head_size < 4
      || memcmp (location->head, "PK\3\4", 4) != 0)
    return FALSE;
  if (g_str_has_suffix (location->body, ".npz"))
    return TRUE;
  fd = dyno_datafile_open (location->body, &size, NULL);
  if (fd < 0)
    return FALSE;
  n = dyno_datafile_pread (fd, head, sizeof head, 0);
  close (fd);
  length = n >= 30 ? (guint) head[26] | (guint) head[27] << 8 : 0;
  if (length <= 4 || length > MAX_NAME || n < (gssize) (30 + length)
      || memcmp (head + 30 + length - 4, ".npy", 4) != 0)
    return FALSE;
  name = g_strndup ((const char *) head + 30, length);
  return !strchr (name + (g_str_has_prefix (name, "./") ? 2 : 0), '/') || leads_out (name);
}

static void
member_free (gpointer data)
{
  DynoMember *member = data;

  g_free ((char *) member->name);
  g_free (member);
}

static gboolean
refuse_name (const Contents *contents, const char *name, const char *why, GError **error)
{
  g_autofree char *inner = g_filename_display_name (name);

  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s: %s”: %s; make the archive again with numpy.savez"), contents->shown, inner,
               why);
  return FALSE;
}

static gboolean
take_member (const DynoMember *member, gpointer data, GError **error)
{
  Contents *contents = data;
  DynoMember *own;
  char *name;

  if (leads_out (member->name))
    return refuse_name (contents, member->name, _ ("its name leads out of the archive"), error);
  if (g_hash_table_contains (contents->names, member->name))
    return refuse_name (contents, member->name,
                        _ ("two members have this name, and which one is meant is not known"),
                        error);
  own = g_memdup2 (member, sizeof *member);
  own->name = g_strdup (member->name);
  g_ptr_array_add (contents->members, own);
  g_hash_table_add (contents->names, (gpointer) own->name);
  if (!g_str_has_suffix (own->name, ".npy"))
    return TRUE;
  name = g_ascii_strdown (own->name, (gssize) strlen (own->name) - 4);
  if (g_hash_table_contains (contents->by_name, name))
    g_hash_table_insert (contents->twins, g_strdup (name), own);
  g_hash_table_replace (contents->by_name, name, own);
  return TRUE;
}

static const Pair *
find_pair (const Contents *contents, const Pair *pairs, gsize n_pairs)
{
  for (gsize i = 0; i < n_pairs; i++)
    if (g_hash_table_contains (contents->by_name, pairs[i].x)
        && g_hash_table_contains (contents->by_name, pairs[i].y))
      return &pairs[i];
  return NULL;
}

static gboolean
read_contents (Contents *contents, const DynoOpenContext *context, GError **error)
{
  guint64 size;
  gboolean ok;
  int fd = dyno_datafile_open (context->location->body, &size, error);

  if (fd < 0)
    return FALSE;
  ok =
      dyno_zip_walk (fd, size, contents->shown, take_member, contents, context->cancellable, error);
  close (fd);
  return ok;
}

/* "x.npy: float32 (60000, 28, 28); ..." */
static char *
describe_contents (const Contents *contents, const char *path)
{
  GString *list = g_string_new (contents->members->len > 0 ? NULL : _ ("nothing"));

  for (guint i = 0; i < MIN (contents->members->len, MAX_LISTED); i++)
    {
      const DynoMember *member = g_ptr_array_index (contents->members, i);
      g_autofree char *name = g_filename_display_name (member->name),
                      *what = member->refused ? g_strdup (member->refused)
                                              : dyno_array_describe_member (path, member);
      g_string_append_printf (list, "%s%s: %s", i > 0 ? "; " : "", name, what);
    }
  if (contents->members->len > MAX_LISTED)
    g_string_append_printf (list, _ ("; and %u more"), contents->members->len - MAX_LISTED);
  return g_string_free (list, FALSE);
}

static gboolean
set_unknown (const Contents *contents, const char *path, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path),
                  *list = describe_contents (contents, path);

  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
               _ ("“%s” has no arrays X and y, or x_train, y_train, x_test and y_test; it holds "
                  "%s; save it again with these names"),
               shown, list);
  return FALSE;
}

static gboolean
open_named (DynoArray *array, const Contents *contents, const char *name,
            const DynoOpenContext *context, GError **error)
{
  const DynoMember *member = g_hash_table_lookup (contents->by_name, name);
  g_autofree char *inner = NULL;

  *array = DYNO_ARRAY_NONE;
  if (g_hash_table_contains (contents->twins, name))
    return refuse_name (contents, member->name,
                        _ ("another member has this name in other capitals, and which one is meant "
                           "is not known"),
                        error);
  if (!member->refused)
    return dyno_array_open_member (array, context->location->body, member, error);
  inner = g_filename_display_name (member->name);
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "“%s: %s”: %s", contents->shown,
               inner, member->refused);
  return FALSE;
}

/* The requested targets: a name in the archive, or a file. */
static gboolean
open_targets (DynoArray *array, const Contents *contents, const char *name,
              const DynoOpenContext *context, GError **error)
{
  const char *asked = context->params->targets;
  g_autofree char *inner = asked ? g_ascii_strdown (asked, -1) : NULL;

  if (!asked)
    return open_named (array, contents, name, context, error);
  if (g_hash_table_contains (contents->by_name, inner))
    return open_named (array, contents, inner, context, error);
  return dyno_array_open (array, asked, error);
}

static gboolean
take_part (DynoDataset *dataset, const Contents *contents, const Pair *pair,
           const DynoOpenContext *context, GError **error)
{
  DynoArray x, y;

  return open_named (&x, contents, pair->x, context, error)
         && dyno_array_set_take (dataset, &x, context, error)
         && open_targets (&y, contents, pair->y, context, error)
         && dyno_array_set_learn (dataset, &y, error);
}

static void
note_unused (DynoDataset *dataset, const Contents *contents, const Pair *pairs, gsize n_pairs,
             const Pair *used)
{
  for (gsize i = 0; i < n_pairs; i++)
    if (!g_str_equal (pairs[i].x, used->x) && g_hash_table_contains (contents->by_name, pairs[i].x))
      g_ptr_array_add (
          dataset->notes,
          g_strdup_printf (_ ("The array “%s” is not used: “%s” is taken for its part"), pairs[i].x,
                           used->x));
}

static gboolean
load (DynoDataset *dataset, const Contents *contents, const DynoOpenContext *context,
      GError **error)
{
  const char *path = context->location->body;
  const Pair *train = find_pair (contents, train_pairs, G_N_ELEMENTS (train_pairs));
  const Pair *validation = find_pair (contents, validation_pairs, G_N_ELEMENTS (validation_pairs));
  const Pair *test = find_pair (contents, test_pairs, G_N_ELEMENTS (test_pairs));
  g_autofree char *stem =
      g_str_has_suffix (path, ".npz") ? g_strndup (path, strlen (path) - 4) : g_strdup (path);

  if (!train && context->params->targets && g_hash_table_contains (contents->by_name, "x"))
    train = &train_pairs[4];
  if (!train)
    return set_unknown (contents, path, error);
  /* Requested targets belong to the samples of one part, so there is no other part. */
  if (context->params->targets)
    validation = test = NULL;
  if (!take_part (dataset, contents, train, context, error)
      || (validation && !take_part (dataset, contents, validation, context, error))
      || (test && !take_part (dataset, contents, test, context, error)))
    return FALSE;
  if (validation)
    note_unused (dataset, contents, validation_pairs, G_N_ELEMENTS (validation_pairs), validation);
  if (test)
    note_unused (dataset, contents, test_pairs, G_N_ELEMENTS (test_pairs), test);
  return dyno_array_set_finish (dataset, stem, context, error);
}

/* Adds the name of the samples of the first complete pair, else the first such name that exists. */
static void
add_samples (GPtrArray *names, const Contents *contents, const Pair *pairs, gsize n_pairs)
{
  const Pair *pair = find_pair (contents, pairs, n_pairs);

  for (gsize i = 0; !pair && i < n_pairs; i++)
    if (g_hash_table_contains (contents->by_name, pairs[i].x))
      pair = &pairs[i];
  if (pair)
    g_ptr_array_add (names, (gpointer) pair->x);
}

/* Names of the arrays of samples, with or without targets: the arrays of a training, a validation
 * and a test part, else the only array of the archive. */
static GPtrArray *
list_samples (const Contents *contents)
{
  GPtrArray *names = g_ptr_array_new ();

  add_samples (names, contents, train_pairs, G_N_ELEMENTS (train_pairs));
  add_samples (names, contents, validation_pairs, G_N_ELEMENTS (validation_pairs));
  add_samples (names, contents, test_pairs, G_N_ELEMENTS (test_pairs));
  if (names->len == 0 && g_hash_table_size (contents->by_name) == 1)
    {
      GHashTableIter iter;
      gpointer name;

      g_hash_table_iter_init (&iter, contents->by_name);
      g_hash_table_iter_next (&iter, &name, NULL);
      g_ptr_array_add (names, name);
    }
  return names;
}

static gboolean
set_no_samples (const Contents *contents, const char *path, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path),
                  *list = describe_contents (contents, path);

  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
               _ ("“%s” has no array X and several arrays; it holds %s; save the samples as X"),
               shown, list);
  return FALSE;
}

static void
init_contents (Contents *contents, const char *path)
{
  contents->shown = g_filename_display_name (path);
  contents->by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  contents->twins = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  contents->names = g_hash_table_new (g_str_hash, g_str_equal);
  contents->members = g_ptr_array_new_with_free_func (member_free);
}

static void
clear_contents (Contents *contents)
{
  g_hash_table_unref (contents->by_name);
  g_hash_table_unref (contents->twins);
  g_hash_table_unref (contents->names);
  g_ptr_array_unref (contents->members);
  g_free (contents->shown);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Contents, clear_contents)

gboolean
dyno_npz_each_samples (const char *path, const DynoOpenContext *context, DynoSamplesFunc func,
                       gpointer data, GError **error)
{
  DynoLocation location = { .body = (char *) path };
  DynoOpenContext own = *context;
  g_autoptr (GPtrArray) names = NULL;
  g_auto (Contents) contents;

  init_contents (&contents, path);
  own.location = &location;
  if (!read_contents (&contents, &own, error))
    return FALSE;
  names = list_samples (&contents);
  if (names->len == 0)
    return set_no_samples (&contents, path, error);
  for (guint i = 0; i < names->len; i++)
    {
      DynoArray x;
      if (!open_named (&x, &contents, g_ptr_array_index (names, i), &own, error)
          || !func (&x, data, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
npz_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  g_auto (Contents) contents;

  init_contents (&contents, context->location->body);
  return read_contents (&contents, context, error) && load (dataset, &contents, context, error);
}

const DynoDatasetClass dyno_dataset_class_npz = {
  .kind = "npz",
  .title = "NumPy archive",
  .matches = npz_matches,
  .open = npz_open,
  .close = dyno_array_set_close,
  .fetch = dyno_array_set_fetch,
  .decode = dyno_array_set_decode,
  .decode_at_once = dyno_array_set_decode_at_once,
  .label = dyno_array_set_label,
  .values = dyno_array_set_values,
  .probe = dyno_array_set_probe,
  .part = dyno_array_set_part,
};
