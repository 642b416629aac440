/* SPDX-License-Identifier: MIT */
/* Reads all samples once, on the calling thread: samples are equal where the hash over all bytes of
 * their files is equal, or the hash over their decoded values where they have no file of their
 * own. */
#include "survey.h"
#include "dataset-class.h"
#include "hash.h"
#include "image.h"
#include "intl.h"
#include <inttypes.h>

#define TINY        10 /* samples of a class with too few to be learned */
#define MAX_NAMED   5  /* classes in a sentence */
#define PROGRESS_US (G_USEC_PER_SEC / 10)

/* Pairs of one kind: their number, and the first pair. */
typedef struct {
  guint64 n, first, second;
} Pairs;

typedef struct {
  DynoDataset *dataset;
  const DynoDatasetInfo *info;
  gboolean classes;
  GPtrArray *harm, *remarks;
  GHashTable *seen; /* from a guint64 * in hashes to 1 + the first sample with that hash */
  guint64 *hashes;  /* (n_samples) */
  Pairs same, mislabelled, leaked, tested; /* leaked: to validation; tested: to the test part */
  guint64 n_images, n_grey, n_deep, n_turned, n_garbage;
} Survey;

static void
add_note (Survey *s, char *sentence)
{
  g_ptr_array_add (s->harm, sentence);
}

static void
remark (Survey *s, char *sentence)
{
  g_ptr_array_add (s->remarks, sentence);
}

/* --- findings from labels and headers --------------------------------------------------------- */

static void
note_tiny (Survey *s)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint32 found = 0, used = 0;

  for (guint32 c = 0; s->classes && c < s->info->n_classes; c++)
    {
      used += s->info->class_counts[c] > 0;
      if (s->info->class_counts[c] > 0 && s->info->class_counts[c] < TINY && found++ < MAX_NAMED)
        g_string_append_printf (names, "%s“%s”", found > 1 ? ", " : "", s->info->class_names[c]);
    }
  if (used == 1)
    add_note (s,
              g_strdup (_ ("All samples are of one class: there are no classes to distinguish")));
  if (found > MAX_NAMED)
    g_string_append_printf (names, _ (" and %u more"), found - MAX_NAMED);
  if (found > 0)
    add_note (s, g_strdup_printf (
                     ngettext ("Fewer than %d samples of class %s: a network hardly learns it, and "
                               "its accuracy says little. Add samples, or set "
                               "data.balance=sampling",
                               "Fewer than %d samples of each of the classes %s: a network hardly "
                               "learns them, and their accuracies say little. Add samples, or set "
                               "data.balance=sampling",
                               found),
                     TINY, names->str));
}

static void
remark_sizes (Survey *s)
{
  const DynoDatasetInfo *info = s->info;

  if (info->resizable && !info->generated
      && (info->min_width != info->max_width || info->min_height != info->max_height))
    remark (
        s, g_strdup_printf (_ ("Images are from %u × %u to %u × %u: each is scaled until it covers "
                               "the size that image_size sets, and only its centre is used"),
                            info->min_width, info->min_height, info->max_width, info->max_height));
}

/* Remarks that the samples are sorted by class.  Folders always are, which is no problem. */
static void
remark_order (Survey *s)
{
  guint64 changes = 0;
  guint32 used = 0;

  if (!s->classes || s->dataset->klass->has_files || s->info->generated)
    return;
  for (guint32 c = 0; c < s->info->n_classes; c++)
    used += s->info->class_counts[c] > 0;
  for (guint64 i = 1; i < s->info->n_samples; i++)
    changes += dyno_dataset_get_label (s->dataset, i) != dyno_dataset_get_label (s->dataset, i - 1);
  if (used > 1 && changes == used - 1 && s->info->n_samples >= 4 * (guint64) used)
    remark (s,
            g_strdup (_ ("The samples lie in the order of their classes: with data.shuffle=false a "
                         "batch would be of one class")));
}

/* --- findings from the samples ---------------------------------------------------------------- */

static void
note_facts (Survey *s, const guint8 *bytes, gsize size)
{
  DynoImageFacts facts;

  if (!dyno_image_probe (bytes, size, &facts, NULL))
    return;
  s->n_images++;
  s->n_grey += facts.grey;
  s->n_deep += facts.bits > 8;
  s->n_turned += facts.orientation > 1;
  s->n_garbage += facts.garbage;
}

static void
count_pair (Pairs *pairs, guint64 first, guint64 second)
{
  if (pairs->n++ > 0)
    return;
  pairs->first = first;
  pairs->second = second;
}

/* Hashes a file with the box of the sample, since several pieces of one image may be samples. */
static guint64
hash_file (Survey *s, guint64 index, const guint8 *bytes, gsize size)
{
  const DynoDatasetClass *klass = s->dataset->klass;
  const DynoImageBox *box = klass->box ? klass->box (s->dataset, index) : NULL;
  guint64 hash = dyno_hash_bytes (DYNO_HASH_START, &size, sizeof size);

  if (box)
    hash = dyno_hash_bytes (hash, box, sizeof *box);
  return dyno_hash_bytes (hash, bytes, size);
}

static void
compare (Survey *s, guint64 index, guint64 hash)
{
  DynoPart part, part_before;
  guint64 before;

  s->hashes[index] = hash;
  before = GPOINTER_TO_SIZE (g_hash_table_lookup (s->seen, &hash));
  if (before == 0)
    {
      g_hash_table_insert (s->seen, &s->hashes[index], GSIZE_TO_POINTER (index + 1));
      return;
    }
  before--;
  if (s->classes
      && dyno_dataset_get_label (s->dataset, before) != dyno_dataset_get_label (s->dataset, index))
    count_pair (&s->mislabelled, before, index);
  part = dyno_dataset_get_part (s->dataset, index);
  part_before = dyno_dataset_get_part (s->dataset, before);
  if (part != part_before)
    count_pair (part == DYNO_PART_TEST || part_before == DYNO_PART_TEST ? &s->tested : &s->leaked,
                before, index);
  else
    count_pair (&s->same, before, index);
}

/* Reads one sample after the other: the disk takes most of the time, and a file needs one read. */
static gboolean
read_all (Survey *s, DynoScanProgress progress, gpointer data, GCancellable *cancellable,
          GError **error)
{
  const DynoDatasetClass *klass = s->dataset->klass;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autofree guint8 *block = NULL;
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { NULL };
  DynoBatchSchema schema;
  DynoBatchLayout layout;
  gint64 reported = g_get_monotonic_time ();

  dyno_dataset_get_schema (s->info, s->info->max_width, s->info->max_height, &schema);
  if (!klass->has_files && dyno_batch_layout_init (&layout, &schema, 1, NULL))
    block = g_try_malloc0 (layout.total_bytes);
  s->hashes = g_try_new (guint64, s->info->n_samples + 1);
  if (!s->hashes || (!klass->has_files && !block))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                   _ ("No memory to compare the samples of “%s”"), s->info->name);
      return FALSE;
    }
  for (guint i = 0; i < schema.n_fields && block; i++)
    fields[i] = block + layout.offset[i];
  for (guint64 i = 0; i < s->info->n_samples; i++)
    {
      gsize size;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (progress && g_get_monotonic_time () - reported >= PROGRESS_US)
        {
          reported = g_get_monotonic_time ();
          progress (i, data);
        }
      if (klass->has_files)
        {
          if (!klass->fetch (s->dataset, i, scratch, &size, NULL))
            continue;
          note_facts (s, scratch->data, size);
          compare (s, i, hash_file (s, i, scratch->data, size));
        }
      else if (dyno_dataset_decode (s->dataset, i, s->info->max_width, s->info->max_height, fields,
                                    scratch, NULL))
        compare (s, i,
                 dyno_hash_bytes (DYNO_HASH_START, fields[DYNO_DATASET_INPUT],
                                  layout.sample_bytes[DYNO_DATASET_INPUT]));
    }
  return TRUE;
}

static void
note_pairs (Survey *s, const Pairs *pairs, const char *what, const char *so)
{
  g_autofree char *first = NULL, *second = NULL;

  if (pairs->n == 0)
    return;
  first = dyno_dataset_describe_sample (s->dataset, pairs->first);
  second = dyno_dataset_describe_sample (s->dataset, pairs->second);
  /* Translators: a number, "samples are the same as another", two samples, "they count more than
   * others" */
  add_note (s, g_strdup_printf (_ ("%" PRIu64 " %s, the first: %s, %s; %s"), pairs->n, what, first,
                                second, so));
}

static void
note_content (Survey *s)
{
  note_pairs (s, &s->mislabelled,
              ngettext ("sample is the same as one of another class",
                        "samples are the same as one of another class", (gulong) s->mislabelled.n),
              _ ("one of the two labels is wrong"));
  note_pairs (s, &s->leaked,
              ngettext ("sample is the same in training and in validation",
                        "samples are the same in training and in validation", (gulong) s->leaked.n),
              _ ("the validation measures memorised samples"));
  note_pairs (s, &s->tested,
              ngettext ("sample is the same in the test part and in another part",
                        "samples are the same in the test part and in another part",
                        (gulong) s->tested.n),
              _ ("the test measures memorised samples"));
  note_pairs (s, &s->same,
              ngettext ("sample is the same as another", "samples are the same as another",
                        (gulong) s->same.n),
              s->info->has_split
                  ? _ ("they count more than others")
                  : _ ("a random split can put one into training and the other into validation"));
  if (s->n_grey > 0)
    remark (
        s, g_strdup_printf (ngettext ("%" PRIu64 " of %" PRIu64
                                      " images is greyscale: it is fed as three equal channels",
                                      "%" PRIu64 " of %" PRIu64
                                      " images are greyscale: they are fed as three equal channels",
                                      (gulong) s->n_grey),
                            s->n_grey, s->n_images));
  if (s->n_deep > 0)
    add_note (s, g_strdup_printf (
                     ngettext ("%" PRIu64 " of %" PRIu64
                               " images has 16 bits a channel, of which 8 are fed; what differs "
                               "in the other is not seen: save it as an X.npy of floats",
                               "%" PRIu64 " of %" PRIu64
                               " images have 16 bits a channel, of which 8 are fed; what differs "
                               "in the others is not seen: save them as an X.npy of floats",
                               (gulong) s->n_deep),
                     s->n_deep, s->n_images));
  if (s->n_turned > 0)
    remark (s, g_strdup_printf (
                   ngettext ("%" PRIu64 " of %" PRIu64
                             " images is stored turned and is fed upright, as its EXIF or XMP "
                             "says; boxes or points that were marked without it do not fit it",
                             "%" PRIu64 " of %" PRIu64
                             " images are stored turned and are fed upright, as their EXIF or XMP "
                             "says; boxes or points that were marked without it do not fit them",
                             (gulong) s->n_turned),
                   s->n_turned, s->n_images));
  if (s->n_garbage > 0)
    remark (s, g_strdup_printf (
                   ngettext ("%" PRIu64 " of %" PRIu64
                             " images has stray bytes between the parts of its file; it "
                             "is decoded as other programs do",
                             "%" PRIu64 " of %" PRIu64
                             " images have stray bytes between the parts of their files; they "
                             "are decoded as other programs do",
                             (gulong) s->n_garbage),
                   s->n_garbage, s->n_images));
}

void
dyno_survey_free (DynoSurvey *self)
{
  if (!self)
    return;
  g_strfreev (self->sentences);
  g_free (self);
}

static DynoSurvey *
survey_new (Survey *s, gboolean compared)
{
  DynoSurvey *survey = g_new0 (DynoSurvey, 1);

  survey->n_harmful = s->harm->len;
  survey->compared = compared;
  g_ptr_array_extend_and_steal (s->harm, g_ptr_array_ref (s->remarks));
  g_ptr_array_add (s->harm, NULL);
  survey->sentences = (char **) g_ptr_array_steal (s->harm, NULL);
  return survey;
}

DynoSurvey *
dyno_dataset_survey (DynoDataset *dataset, guint64 most_bytes, DynoScanProgress progress,
                     gpointer data, GCancellable *cancellable, GError **error)
{
  const DynoDatasetInfo *info = &dataset->info;
  g_autoptr (GPtrArray) harm = g_ptr_array_new_with_free_func (g_free),
                        remarks = g_ptr_array_new_with_free_func (g_free);
  Survey s = { .dataset = dataset,
               .info = info,
               .classes = dyno_dataset_has_classes (info) && !info->schema.generated,
               .harm = harm,
               .remarks = remarks };
  gboolean of_files = !info->generated && !info->schema.generated, ok = TRUE;
  gboolean small = most_bytes == 0 || info->size_bytes <= most_bytes;

  note_tiny (&s);
  remark_sizes (&s);
  remark_order (&s);
  s.seen = g_hash_table_new (g_int64_hash, g_int64_equal);
  if (of_files && small)
    {
      ok = read_all (&s, progress, data, cancellable, error);
      note_content (&s);
    }
  g_hash_table_unref (s.seen);
  g_free (s.hashes);
  return ok ? survey_new (&s, !of_files || small) : NULL;
}

/* --- examples --------------------------------------------------------------------------------- */

/* Computes how many samples of each class are taken when classes take turns until there are n. */
static void
share_out (const DynoDatasetInfo *info, guint n, guint64 *quotas)
{
  guint64 given = 0, before = G_MAXUINT64;

  while (given < n && given != before)
    {
      before = given;
      for (guint32 c = 0; c < info->n_classes && given < n; c++)
        if (quotas[c] < info->class_counts[c])
          {
            quotas[c]++;
            given++;
          }
    }
}

guint
dyno_dataset_pick_examples (DynoDataset *dataset, guint n, guint64 *indices)
{
  const DynoDatasetInfo *info = &dataset->info;
  guint64 n_samples = info->n_samples;
  g_autofree guint64 *quotas = g_new0 (guint64, (gsize) info->n_classes + 1),
                     *met = g_new0 (guint64, (gsize) info->n_classes + 1),
                     *taken = g_new0 (guint64, (gsize) info->n_classes + 1),
                     *places = g_new0 (guint64, (gsize) info->n_classes + 1);

  n = (guint) MIN (n, n_samples);
  if (!dyno_dataset_has_classes (info) || info->schema.generated)
    {
      for (guint i = 0; i < n; i++)
        indices[i] = i * n_samples / n;
      return n;
    }
  share_out (info, n, quotas);
  for (guint32 c = 0; c < info->n_classes; c++)
    places[c + 1] = places[c] + quotas[c];
  for (guint64 i = 0; i < n_samples; i++)
    {
      guint32 c = (guint32) dyno_dataset_get_label (dataset, i);

      if (taken[c] < quotas[c] && met[c] == taken[c] * info->class_counts[c] / quotas[c])
        indices[places[c] + taken[c]++] = i;
      met[c]++;
    }
  return (guint) places[info->n_classes];
}
