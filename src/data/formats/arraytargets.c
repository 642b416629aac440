/* SPDX-License-Identifier: MIT */
/* Reads targets from arrays.
 *
 * Invariants: an array is read and checked as a whole before any target is used; several parts are
 * all classes, all values or all labels, of one width; a decision by the type of the numbers is a
 * guess only where the numbers contradict it, which a note then reports. */
#include "arraytargets.h"
#include "hash.h"
#include "intl.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_CLASSES      100000
#define MAX_VALUES       65536
#define MAX_TARGET_BYTES (G_GUINT64_CONSTANT (1) << 34)
/* with this many classes or more, few samples in each class make the guess doubtful */
#define MANY 10

typedef enum { AS_CLASSES, AS_ONE_HOT, AS_VALUES, AS_LABELS } Reading;

static guint64
count_targets (const DynoNpyHeader *header)
{
  return header->n_dims == 2 ? header->shape[1] : 1;
}

gboolean
dyno_targets_check (const DynoArray *y, guint64 n_records, const char *of, GError **error)
{
  const DynoNpyHeader *header = &y->header;
  guint64 n_targets = header->n_dims > 0 ? count_targets (header) : 0;

  if (header->n_dims < 1 || header->n_dims > 2 || n_targets == 0 || n_targets > MAX_VALUES
      || header->data_bytes > MAX_TARGET_BYTES)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” must be (N) whole numbers for classes or (N) or (N, T) floats for "
                    "values"),
                 y->shown);
  else if (header->shape[0] != n_records)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                 ngettext ("“%s” has %" PRIu64 " record, “%s” has %" PRIu64
                           "; the files do not belong together",
                           "“%s” has %" PRIu64 " records, “%s” has %" PRIu64
                           "; the files do not belong together",
                           (gulong) header->shape[0]),
                 y->shown, header->shape[0], of, n_records);
  else
    return TRUE;
  return FALSE;
}

/* --- how they are read ------------------------------------------------------------------------ */

/* TRUE where all numbers are 0 or 1; *single: exactly one number of each row is 1. */
static gboolean
is_zeros_and_ones (const DynoNpyHeader *header, const guint8 *bytes, gboolean *single)
{
  guint64 width = count_targets (header);

  *single = TRUE;
  for (guint64 i = 0; i < header->shape[0]; i++)
    {
      guint64 ones = 0;

      for (guint64 k = 0; k < width; k++, bytes += header->item_bytes)
        {
          double number = dyno_npy_get_double (header, bytes);
          if (number != 0 && number != 1)
            return *single = FALSE;
          ones += number == 1;
        }
      *single = *single && ones == 1;
    }
  return TRUE;
}

/* The state of a label: NaN and -1 are not known.  FALSE: the number is no label. */
static gboolean
read_label (double number, float *state)
{
  *state = number == 1 ? 1.0f : number == 0 ? 0.0f : NAN;
  return number == 0 || number == 1 || number == -1 || isnan (number);
}

/* Where labels were requested: finds the first number that is none. */
static gboolean
check_labels (const DynoNpyHeader *header, const guint8 *bytes, const char *shown, GError **error)
{
  guint64 width = count_targets (header);
  float state;

  for (guint64 i = 0; i < header->n_items; i++)
    {
      double number = dyno_npy_get_double (header, bytes + i * header->item_bytes);

      if (read_label (number, &state))
        continue;
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("“%s”, record %" PRIu64 ": %g is no label; data.task=labels needs a column "
                      "for each label, of 1, 0, and NaN or -1 where it is not known; else set "
                      "data.task to auto"),
                   shown, i / width, number);
      return FALSE;
    }
  return TRUE;
}

static gboolean
decide (const DynoNpyHeader *header, const guint8 *bytes, DynoTask asked, gboolean after_labels,
        const char *shown, Reading *reading, GError **error)
{
  gboolean single, flags;

  if (asked == DYNO_TASK_LABELS)
    {
      *reading = AS_LABELS;
      return check_labels (header, bytes, shown, error);
    }
  *reading = asked == DYNO_TASK_VALUES || (asked == DYNO_TASK_AUTO && header->kind == 'f')
                 ? AS_VALUES
                 : AS_CLASSES;
  if (count_targets (header) == 1 || asked == DYNO_TASK_VALUES)
    return TRUE;
  flags = is_zeros_and_ones (header, bytes, &single);
  /* The rows of a small validation part may all have one 1 by chance. */
  if (asked == DYNO_TASK_AUTO && header->kind != 'f' && flags && (after_labels || !single))
    *reading = AS_LABELS;
  else if (flags && single)
    *reading = AS_ONE_HOT;
  else if (asked == DYNO_TASK_CLASSES && flags)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” has rows that are no class, but several ones or none: each column is a "
                    "label that a "
                    "sample has or not; set data.task to labels"),
                 shown);
  else if (asked == DYNO_TASK_CLASSES)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” has rows that are no class: one number, or one 1 among zeros; set "
                    "data.task to values to predict them as numbers"),
                 shown);
  else if (header->kind != 'f')
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” must be (N) whole numbers for classes or (N) or (N, T) floats for "
                    "values; set data.task to values to predict whole numbers"),
                 shown);
  return *reading == AS_ONE_HOT || *reading == AS_LABELS
         || (asked == DYNO_TASK_AUTO && header->kind == 'f');
}

/* --- reading ---------------------------------------------------------------------------------- */

static gboolean
take_class (DynoTargets *targets, const DynoNpyHeader *header, const guint8 *bytes, guint64 i,
            const char *shown, GError **error)
{
  double number = dyno_npy_get_double (header, bytes);
  gint64 value = header->kind == 'f' ? (fabs (number) < MAX_CLASSES ? (gint64) number : MAX_CLASSES)
                                     : dyno_npy_get_int (header, bytes);

  if (header->kind == 'f' && isfinite (number) && fabs (number) < MAX_CLASSES
      && number != floor (number))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   _ ("“%s”, record %" PRIu64 ": %g is no class, which is a whole number; set "
                      "data.task to values to predict it"),
                   shown, i, number);
      return FALSE;
    }
  if (value < 0 || value >= MAX_CLASSES)
    {
      g_set_error (error, DYNO_DATA_ERROR,
                   value < 0 ? DYNO_DATA_ERROR_CORRUPT : DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s”, record %" PRIu64 ": class %" PRId64
                      " where 0 to %d is expected; whole numbers are classes, save values to "
                      "predict as floats, or set data.task to values"),
                   shown, i, value, MAX_CLASSES - 1);
      return FALSE;
    }
  targets->classes[targets->n + i] = (gint32) value;
  targets->n_classes = MAX (targets->n_classes, (guint32) value + 1);
  return TRUE;
}

/* The place of the single 1 of a row. */
static gint32
find_one (const DynoNpyHeader *header, const guint8 *bytes)
{
  gint32 place = 0;

  while (dyno_npy_get_double (header, bytes) != 1)
    {
      bytes += header->item_bytes;
      place++;
    }
  return place;
}

static gboolean
take_value (DynoTargets *targets, double value, guint64 i, const char *shown, GError **error)
{
  float single = targets->values[targets->n * targets->n_values + i] = (float) value;

  if (isfinite (single))
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s”, record %" PRIu64
                  ": %g where a finite number is expected; remove the record from both files"),
               shown, i / targets->n_values, value);
  return FALSE;
}

static gboolean
take_labels (DynoTargets *targets, const DynoNpyHeader *header, const guint8 *bytes, guint64 i,
             const char *shown, GError **error)
{
  float *row = targets->values + (targets->n + i) * targets->n_values;
  gboolean known = FALSE;

  for (guint32 k = 0; k < targets->n_values; k++, bytes += header->item_bytes)
    {
      (void) read_label (dyno_npy_get_double (header, bytes), &row[k]);
      known = known || !isnan (row[k]);
    }
  if (known)
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s”, record %" PRIu64 ": no label is known; remove the record from both files"),
               shown, i);
  return FALSE;
}

/* Makes room for one more part, all bytes of which lie in memory. */
static gboolean
make_room (DynoTargets *targets, const DynoNpyHeader *header, Reading reading, const char *shown,
           GError **error)
{
  gpointer room;

  if (reading == AS_VALUES || reading == AS_LABELS)
    {
      targets->n_values = (guint32) count_targets (header);
      room = g_try_renew (float, targets->values, targets->n * targets->n_values + header->n_items);
      targets->values = room ? room : targets->values;
    }
  else
    {
      room = g_try_renew (gint32, targets->classes, targets->n + header->shape[0]);
      targets->classes = room ? room : targets->classes;
    }
  if (!room)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                 _ ("“%s”: no memory for its targets"), shown);
  return room != NULL;
}

static gboolean
check_alike (const DynoTargets *targets, const DynoNpyHeader *header, Reading reading,
             const char *shown, GError **error)
{
  guint64 width = count_targets (header);

  if (targets->n == 0
      || (reading == AS_VALUES || reading == AS_LABELS
              ? targets->values && width == targets->n_values
                    && targets->labels == (reading == AS_LABELS)
              : targets->classes && targets->one_hot == (reading == AS_ONE_HOT)
                    && (!targets->one_hot || width == targets->n_classes)))
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s” has other targets than the training part"), shown);
  return FALSE;
}

static gboolean
take_part (DynoTargets *targets, const DynoNpyHeader *header, const guint8 *bytes, Reading reading,
           const char *shown, GError **error)
{
  guint64 width = count_targets (header), row_bytes = width * header->item_bytes;

  if (!check_alike (targets, header, reading, shown, error)
      || !make_room (targets, header, reading, shown, error))
    return FALSE;
  for (guint64 i = 0; i < header->shape[0]; i++, bytes += row_bytes)
    if (reading == AS_ONE_HOT)
      targets->classes[targets->n + i] = find_one (header, bytes);
    else if (reading == AS_CLASSES)
      {
        if (!take_class (targets, header, bytes, i, shown, error))
          return FALSE;
      }
    else if (reading == AS_LABELS)
      {
        if (!take_labels (targets, header, bytes, i, shown, error))
          return FALSE;
      }
    else
      for (guint64 k = 0; k < width; k++)
        if (!take_value (targets, dyno_npy_get_double (header, bytes + k * header->item_bytes),
                         i * width + k, shown, error))
          return FALSE;
  targets->one_hot = reading == AS_ONE_HOT;
  targets->labels = reading == AS_LABELS;
  if (targets->one_hot)
    targets->n_classes = (guint32) width;
  targets->n += header->shape[0];
  return TRUE;
}

gboolean
dyno_targets_load (DynoTargets *targets, DynoArray *y, DynoTask asked, guint64 *hash,
                   const DynoOpenContext *context, GError **error)
{
  const DynoNpyHeader *header = &y->header;
  g_autofree guint8 *bytes = NULL;
  Reading reading;
  int code;

  if (!dyno_array_load (y, context, error))
    return FALSE;
  bytes = g_try_malloc (MAX (header->data_bytes, 1));
  if (!bytes)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                   _ ("“%s”: no memory for its targets"), y->shown);
      return FALSE;
    }
  if (dyno_array_read (y, bytes, header->data_bytes, 0, &code) != (gssize) header->data_bytes)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ, _ ("“%s” cannot be read whole"),
                   y->shown);
      return FALSE;
    }
  if (!decide (header, bytes, asked, targets->labels, y->shown, &reading, error)
      || !take_part (targets, header, bytes, reading, y->shown, error))
    return FALSE;
  if (hash)
    *hash = dyno_hash_bytes (*hash, bytes, header->data_bytes);
  return TRUE;
}

/* --- guesses ---------------------------------------------------------------------------------- */

/* TRUE where all values are whole numbers, and at least two differ. */
static gboolean
are_whole (const DynoTargets *targets, float *least, float *most)
{
  *least = *most = targets->values[0];
  for (guint64 i = 0; i < targets->n * targets->n_values; i++)
    {
      float value = targets->values[i];
      if (value != floorf (value))
        return FALSE;
      *least = MIN (*least, value);
      *most = MAX (*most, value);
    }
  return *least < *most;
}

static guint32
count_used (const DynoTargets *targets)
{
  g_autofree guint8 *seen = g_new0 (guint8, (gsize) targets->n_classes + 1);
  guint32 used = 0;

  for (guint64 i = 0; i < targets->n; i++)
    {
      used += !seen[targets->classes[i]];
      seen[targets->classes[i]] = TRUE;
    }
  return used;
}

void
dyno_targets_finish (const DynoTargets *targets, const char *shown, DynoTask asked,
                     DynoDatasetInfo *info)
{
  g_autofree char *name = g_path_get_basename (shown);
  guint32 used = targets->classes ? count_used (targets) : 0;
  float least, most;

  if (targets->classes || targets->labels)
    dyno_dataset_info_set_classes (info, targets->labels ? targets->n_values : targets->n_classes);
  if (asked != DYNO_TASK_AUTO)
    return;
  if (targets->labels)
    dyno_dataset_info_guess (info, FALSE,
                             g_strdup_printf (_ ("rows of “%s” have several ones, or none"), name));
  else if (targets->one_hot)
    dyno_dataset_info_guess (info, TRUE,
                             g_strdup_printf (_ ("each row of “%s” is one 1 among zeros"), name));
  else if (targets->classes && used >= MANY && targets->n < 2 * (guint64) used)
    dyno_dataset_info_guess (
        info, TRUE,
        g_strdup_printf (
            _ ("“%s” holds whole numbers, though %u different ones in %" PRIu64 " samples"), name,
            used, targets->n));
  else if (targets->classes)
    dyno_dataset_info_guess (info, FALSE, g_strdup_printf (_ ("“%s” holds whole numbers"), name));
  else if (are_whole (targets, &least, &most))
    dyno_dataset_info_guess (
        info, TRUE,
        g_strdup_printf (_ ("“%s” holds floats, though all are whole numbers, from %g to %g"), name,
                         (double) least, (double) most));
}

void
dyno_targets_clear (DynoTargets *targets)
{
  g_clear_pointer (&targets->classes, g_free);
  g_clear_pointer (&targets->values, g_free);
}
