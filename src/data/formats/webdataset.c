/* SPDX-License-Identifier: MIT */
/* WebDataset: .tar shards whose members of one name, one after another, make a sample: key.jpg
 * (png, webp, ...; or key.input.jpg) with key.cls (a class's number or name; or key.target.cls),
 * key.json ("label", "cls" or "class", a name or number; "values", a list of numbers; or "labels",
 * a list of names, or of 1, 0 and -1 for each label; "split") or key.txt (one line).  One shard, a
 * folder of them, or a pattern shard-{000..012}.tar.
 *
 * convert.c adds to a .json: "crop_xywh", the piece of the image that is the sample; "value_names",
 * the names of the values, a line each; the members in packed.h; and "source_index", the sample's
 * place in the packed data set: where all samples have different ones, they are put into that
 * order.  The other members count only beside a source_index.
 *
 * packedarrays.c reads samples that are arrays (key.npy) instead of images.
 *
 * Invariants: the shards are listed once, at open, in the order of their names, and only the small
 * members are read; samples are read from their places in any order, so that they are shuffled like
 * other samples.  A sample without label, or without image, is listed. */
#include "webdataset.h"
#include "datafile.h"
#include "intl.h"
#include "members.h"
#include "partnames.h"
#include "shards.h"
#include "targetnames.h"
#include "texttable.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MAX_LABEL (64 * 1024)
#define MAX_LINE  256
#define MAX_MET   200
#define PEEKED    16 /* members that decide the kind */
#define NO_PLACE  G_MAXUINT64

typedef enum { FROM_NOTHING, FROM_TXT, FROM_JSON, FROM_CLS, FROM_LABELS } LabelSource;
/* Values and flags are numbers joined by spaces, names texts joined by a separator. */
typedef enum { A_CLASS, VALUES, FLAGS, NAMES } Target;
/* The rank of a member by the text after its key: of two members of one kind the simpler name is
 * used, key.jpg rather than key.input.jpg. */
typedef enum { RANK_NONE, RANK_WORD, RANK_PLAIN } Rank;

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  DynoLabelTable labels;
  guint32 container;
  int fd;
  guint64 n_unlabelled; /* samples of the test part, as contests give them */
  DynoPart shard_part;  /* NONE: the shard trains */
  gboolean any;         /* the list has a sample, which fixes the kind of target, first */
  Target first;
  GArray *marks; /* DynoLabelMark, of samples with names of labels */

  /* the current sample, whose members are being read */
  GString *key;
  DynoListedImage item;
  DynoPart part;               /* NONE: none is named */
  Rank image_rank, label_rank; /* NONE: the sample has no such member yet */
  GString *image_name;
  GString *met; /* members that it has, by the text after the key */
  LabelSource source;
  char *label; /* see Target */
  Target target;
  DynoImageBox box;          /* width 0: there is none */
  const char *refused;       /* why the content of the .json is not valid */
  guint64 place;             /* place in the packed data set */
  GArray *places;            /* guint64, of all samples */
  char **names;              /* names of the values; NULL: none were found */
  const char *const *inputs; /* endings of samples */
  DynoPacked *packed;
} Load;

/* Splits "folder/key.ext" into the length of key with its folder, and ext in lower case; FALSE: the
 * name has no extension. */
static gboolean
split_name (const char *name, gsize *key_length, char **extension)
{
  const char *slash = strrchr (name, '/'), *base = slash ? slash + 1 : name,
             *dot = strchr (base, '.');

  if (!dot || dot == base || dot[1] == '\0')
    return FALSE;
  *key_length = (gsize) (dot - name);
  *extension = g_ascii_strdown (dot + 1, -1);
  return TRUE;
}

static gboolean
is_one_of (const char *word, const char *const *words)
{
  return g_strv_contains (words, word);
}

const char *const dyno_webdataset_images[] = { "jpg", "jpeg", "png", "webp", "bmp",
                                               "tif", "tiff", "img", NULL };
static const char *const label_words[] = { "cls", "json", "txt", NULL };
/* The words before the extension: key.input.jpg, key.target.cls. */
static const char *const input_words[] = { "input", "image", "img", "rgb", "photo", "x", NULL };
static const char *const target_words[] = { "target", "label", "class", "output", "y", NULL };

static Rank
rank_of (const char *extension, const char *const *endings, const char *const *words)
{
  const char *dot = strrchr (extension, '.');
  g_autofree char *word = NULL;

  if (!dot)
    return is_one_of (extension, endings) ? RANK_PLAIN : RANK_NONE;
  if (!is_one_of (dot + 1, endings))
    return RANK_NONE;
  word = g_strndup (extension, (gsize) (dot - extension));
  return is_one_of (word, words) ? RANK_WORD : RANK_NONE;
}

static Rank
rank_of_input (const char *extension, const char *const *inputs)
{
  return rank_of (extension, inputs, input_words);
}

static Rank
rank_of_label (const char *extension)
{
  return rank_of (extension, label_words, target_words);
}

/* --- a sample's members ----------------------------------------------------------------------- */

static void
forget_sample (Load *load)
{
  g_string_truncate (load->key, 0);
  g_string_truncate (load->met, 0);
  g_clear_pointer (&load->label, g_free);
  load->source = FROM_NOTHING;
  load->target = A_CLASS;
  load->part = DYNO_PART_NONE;
  load->image_rank = load->label_rank = RANK_NONE;
  load->box = (DynoImageBox){ 0 };
  load->refused = NULL;
  load->place = NO_PLACE;
}

/* A label's state from 1, 0, true, false, or -1 for one that is not known; FALSE: it is none. */
static gboolean
read_flag (const char *text, float *state)
{
  static const char *const words[] = { "0", "1", "false", "true", "-1" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (text, words[i]))
      {
        *state = i == 4 ? NAN : (float) (i % 2);
        return TRUE;
      }
  return FALSE;
}

/* Appends the flags of the text; NULL: success; else the reason why the text has no flags, and
 * nothing was appended. */
static const char *
append_flags (Load *load, const char *text)
{
  DynoImageList *list = load->list;
  guint before = list->values->len, n = 0;
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);
  gboolean known = FALSE;
  float state;

  for (; parts[n] && n < DYNO_PACKED_MAX_LABELS && read_flag (parts[n], &state); n++)
    {
      g_array_append_val (list->values, state);
      known = known || !isnan (state);
    }
  if (list->values->len > DYNO_MOST_LABEL_VALUES)
    {
      g_array_set_size (list->values, before);
      return _ ("there are too many labels of all samples before it");
    }
  if (!parts[n] && known && (!load->any || n == list->n_values))
    {
      list->n_values = n;
      list->labels = TRUE;
      return NULL;
    }
  g_array_set_size (list->values, before);
  return parts[n] ? _ ("its labels are neither names nor 1, 0 and -1 for each label")
         : !known ? _ ("none of its labels is known")
                  : _ ("it has another number of labels than the first sample");
}

static void
append_names (Load *load, const char *text)
{
  const char separator[] = { DYNO_TEXT_TABLE_LIST_SEPARATOR, '\0' };
  g_auto (GStrv) names = g_strsplit (text, separator, -1);

  for (guint i = 0; names[i]; i++)
    {
      DynoLabelMark mark = { .item = load->list->items->len, .state = 1 };

      if (*g_strstrip (names[i]) == '\0')
        continue;
      mark.label = dyno_label_table_add (&load->labels, names[i]);
      g_array_append_val (load->marks, mark);
    }
}

/* Appends the values of the text; NULL: success; else the reason why the text has no values, and
 * nothing was appended. */
static const char *
append_values (Load *load, const char *text)
{
  DynoImageList *list = load->list;
  guint before = list->values->len, n = 0;
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);

  for (; parts[n]; n++)
    {
      float value = (float) g_ascii_strtod (parts[n], NULL);
      if (!isfinite (value) || n == DYNO_PACKED_MAX_VALUES)
        break;
      g_array_append_val (list->values, value);
    }
  if (!parts[n] && n > 0 && (!load->any || n == list->n_values))
    {
      list->n_values = n;
      return NULL;
    }
  g_array_set_size (list->values, before);
  return parts[n] ? _ ("a value is no finite number")
                  : _ ("it has another number of values than the first sample");
}

/* is_sample: the name is the key of a sample. */
static void
note (Load *load, const char *name, gboolean is_sample, const char *reason)
{
  DynoDatasetInfo *info = &load->dataset->info;
  guint64 before = info->n_refused;
  const char *path = g_array_index (load->list->containers, DynoContainer, load->container).path;
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *where = g_strdup_printf ("%s: %s", base, name);

  dyno_image_list_note (load->dataset, load->context, where, 0, reason);
  if (!is_sample || info->n_refused > before)
    return;
  if (info->n_refused++ == 0)
    info->first_refused = g_strdup_printf ("%s: %s", where, reason);
}

static gboolean
end_sample (Load *load, GError **error)
{
  const char *refused = NULL;
  g_autofree char *lacking = NULL;

  if (load->key->len == 0)
    return TRUE;
  if (load->image_rank == RANK_NONE)
    refused = lacking = g_strdup_printf (_ ("the sample has no image, only %s"), load->met->str);
  else if (!load->label || (*load->label == '\0' && load->target != NAMES))
    refused = lacking = g_strdup_printf (
        _ ("the sample has no label (.cls, .json or .txt), only %s"), load->met->str);
  else if (load->refused)
    refused = load->refused;
  else if (load->context->params->task == DYNO_TASK_LABELS && load->target != FLAGS
           && load->target != NAMES)
    refused = _ ("it has no list of labels");
  else if (load->any && load->target != load->first)
    refused = _ ("its target is of another kind than that of the first sample");
  else if (load->target == VALUES)
    refused = append_values (load, load->label);
  else if (load->target == FLAGS)
    refused = append_flags (load, load->label);
  else if (load->target == NAMES)
    append_names (load, load->label);
  else
    load->item.class_id = (gint32) dyno_label_table_add (&load->labels, load->label);
  if (refused && load->image_rank != RANK_NONE && load->source == FROM_NOTHING
      && MAX (load->part, load->shard_part) == DYNO_PART_TEST)
    load->n_unlabelled++;
  else if (refused)
    note (load, load->key->str, TRUE, refused);
  else
    {
      if (!dyno_image_list_add_name (load->list, load->image_name->str, load->image_name->len,
                                     &load->item.name, error))
        return FALSE;
      load->item.part = (guint8) MAX (load->part, load->shard_part);
      if (load->box.width > 0)
        {
          g_array_set_size (load->list->boxes, load->list->items->len);
          g_array_append_val (load->list->boxes, load->box);
        }
      g_array_append_val (load->places, load->place);
      g_array_append_val (load->list->items, load->item);
      load->any = TRUE;
      load->first = load->target;
      if (load->list->items->len % 256 == 0 && load->context->progress)
        load->context->progress (load->list->items->len, load->context->progress_data);
    }
  forget_sample (load);
  return TRUE;
}

static void
take_label (Load *load, LabelSource source, const char *text, Target target)
{
  if (source <= load->source || !text)
    return;
  g_free (load->label);
  load->label = g_strstrip (g_strdup (text));
  load->target = target;
  load->source = source;
}

/* Reads the members that convert.c adds.  Without a source_index another program wrote them,
 * possibly with another meaning. */
static void
take_packed (Load *load, GHashTable *members)
{
  const char *crop = g_hash_table_lookup (members, "crop_xywh"),
             *names = g_hash_table_lookup (members, "value_names"),
             *place = g_hash_table_lookup (members, "source_index");
  gint32 box[4];
  guint n = 0;

  if (!place || !g_ascii_string_to_unsigned (place, 10, 0, NO_PLACE - 1, &load->place, NULL))
    {
      load->place = NO_PLACE;
      return;
    }
  dyno_packed_take (load->packed, members);
  if (names && !load->names)
    load->names = g_strsplit (names, "\n", -1);
  if (!crop)
    return;
  g_auto (GStrv) parts = g_strsplit (crop, " ", G_N_ELEMENTS (box) + 1);
  for (; parts[n] && n < G_N_ELEMENTS (box); n++)
    {
      gint64 number;
      if (!g_ascii_string_to_signed (parts[n], 10, G_MININT32, G_MAXINT32, &number, NULL))
        break;
      box[n] = (gint32) number;
    }
  if (n == G_N_ELEMENTS (box) && !parts[n])
    load->box = (DynoImageBox){ box[0], box[1], box[2], box[3] };
  if (!dyno_image_box_is_good (&load->box))
    load->refused = _ ("its crop_xywh is no piece of an image");
}

/* TRUE where a member "labels" of the object is a list: a single value is a class, not a label. */
static gboolean
has_list (const char *text)
{
  while ((text = strstr (text, "\"labels\"")))
    {
      text += strlen ("\"labels\"");
      text += strspn (text, " \t\r\n");
      if (*text != ':')
        continue;
      text++;
      return text[strspn (text, " \t\r\n")] == '[';
    }
  return FALSE;
}

/* Takes a list of labels: flags, or names, which are parsed in another way. */
static void
take_labels (Load *load, LabelSource source, GHashTable *members, const char *text, gsize size)
{
  const char *flags = g_hash_table_lookup (members, "labels");
  g_autoptr (GHashTable) texts = NULL;
  g_autofree char *reason = NULL;

  if (source <= load->source || !has_list (text))
    return;
  take_label (load, source, flags, FLAGS);
  if (flags)
    return;
  texts = dyno_json_members (text, size, DYNO_JSON_LISTS_OF_TEXTS, NULL, &reason);
  if (texts)
    take_label (load, source, g_hash_table_lookup (texts, "labels"), NAMES);
}

static void
take_json (Load *load, const char *text, gsize size)
{
  static const char *const names[] = { "label", "cls", "class", "class_name", "class_id" };
  static const char *const lists[] = { "values", "targets", "target" };
  g_autofree char *reason = NULL;
  g_autoptr (GHashTable) members =
      dyno_json_members (text, size, DYNO_JSON_LISTS_OF_NUMBERS, NULL, &reason);
  const char *value, *split;

  if (!members)
    return;
  take_packed (load, members);
  split = g_hash_table_lookup (members, "split");
  load->part = MAX (load->part, split ? dyno_part_of_name (split, NULL) : DYNO_PART_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (lists) && load->source < FROM_JSON; i++)
    {
      value = g_hash_table_lookup (members, lists[i]);
      if (value && strspn (value, " +-.0123456789eE") == strlen (value))
        take_label (load, FROM_JSON, value, VALUES);
    }
  for (guint i = 0; i < G_N_ELEMENTS (names) && load->source < FROM_JSON; i++)
    take_label (load, FROM_JSON, g_hash_table_lookup (members, names[i]), A_CLASS);
  take_labels (load, load->context->params->task == DYNO_TASK_LABELS ? FROM_LABELS : FROM_JSON,
               members, text, size);
}

static gboolean
read_label (Load *load, const DynoMember *member, const char *extension, GError **error)
{
  g_autofree char *text = NULL;
  gssize n;

  if (member->size > MAX_LABEL)
    return TRUE;
  text = g_malloc0 (member->size + 1);
  n = dyno_datafile_pread (load->fd, text, member->size, member->at);
  if (n < 0)
    {
      dyno_datafile_set_error (
          error, errno,
          g_array_index (load->list->containers, DynoContainer, load->container).path);
      return FALSE;
    }
  if (g_str_equal (extension, "json"))
    take_json (load, text, strlen (text));
  else if (strlen (g_strstrip (text)) <= MAX_LINE && !strchr (text, '\n'))
    take_label (load, g_str_equal (extension, "cls") ? FROM_CLS : FROM_TXT, text, A_CLASS);
  return TRUE;
}

static gboolean
take_member (const DynoMember *member, gpointer data, GError **error)
{
  Load *load = data;
  g_autofree char *extension = NULL;
  gsize length;
  Rank rank;

  if (member->refused)
    {
      note (load, member->name, FALSE, member->refused);
      return TRUE;
    }
  if (!split_name (member->name, &length, &extension))
    return TRUE;
  if (load->key->len != length || strncmp (load->key->str, member->name, length) != 0)
    {
      if (!end_sample (load, error))
        return FALSE;
      forget_sample (load);
      if (rank_of_input (extension, load->inputs) == RANK_NONE
          && rank_of_label (extension) == RANK_NONE)
        return TRUE;
      g_string_append_len (load->key, member->name, (gssize) length);
    }
  if (load->met->len < MAX_MET)
    g_string_append_printf (load->met, "%s.%s", load->met->len > 0 ? ", " : "", extension);
  rank = rank_of_label (extension);
  if (rank != RANK_NONE)
    {
      if (rank < load->label_rank)
        return TRUE;
      if (rank > load->label_rank)
        load->source = FROM_NOTHING;
      load->label_rank = rank;
      return read_label (
          load, member, strrchr (extension, '.') ? strrchr (extension, '.') + 1 : extension, error);
    }
  rank = rank_of_input (extension, load->inputs);
  if (rank <= load->image_rank)
    return TRUE;
  load->image_rank = rank;
  load->item = (DynoListedImage){
    .container = load->container, .at = member->at, .stored = member->stored, .size = member->size
  };
  g_string_assign (load->image_name, member->name);
  return TRUE;
}

/* --- shards ----------------------------------------------------------------------------------- */

/* The first members decide whether they form samples. */
typedef struct {
  const char *const *inputs; /* NULL: images, or anything before a label */
  GHashTable *keys;
  guint left;
  gboolean found;
} Peek;

static gboolean
peek_member (const DynoMember *member, gpointer data, GError **error)
{
  Peek *peek = data;
  g_autofree char *extension = NULL;
  gsize length;

  if (split_name (member->name, &length, &extension))
    {
      gboolean label = rank_of_label (extension) != RANK_NONE;
      g_autofree char *key = g_strdup_printf ("%d%.*s", label, (int) length, member->name);
      g_autofree char *other = g_strdup_printf ("%d%.*s", !label, (int) length, member->name);
      gboolean counts =
          label
          || rank_of_input (extension, peek->inputs ? peek->inputs : dyno_webdataset_images)
                 != RANK_NONE;

      peek->found = peek->found || (counts && g_hash_table_contains (peek->keys, other));
      if (counts || !peek->inputs)
        g_hash_table_add (peek->keys, g_steal_pointer (&key));
    }
  if (!peek->found && --peek->left > 0)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "");
  return FALSE;
}

static gboolean
has_samples (const char *path, const char *const *inputs)
{
  Peek peek = { .inputs = inputs, .left = PEEKED };
  const char *other;
  guint64 size;
  int fd = dyno_datafile_open (path, &size, NULL);

  if (fd < 0)
    return FALSE;
  peek.keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (dyno_archive_guess (fd, size, &other) == DYNO_ARCHIVE_TAR)
    dyno_tar_walk (fd, size, path, peek_member, &peek, NULL, NULL);
  g_hash_table_unref (peek.keys);
  close (fd);
  return peek.found;
}

gboolean
dyno_webdataset_has (const DynoLocation *location, const char *const *inputs)
{
  g_autoptr (GPtrArray) paths = NULL;

  if (location->scheme)
    return FALSE;
  if (!location->is_folder && !location->is_pattern)
    return location->is_regular && has_samples (location->body, inputs);
  paths = dyno_shards_list (location);
  return paths->len > 0 && has_samples (g_ptr_array_index (paths, 0), inputs);
}

static gboolean
load_shard (Load *load, const char *path, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  DynoContainer *container;
  const char *other = NULL;

  if (!dyno_image_list_add_container (load->list, path, &load->container, error))
    return FALSE;
  container = &g_array_index (load->list->containers, DynoContainer, load->container);
  load->fd = container->fd;
  if (dyno_archive_guess (container->fd, container->size, &other) != DYNO_ARCHIVE_TAR)
    {
      g_set_error (error, DYNO_DATA_ERROR,
                   other ? DYNO_DATA_ERROR_UNSUPPORTED : DYNO_DATA_ERROR_CORRUPT,
                   other ? _ ("The shard “%s” is compressed (%s); unpack it to a plain .tar")
                         : _ ("The shard “%s” is no .tar archive%s; get it again"),
                   shown, other ? other : "");
      return FALSE;
    }
  if (!dyno_tar_walk (container->fd, container->size, shown, take_member, load,
                      load->context->cancellable, error)
      || !end_sample (load, error))
    return FALSE;
  dyno_image_list_rest_container (load->list, load->container);
  return TRUE;
}

static gboolean
load_shards (Load *load, GError **error)
{
  g_autoptr (GPtrArray) paths = dyno_shards_list (load->context->location);
  gboolean trains = FALSE;

  for (guint i = 0; i < paths->len; i++)
    trains = trains || dyno_shard_get_part (g_ptr_array_index (paths, i)) == DYNO_PART_TRAIN;
  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = g_ptr_array_index (paths, i);

      load->shard_part = trains ? dyno_shard_get_part (path) : DYNO_PART_NONE;
      if (!load_shard (load, path, error))
        return FALSE;
    }
  return TRUE;
}

/* --- the order of the data set that was packed ---------------------------------------------- */

static int
compare_places (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint64 *places = data;
  guint64 x = places[*(const guint32 *) a], y = places[*(const guint32 *) b];

  return (x > y) - (x < y);
}

/* Element i becomes the former element order[i]; an element has size bytes. */
static void
reorder (GArray *array, const GArray *order, gsize size)
{
  g_autofree guint8 *before = g_memdup2 (array->data, order->len * size);

  for (guint i = 0; i < order->len; i++)
    memcpy (array->data + i * size, before + g_array_index (order, guint32, i) * size, size);
}

static void
restore_order (const Load *load)
{
  DynoImageList *list = load->list;
  const guint64 *places = (const guint64 *) (gpointer) load->places->data;
  g_autoptr (GArray) order = g_array_sized_new (FALSE, FALSE, sizeof (guint32), list->items->len);

  for (guint32 i = 0; i < list->items->len; i++)
    {
      if (places[i] == NO_PLACE)
        return;
      g_array_append_val (order, i);
    }
  g_array_sort_with_data (order, compare_places, (gpointer) places);
  for (guint i = 1; i < order->len; i++)
    if (places[g_array_index (order, guint32, i)] == places[g_array_index (order, guint32, i - 1)])
      return; /* packed from several */
  if (order->len < 2)
    return;
  reorder (list->items, order, sizeof (DynoListedImage));
  if (list->n_values > 0)
    reorder (list->values, order, list->n_values * sizeof (float));
  if (list->boxes->len > 0)
    reorder (list->boxes, order, sizeof (DynoImageBox));
}

/* Names the labels in the order of the flags: by the description, else by their numbers. */
static void
name_flags (const Load *load)
{
  DynoDatasetInfo *info = &load->dataset->info;
  char **names = load->packed->class_names;
  guint32 n = load->list->n_values;

  dyno_dataset_info_set_classes (info, n);
  if (!names || g_strv_length (names) != n)
    return;
  g_strfreev (info->class_names);
  info->class_names = g_strdupv (names);
}

static void
note_unlabelled (const Load *load)
{
  if (load->n_unlabelled > 0)
    g_ptr_array_add (
        load->dataset->notes,
        g_strdup_printf (ngettext ("%" PRIu64 " sample of the test part has no label, and is not "
                                   "used",
                                   "%" PRIu64 " samples of the test part have no label, and are "
                                   "not used",
                                   (gulong) load->n_unlabelled),
                         load->n_unlabelled));
}

static gboolean
finish_load (Load *load, GError **error)
{
  DynoImageList *list = load->list;
  DynoDatasetInfo *info = &load->dataset->info;

  note_unlabelled (load);
  if (list->boxes->len > 0)
    g_array_set_size (list->boxes, list->items->len);
  /* Marks name samples by their places in the list. */
  if (load->any && load->first == NAMES)
    return dyno_label_table_finish_marks (&load->labels, info, list, load->marks, TRUE, error);
  restore_order (load);
  if (list->labels)
    {
      name_flags (load);
      return TRUE;
    }
  if (list->n_values == 0
      && !(load->packed->class_names
           && dyno_label_table_order (&load->labels, info, list->items, load->packed->class_names)))
    dyno_label_table_finish (&load->labels, info, list->items, TRUE);
  if (list->n_values > 0 && load->names && g_strv_length (load->names) == list->n_values)
    dyno_target_names_take (info, (const char *const *) load->names, list->n_values);
  return TRUE;
}

gboolean
dyno_webdataset_load (DynoDataset *dataset, const DynoOpenContext *context, DynoImageList *list,
                      const char *const *inputs, DynoPacked *packed, GError **error)
{
  Load load = {
    .dataset = dataset, .context = context, .list = list, .inputs = inputs, .packed = packed
  };
  gboolean ok;

  load.key = g_string_new (NULL);
  load.image_name = g_string_new (NULL);
  load.met = g_string_new (NULL);
  load.places = g_array_new (FALSE, FALSE, sizeof (guint64));
  dyno_label_table_init (&load.labels);
  load.marks = g_array_new (FALSE, FALSE, sizeof (DynoLabelMark));
  ok = load_shards (&load, error) && finish_load (&load, error);
  dyno_label_table_clear (&load.labels);
  forget_sample (&load);
  g_string_free (load.key, TRUE);
  g_string_free (load.image_name, TRUE);
  g_string_free (load.met, TRUE);
  g_array_unref (load.places);
  g_array_unref (load.marks);
  g_strfreev (load.names);
  return ok;
}

/* Any member beside labels counts as an input: a member that is no image is reported when it is
 * opened.  A pattern always names shards. */
static gboolean
webdataset_matches (const DynoLocation *location)
{
  return dyno_webdataset_has (location, NULL) || (location->is_pattern && !location->scheme);
}

static gboolean
webdataset_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoImageList *list = dataset->state = dyno_image_list_new ();
  DynoPacked packed = { 0 };
  gboolean ok =
      dyno_webdataset_load (dataset, context, list, dyno_webdataset_images, &packed, error)
      && dyno_image_list_finish (list, dataset, context, error);

  if (ok)
    dyno_packed_apply_to_images (&packed, &dataset->info);
  dyno_packed_clear (&packed);
  return ok;
}

const DynoDatasetClass dyno_dataset_class_webdataset = {
  .kind = "webdataset",
  .title = "WebDataset",
  .matches = webdataset_matches,
  .open = webdataset_open,
  .close = dyno_image_list_close,
  .fetch = dyno_image_list_fetch,
  .has_files = TRUE,
  .box = dyno_image_list_box,
  .decode = dyno_image_list_decode,
  .decode_crop = dyno_image_list_decode_crop,
  .label = dyno_image_list_label,
  .values = dyno_image_list_values,
  .probe = dyno_image_list_probe,
  .describe = dyno_image_list_describe,
  .part = dyno_image_list_part,
};
