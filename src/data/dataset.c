/* SPDX-License-Identifier: MIT */
/* Opening a data set: the first class of the table that matches the location takes it.  The shared
 * parts of all classes are here: references, facts, and the checks for every class. */
#include "dataset-class.h"
#include "cores.h"
#include "groups.h"
#include "hash.h"
#include "image.h"
#include "intl.h"
#include <inttypes.h>
#include <string.h>

#define DEFAULT_LISTED 100

static void
info_clear (DynoDatasetInfo *info)
{
  g_free (info->name);
  g_free (info->location);
  g_strfreev (info->class_names);
  g_strfreev (info->target_names);
  g_strfreev (info->target_units);
  g_free (info->class_counts);
  g_free (info->task_reason);
  g_free (info->first_refused);
  g_free (info->group_column);
  dyno_groups_free (info->groups);
}

/* Usual extensions of files with images and sequences, also of kinds that are not supported. */
gboolean
dyno_name_is_sample (const char *name)
{
  static const char *const endings[] = {
    "jpg",  "jpeg", "jpe", "jfif", "png", "webp", "bmp", "tif", "tiff", "gif", "heic",
    "heif", "avif", "jxl", "jp2",  "j2k", "ppm",  "pgm", "pnm", "tga",  "psd", "exr",
    "dng",  "cr2",  "cr3", "nef",  "arw", "orf",  "rw2", "npy", NULL,
  };
  const char *dot = strrchr (name, '.');

  for (guint i = 0; dot && endings[i]; i++)
    if (g_ascii_strcasecmp (dot + 1, endings[i]) == 0)
      return TRUE;
  return FALSE;
}

void
dyno_dataset_info_refuse (DynoDatasetInfo *info, const char *path, gboolean is_sample,
                          const char *reason)
{
  info->n_unreadable++;
  if (!is_sample && !dyno_name_is_sample (path))
    return;
  if (info->n_refused++ == 0)
    info->first_refused = g_strdup_printf ("%s: %s", path, reason);
}

void
dyno_dataset_info_guess (DynoDatasetInfo *info, gboolean doubted, char *reason)
{
  g_free (info->task_reason);
  info->task_reason = reason;
  info->task_doubted = doubted;
}

void
dyno_dataset_info_set_classes (DynoDatasetInfo *info, guint32 n_classes)
{
  g_strfreev (info->class_names);
  g_free (info->class_counts);
  info->n_classes = n_classes;
  info->class_names = g_new0 (char *, (gsize) n_classes + 1);
  info->class_counts = g_new0 (guint64, (gsize) n_classes + 1);
  for (guint32 i = 0; i < n_classes; i++)
    info->class_names[i] = g_strdup_printf ("%u", i);
}

void
dyno_dataset_info_count_labels (DynoDatasetInfo *info, const float *labels)
{
  for (guint32 c = 0; c < info->n_classes; c++)
    info->class_counts[c] += labels[c] > 0;
}

void
dyno_dataset_info_drop_targets (DynoDatasetInfo *info)
{
  DynoBatchField input = info->schema.fields[DYNO_DATASET_INPUT];

  info->schema = (DynoBatchSchema){ 0 };
  dyno_schema_add (&info->schema, &input);
}

void
dyno_dataset_info_set_mask_schema (DynoDatasetInfo *info)
{
  const DynoBatchSchema images =
      dyno_schema_image (DYNO_ELEMENT_U8, info->max_height, info->max_width, 3, 0);

  info->schema = (DynoBatchSchema){ 0 };
  dyno_schema_add (&info->schema, &images.fields[DYNO_DATASET_INPUT]);
  dyno_schema_add_mask (&info->schema, info->max_height, info->max_width);
  dyno_schema_add_seed (&info->schema);
}

void
dyno_dataset_info_standardise (DynoDatasetInfo *info, float mean, float deviation)
{
  DynoBatchField *input = &info->schema.fields[DYNO_DATASET_INPUT];
  DynoNormalisation *normalisation = &input->normalisation;

  normalisation->scale_255 = input->element == DYNO_ELEMENT_U8;
  normalisation->standardise = TRUE;
  for (guint c = 0; c < G_N_ELEMENTS (normalisation->mean); c++)
    {
      normalisation->mean[c] = mean;
      normalisation->deviation[c] = deviation;
    }
}

void
dyno_dataset_info_photographs (DynoDatasetInfo *info)
{
  static const float mean[3] = { 0.485f, 0.456f, 0.406f },
                     deviation[3] = { 0.229f, 0.224f, 0.225f };
  DynoNormalisation *normalisation = &info->schema.fields[DYNO_DATASET_INPUT].normalisation;

  dyno_dataset_info_standardise (info, 0, 1);
  memcpy (normalisation->mean, mean, sizeof mean);
  memcpy (normalisation->deviation, deviation, sizeof deviation);
}

/* A label that all samples have, or none, cannot be learned; one that can be learned suffices. */
static gboolean
check_labels (DynoDataset *dataset, const char *shown, GError **error)
{
  const DynoDatasetInfo *info = &dataset->info;
  const guint32 n = info->n_classes;

  for (guint32 c = 0; c < n; c++)
    {
      gboolean absent = FALSE;

      for (guint64 i = 0; info->class_counts[c] > 0 && !absent && i < info->n_samples; i++)
        absent = dataset->klass->values (dataset, i)[c] == 0;
      if (absent)
        return TRUE;
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY,
               _ ("“%s” has no label that some samples have and others have not; at least one is "
                  "needed (data.one_class allows none)"),
               shown);
  return FALSE;
}

gboolean
dyno_dataset_check (DynoDataset *dataset, gboolean one_class, GError **error)
{
  const DynoDatasetInfo *info = &dataset->info;
  g_autofree char *shown = g_filename_display_name (info->location);
  gboolean pixels = dyno_schema_find_mask (&info->schema) != NULL;
  guint32 used = 0;

  if (info->n_samples == 0)
    {
      if (info->n_unreadable > 0)
        g_set_error (
            error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY,
            _ ("“%s” has no readable sample: all %" PRIu64 " were refused, the first as “%s”"),
            shown, info->n_unreadable,
            dataset->unreadable->len > 0 ? (char *) g_ptr_array_index (dataset->unreadable, 0)
                                         : "?");
      else
        g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY, _ ("“%s” holds no sample"),
                     shown);
      return FALSE;
    }
  if (info->n_samples >= G_MAXUINT32)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” has %" PRIu64 " samples; at most %u can be used"), shown,
                   info->n_samples, G_MAXUINT32 - 1);
      return FALSE;
    }
  if (dyno_schema_count_values (&info->schema) > 0 || one_class)
    return TRUE;
  if (dyno_schema_count_labels (&info->schema) > 0)
    return check_labels (dataset, shown, error);
  for (guint32 i = 0; i < info->n_classes; i++)
    used += info->class_counts[i] > 0;
  if (used < 2)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY,
                   pixels
                       ? _ ("The masks of “%s” have pixels of one class only; at least two are "
                            "needed (data.one_class allows one)")
                       : _ ("“%s” has samples of one class only; a classifier needs at least two "
                            "(data.one_class allows it)"),
                   shown);
      return FALSE;
    }
  return TRUE;
}

DynoTask
dyno_dataset_get_task (const DynoDatasetInfo *info)
{
  if (dyno_schema_find_mask (&info->schema))
    return DYNO_TASK_PIXELS;
  if (dyno_schema_count_labels (&info->schema) > 0)
    return DYNO_TASK_LABELS;
  return dyno_schema_count_values (&info->schema) > 0 ? DYNO_TASK_VALUES : DYNO_TASK_CLASSES;
}

/* Refuses a kind of data set that has only classes, only values, only labels or only masks where
 * another task is requested. */
static gboolean
check_task (const DynoDatasetInfo *info, DynoTask asked, GError **error)
{
  DynoTask task = dyno_dataset_get_task (info);

  if (asked == DYNO_TASK_AUTO || asked == task
      || (info->schema.generated && asked != DYNO_TASK_PIXELS && asked != DYNO_TASK_LABELS))
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
               asked == DYNO_TASK_PIXELS
                   ? _ ("“%s” has no masks: a class for each pixel needs folders images and masks "
                        "whose files have the same names, or a list with columns image and mask; "
                        "else set data.task to auto")
               : asked == DYNO_TASK_LABELS
                   ? _ ("“%s” does not list several labels of a sample: they need a list of images "
                        "(CSV, JSON lines) with a column of 0 and 1 for each label, or with a "
                        "column “labels” of names between “|”, arrays whose y is (N, C) of 0 "
                        "and 1, COCO annotations, or WebDataset shards with a list “labels” in "
                        "each .json; else set data.task to auto")
               : task == DYNO_TASK_PIXELS
                   ? _ ("“%s” has masks, a class for each pixel and none for a whole image; set "
                        "data.task to auto")
               : task == DYNO_TASK_VALUES
                   ? _ ("“%s” has values to predict and no classes; set data.task to auto")
               : task == DYNO_TASK_LABELS
                   ? _ ("“%s” has several labels of a sample; set data.task to auto")
                   : _ ("“%s” has classes and no values to predict; set data.task to auto"),
               info->name);
  return FALSE;
}

static char *
short_name (const DynoLocation *location)
{
  g_autofree char *absolute = NULL;

  if (location->scheme)
    return g_strdup (strcmp (location->scheme, "builtin") == 0 ? location->body : location->scheme);
  absolute = g_canonicalize_filename (location->text, NULL);
  return g_filename_display_basename (absolute);
}

/* The formats hash which samples train; which of the others test is added here, so that data
 * without a test part have the hash that the formats give. */
static void
count_parts (DynoDataset *dataset)
{
  DynoDatasetInfo *info = &dataset->info;
  guint64 n[DYNO_PART_TEST + 1] = { 0 };

  for (guint64 i = 0; info->has_split && i < info->n_samples; i++)
    n[dyno_dataset_get_part (dataset, i)]++;
  dataset->test_validates = n[DYNO_PART_VALIDATION] == 0;
  info->n_validation = n[dataset->test_validates ? DYNO_PART_TEST : DYNO_PART_VALIDATION];
  info->n_test = dataset->test_validates ? 0 : n[DYNO_PART_TEST];
  for (guint64 i = 0; info->n_test > 0 && i < info->n_samples; i++)
    if (dyno_dataset_get_part (dataset, i) == DYNO_PART_TEST)
      info->content_hash = dyno_hash_bytes (info->content_hash, &i, sizeof i);
}

DynoDataset *
dyno_dataset_new (const DynoDatasetClass *klass, const DynoOpenContext *context, GError **error)
{
  g_autoptr (DynoDataset) dataset = g_new0 (DynoDataset, 1);

  g_atomic_ref_count_init (&dataset->references);
  dataset->klass = klass;
  dataset->unreadable = g_ptr_array_new_with_free_func (g_free);
  dataset->notes = g_ptr_array_new_with_free_func (g_free);
  dataset->info.kind = klass->kind;
  dataset->info.title = klass->title;
  dataset->info.name = short_name (context->location);
  dataset->info.location = g_strdup (context->location->text);
  if (!klass->open (dataset, context, error)
      || !dyno_dataset_check (dataset, context->params->one_class, error)
      || (!context->paths && !check_task (&dataset->info, context->params->task, error)))
    return NULL;
  count_parts (dataset);
  if (!dyno_dataset_find_groups (dataset, context, error))
    return NULL;
  dyno_dataset_read_luma (dataset, context->params->wanted);
  dataset->info.croppable = klass->decode_crop && !dataset->info.luma && !dataset->info.grey;
  g_ptr_array_add (dataset->unreadable, NULL);
  return g_steal_pointer (&dataset);
}

/* The location of the data set within a folder, under the folder's name; NULL: the folder itself is
 * the data set. */
static DynoLocation *
look_within (const DynoLocation *root, const DynoDatasetClass **klass,
             const DynoDatasetParams *params)
{
  g_autofree char *path = *klass == &dyno_dataset_class_imagefolder
                              ? dyno_dataset_see_through (root, params->one_class)
                              : NULL;
  g_autoptr (DynoLocation) inner = path ? dyno_location_new (path, NULL) : NULL;

  if (!inner || !dyno_dataset_find_class_for (inner, params->task))
    return NULL;
  *klass = dyno_dataset_find_class_for (inner, params->task);
  g_free (inner->text);
  inner->text = g_strdup (root->text);
  return g_steal_pointer (&inner);
}

static void
note_within (DynoDataset *dataset, const DynoLocation *root, const DynoLocation *inner)
{
  const char *within = inner->body + strlen (root->body);
  g_autofree char *shown = g_filename_display_name (within + strspn (within, "/"));

  g_ptr_array_add (dataset->notes,
                   g_strdup_printf (_ ("The data set is in “%s” of the folder"), shown));
}

static DynoDataset *
open_location (const char *location, const DynoDatasetParams *params, DynoScanProgress progress,
               gpointer data, GCancellable *cancellable, GError **error)
{
  static const DynoDatasetParams defaults;
  g_autoptr (DynoLocation) parsed = NULL, inner = NULL;
  g_autoptr (DynoCoresHold) hold = NULL;
  const DynoDatasetClass *klass;
  g_autofree char *shown = NULL;

  parsed = dyno_location_new (location, error);
  if (!parsed)
    return NULL;
  params = params ? params : &defaults;
  hold = dyno_cores_hold (params->threads);
  klass = dyno_dataset_find_class_for (parsed, params->task);
  if (klass)
    {
      inner = look_within (parsed, &klass, params);
      DynoOpenContext context = { .location = inner ? inner : parsed,
                                  .params = params,
                                  .max_listed =
                                      params->max_listed > 0 ? params->max_listed : DEFAULT_LISTED,
                                  .progress = progress,
                                  .progress_data = data,
                                  .cancellable = cancellable };
      DynoDataset *dataset = dyno_dataset_new (klass, &context, error);

      if (dataset && inner)
        note_within (dataset, parsed, inner);
      return dataset;
    }

  shown = g_filename_display_name (location);
  if (parsed->scheme)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND,
                 _ ("There is no built-in data set “%s”; known: builtin:shapes, builtin:masks, "
                    "builtin:waves, builtin:poses, synthetic:HxWxC"),
                 shown);
  else
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
                 _ ("“%s” is not a data set that Dyno reads; choose a folder with one sub-folder "
                    "of images for each class, a .zip or .tar of one, folders images and masks, a "
                    "list of images (CSV, JSON lines), IDX or CIFAR files, an X.npy with its "
                    "y.npy, or an .npz"),
                 shown);
  return NULL;
}

DynoDataset *
dyno_dataset_end_open (DynoDataset *dataset, GCancellable *cancellable, GError *problem,
                       GError **error)
{
  if (cancellable)
    g_cancellable_pop_current (cancellable);
  if (g_cancellable_is_cancelled (cancellable))
    {
      g_clear_pointer (&dataset, dyno_dataset_unref);
      g_clear_error (&problem);
      g_cancellable_set_error_if_cancelled (cancellable, &problem);
    }
  if (problem)
    g_propagate_error (error, problem);
  return dataset;
}

DynoDataset *
dyno_dataset_open (const char *location, const DynoDatasetParams *params, DynoScanProgress progress,
                   gpointer data, GCancellable *cancellable, GError **error)
{
  GError *problem = NULL;
  DynoDataset *dataset;

  g_return_val_if_fail (location, NULL);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (cancellable)
    g_cancellable_push_current (cancellable);
  dataset = open_location (location, params, progress, data, cancellable, &problem);
  return dyno_dataset_end_open (dataset, cancellable, problem, error);
}

DynoDataset *
dyno_dataset_ref (DynoDataset *dataset)
{
  g_atomic_ref_count_inc (&dataset->references);
  return dataset;
}

void
dyno_dataset_unref (DynoDataset *dataset)
{
  if (!dataset || !g_atomic_ref_count_dec (&dataset->references))
    return;
  if (dataset->klass->close)
    dataset->klass->close (dataset);
  info_clear (&dataset->info);
  g_ptr_array_unref (dataset->unreadable);
  g_ptr_array_unref (dataset->notes);
  g_free (dataset);
}

const DynoDatasetInfo *
dyno_dataset_get_info (DynoDataset *dataset)
{
  return &dataset->info;
}

const char *const *
dyno_dataset_get_unreadable (DynoDataset *dataset)
{
  return (const char *const *) dataset->unreadable->pdata;
}

void
dyno_dataset_get_schema (const DynoDatasetInfo *info, guint32 width, guint32 height,
                         DynoBatchSchema *schema)
{
  *schema = info->schema;
  for (guint i = 0; i < schema->n_fields && info->resizable; i++)
    for (guint k = 0; k < schema->fields[i].n_axes; k++)
      {
        DynoBatchField *field = &schema->fields[i];
        /* Values have no such axes, a mask has those of its image. */
        if (field->axes[k] == 'H')
          field->shape[k] = height;
        if (field->axes[k] == 'W')
          field->shape[k] = width;
      }
}

gboolean
dyno_dataset_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                     gpointer const *fields, GByteArray *scratch, GError **error)
{
  const DynoDatasetInfo *info = &dataset->info;
  gsize fetched = 0;

  g_return_val_if_fail (index < info->n_samples, FALSE);
  g_return_val_if_fail (width > 0 && height > 0, FALSE);
  g_return_val_if_fail (info->resizable || (width == info->max_width && height == info->max_height),
                        FALSE);
  return (!dataset->klass->fetch
          || dataset->klass->fetch (dataset, index, scratch, &fetched, error))
         && dyno_dataset_decode_fetched (dataset, index, width, height, fields, scratch, fetched,
                                         error);
}

gboolean
dyno_dataset_find_size (DynoDataset *dataset, guint64 index, GByteArray *scratch, guint32 *width,
                        guint32 *height, GError **error)
{
  const DynoDatasetClass *klass = dataset->klass;
  const DynoDatasetInfo *info = &dataset->info;
  const DynoImageBox *box = klass->box ? klass->box (dataset, index) : NULL;
  DynoImageFacts facts;
  gsize fetched;

  g_return_val_if_fail (index < info->n_samples, FALSE);
  *width = box ? (guint32) box->width : info->max_width;
  *height = box ? (guint32) box->height : info->max_height;
  if (box || (info->min_width == *width && info->min_height == *height))
    return TRUE;
  if (!klass->has_files)
    {
      g_autofree char *sample = dyno_dataset_describe_sample (dataset, index);

      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("%s: the size of its picture is not known before it is scaled"), sample);
      return FALSE;
    }
  if (!klass->fetch (dataset, index, scratch, &fetched, error)
      || !dyno_image_probe (scratch->data, fetched, &facts, error))
    return FALSE;
  dyno_image_get_shown (&facts, width, height);
  return TRUE;
}

gboolean
dyno_dataset_probe (DynoDataset *dataset, guint64 index, GError **error)
{
  g_return_val_if_fail (index < dataset->info.n_samples, FALSE);
  return !dataset->klass->probe || dataset->klass->probe (dataset, index, error);
}

gboolean
dyno_dataset_has_classes (const DynoDatasetInfo *info)
{
  return info->n_classes > 0 && dyno_schema_count_floats (&info->schema) == 0
         && !dyno_schema_find_mask (&info->schema);
}

gint32
dyno_dataset_get_label (DynoDataset *dataset, guint64 index)
{
  g_return_val_if_fail (
      dyno_dataset_has_classes (&dataset->info) && index < dataset->info.n_samples, 0);
  return dataset->klass->label (dataset, index);
}

const float *
dyno_dataset_get_values (DynoDataset *dataset, guint64 index)
{
  g_return_val_if_fail (dyno_schema_count_floats (&dataset->info.schema) > 0
                            && index < dataset->info.n_samples,
                        NULL);
  return dataset->klass->values ? dataset->klass->values (dataset, index) : NULL;
}

char *
dyno_dataset_describe_sample (DynoDataset *dataset, guint64 index)
{
  g_return_val_if_fail (index < dataset->info.n_samples, NULL);
  if (dataset->klass->describe)
    return dataset->klass->describe (dataset, index);
  return g_strdup_printf ("#%" G_GUINT64_FORMAT, index);
}
