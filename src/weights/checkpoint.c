/* SPDX-License-Identifier: MIT */
/* Checkpoints, written and read.  Invariants:
 * - The file is complete or does not exist; it is used only when its hash is right.
 * - Floats are stored as their bits, in tensors, or with 17 digits, in metadata: the values read
 *   are exactly those written. */
#include "checkpoint.h"
#include "bestepoch.h"
#include "embedded.h"
#include "file.h"
#include "hash.h"
#include "planjob.h"
#include "schedule.h"
#include "weightsinfo.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define VERSION "1"

static DynoGraph *
graph_of (DynoProgram *program)
{
  return dyno_lowering_get_graph (dyno_program_get_lowering (program));
}

static gboolean G_GNUC_PRINTF (2, 3) fail (GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT, text);
  return FALSE;
}

/* TRUE: the folder has the files that a run writes before its first checkpoint. */
static gboolean
is_run (const char *folder)
{
  g_autofree char *settings = g_build_filename (folder, "settings.ini", NULL),
                  *log = g_build_filename (folder, "metrics.csv", NULL);

  return g_file_test (settings, G_FILE_TEST_EXISTS) && g_file_test (log, G_FILE_TEST_EXISTS);
}

char *
dyno_checkpoint_find (const char *resume, GError **error)
{
  gboolean folder = g_file_test (resume, G_FILE_TEST_IS_DIR);
  g_autofree char *path =
      folder ? g_build_filename (resume, DYNO_CHECKPOINT_NAME, NULL) : g_strdup (resume);
  g_autofree char *shown = g_filename_display_name (resume);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  if (!folder)
    fail (error, "There is no checkpoint “%s”; name a run's folder or a checkpoint in it", shown);
  else if (is_run (resume))
    fail (error,
          "“%s” has no " DYNO_CHECKPOINT_NAME ": its run ended before it had saved one, and cannot "
          "be resumed; start it anew, with the settings in its settings.ini",
          shown);
  else
    fail (error, "“%s” is not the folder of a run: it has no " DYNO_CHECKPOINT_NAME, shown);
  return NULL;
}

/* --- the run of weights ----------------------------------------------------------------------- */

#define RUN_KEY "dyno_run"

guint64
dyno_checkpoint_identify (const DynoJob *job, guint64 content_hash)
{
  guint64 hash = dyno_hash_bytes (DYNO_HASH_START, &content_hash, sizeof content_hash);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  hash = dyno_hash_string (hash, job->model);
  hash = dyno_hash_string (hash, job->weights_in ? job->weights_in : "");
  for (guint i = 0; i < n; i++)
    {
      gboolean tells = !table[i].same_weights;
      g_autofree char *value = tells ? dyno_settings_get (&job->settings, table[i].key) : NULL;

      if (value && strcmp (table[i].key, "epochs") != 0)
        hash = dyno_hash_string (dyno_hash_string (hash, table[i].key), value);
    }
  return MAX (hash, 1);
}

char **
dyno_checkpoint_weights_metadata (const DynoJob *job, const DynoDatasetInfo *data, guint64 run_id)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new ();
  g_autoptr (DynoWeightsInfo) info = dyno_weights_info_new (job, data, NULL);

  g_ptr_array_add (pairs, g_strdup ("format"));
  g_ptr_array_add (pairs, g_strdup ("pt"));
  if (info)
    dyno_weights_info_append (info, pairs);
  if (run_id)
    {
      g_ptr_array_add (pairs, g_strdup (RUN_KEY));
      g_ptr_array_add (pairs, g_strdup_printf ("%" G_GUINT64_FORMAT, run_id));
    }
  g_ptr_array_add (pairs, NULL);
  return (char **) g_ptr_array_steal (pairs, NULL);
}

gboolean
dyno_checkpoint_owns_weights (const char *path, guint64 run_id)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);
  const char *text = file ? dyno_safetensors_get_metadata (file, RUN_KEY) : NULL;

  return file && (text ? g_ascii_strtoull (text, NULL, 10) : 0) == run_id;
}

/* --- position in metadata --------------------------------------------------------------------- */

typedef struct {
  const char *key;
  gboolean real; /* double, else guint64 */
  gsize offset;
  gboolean optional; /* checkpoints of an earlier version lack it: 0, or NaN */
} Member;

#define METRIC_SUM(i) G_STRUCT_OFFSET (DynoPosition, epoch_metric_sums) + (i) * sizeof (double)
G_STATIC_ASSERT (DYNO_MAX_METRICS == 8);

static const Member members[] = {
  { "step", FALSE, G_STRUCT_OFFSET (DynoPosition, step) },
  { "epoch", FALSE, G_STRUCT_OFFSET (DynoPosition, epoch) },
  { "epoch_step", FALSE, G_STRUCT_OFFSET (DynoPosition, epoch_step) },
  { "seconds", TRUE, G_STRUCT_OFFSET (DynoPosition, seconds) },
  { "epoch_seconds", TRUE, G_STRUCT_OFFSET (DynoPosition, epoch_seconds) },
  { "best_val_accuracy", TRUE, G_STRUCT_OFFSET (DynoPosition, best_val_metric) },
  { "epoch_samples", FALSE, G_STRUCT_OFFSET (DynoPosition, epoch_samples) },
  { "epoch_loss_sum", TRUE, G_STRUCT_OFFSET (DynoPosition, epoch_loss_sum) },
  { "epoch_metric_sum", TRUE, METRIC_SUM (0) },
  { "batches_tracked", FALSE, G_STRUCT_OFFSET (DynoPosition, batches_tracked) },
  { "best_epoch", FALSE, G_STRUCT_OFFSET (DynoPosition, best_epoch), TRUE },
  { "early_epoch", FALSE, G_STRUCT_OFFSET (DynoPosition, early_epoch), TRUE },
  { "early_best", TRUE, G_STRUCT_OFFSET (DynoPosition, early_best), TRUE },
  { "best_val_loss", TRUE, G_STRUCT_OFFSET (DynoPosition, best_val_loss), TRUE },
  { "run", FALSE, G_STRUCT_OFFSET (DynoPosition, run_id), TRUE },
  { "epoch_metric_sum_1", TRUE, METRIC_SUM (1), TRUE },
  { "epoch_metric_sum_2", TRUE, METRIC_SUM (2), TRUE },
  { "epoch_metric_sum_3", TRUE, METRIC_SUM (3), TRUE },
  { "epoch_metric_sum_4", TRUE, METRIC_SUM (4), TRUE },
  { "epoch_metric_sum_5", TRUE, METRIC_SUM (5), TRUE },
  { "epoch_metric_sum_6", TRUE, METRIC_SUM (6), TRUE },
  { "epoch_metric_sum_7", TRUE, METRIC_SUM (7), TRUE },
};

static char *
member_to_text (const DynoPosition *position, const Member *member)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  double value;

  if (!member->real)
    return g_strdup_printf ("%" G_GUINT64_FORMAT,
                            G_STRUCT_MEMBER (guint64, position, member->offset));
  value = G_STRUCT_MEMBER (double, position, member->offset);
  return g_strdup (isnan (value) ? "nan" : g_ascii_dtostr (text, sizeof text, value));
}

static void
add_pair (GPtrArray *metadata, const char *key, char *value)
{
  g_ptr_array_add (metadata, g_strdup (key));
  g_ptr_array_add (metadata, value);
}

void
dyno_position_append (const DynoPosition *position, GPtrArray *metadata)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    add_pair (metadata, members[i].key, member_to_text (position, &members[i]));
}

gboolean
dyno_position_read (DynoPosition *position, GHashTable *metadata, const char *shown, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      const char *text = g_hash_table_lookup (metadata, members[i].key);
      if (!text && members[i].optional)
        text = members[i].real ? "nan" : "0";
      if (!text)
        return fail (error, "“%s” is not a checkpoint: it does not state its %s", shown,
                     members[i].key);
      if (members[i].real)
        G_STRUCT_MEMBER (double, position, members[i].offset) =
            strcmp (text, "nan") == 0 ? (double) NAN : g_ascii_strtod (text, NULL);
      else
        G_STRUCT_MEMBER (guint64, position, members[i].offset) = g_ascii_strtoull (text, NULL, 10);
    }
  return TRUE;
}

/* --- hash ------------------------------------------------------------------------------------- */

static guint64
hash_tensor (guint64 hash, const DynoSafetensor *tensor)
{
  hash = dyno_hash_string (hash, tensor->name);
  return dyno_hash_bytes (hash, tensor->data, tensor->size_bytes);
}

/* Hashes a pair; the sum of these hashes does not depend on the order of the pairs. */
static guint64
hash_pair (const char *key, const char *value)
{
  return dyno_hash_string (dyno_hash_string (DYNO_HASH_START, key), value);
}

static guint64
hash_file (DynoSafetensors *file)
{
  guint64 hash = DYNO_HASH_START, pairs = 0;
  GHashTableIter iter;
  gpointer key, value;

  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    hash = hash_tensor (hash, dyno_safetensors_get (file, i));
  g_hash_table_iter_init (&iter, dyno_safetensors_get_metadata_table (file));
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (strcmp (key, "hash") != 0)
      pairs += hash_pair (key, value);
  return hash ^ pairs;
}

/* --- writing ---------------------------------------------------------------------------------- */

static GPtrArray *
make_metadata (const DynoJob *job, guint64 content_hash, const DynoPosition *position)
{
  GPtrArray *metadata = g_ptr_array_new_with_free_func (g_free);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  add_pair (metadata, "dyno_checkpoint", g_strdup (VERSION));
  add_pair (metadata, "model", g_utf8_make_valid (job->model, -1));
  dyno_embedded_append (job->model, metadata);
  add_pair (metadata, "data", g_utf8_make_valid (job->data ? job->data : "", -1));
  add_pair (metadata, "ranks", g_strdup_printf ("%u", MAX (job->ranks, 1)));
  add_pair (metadata, "data_hash", g_strdup_printf ("%016" G_GINT64_MODIFIER "x", content_hash));
  dyno_position_append (position, metadata);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *key = g_strconcat ("settings.", table[i].key, NULL);
      add_pair (metadata, key, dyno_settings_get (&job->settings, table[i].key));
    }
  if (job->settings.data_normalise == DYNO_NORMALISE_WEIGHTS && job->knows_normalisation)
    dyno_normalisation_append (&job->normalisation, G_N_ELEMENTS (job->normalisation.mean),
                               metadata);
  return metadata;
}

static void
add_hash (GPtrArray *metadata, const GArray *tensors)
{
  guint64 hash = DYNO_HASH_START, pairs = 0;

  for (guint i = 0; i < tensors->len; i++)
    hash = hash_tensor (hash, &g_array_index (tensors, DynoSafetensor, i));
  for (guint i = 0; i + 1 < metadata->len; i += 2)
    pairs += hash_pair (g_ptr_array_index (metadata, i), g_ptr_array_index (metadata, i + 1));
  add_pair (metadata, "hash", g_strdup_printf ("%016" G_GINT64_MODIFIER "x", hash ^ pairs));
}

/* Gives the file that is about to be replaced a second name; where that is not possible, no
 * previous file is kept. */
static void
keep_previous (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (path);
  g_autofree char *previous = g_build_filename (folder, DYNO_CHECKPOINT_NAME_PREVIOUS, NULL);
  g_autofree char *temporary = g_build_filename (folder, DYNO_FILE_TEMPORARY_PREFIX "before", NULL);

  if (strcmp (base, DYNO_CHECKPOINT_NAME) != 0 || !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return;
  g_unlink (temporary);
  if (link (path, temporary) == 0)
    g_rename (temporary, previous);
  g_unlink (temporary);
}

gboolean
dyno_checkpoint_write (const char *path, DynoState *state, const DynoJob *job, guint64 content_hash,
                       const DynoPosition *position, GError **error)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free), metadata = NULL;
  g_autofree char *temporary = NULL;
  DynoSafetensor row = { .name = "scaler",
                         .type = DYNO_TENSOR_U32,
                         .n_dims = 1,
                         .shape = { sizeof state->scaler / 4 },
                         .data = &state->scaler,
                         .size_bytes = sizeof state->scaler };
  guint32 n_scaled = dyno_network_get_n_scaled (state->graph);
  DynoSafetensor targets = { .name = "targets",
                             .type = DYNO_TENSOR_F32,
                             .n_dims = 2,
                             .shape = { 2, n_scaled },
                             .data = dyno_network_get_target_scale (state->graph),
                             .size_bytes = 2 * n_scaled * sizeof (float) };

  state->model->batches_tracked = position->batches_tracked;
  dyno_weights_list (state->model, state->graph, "model.", FALSE, TRUE, tensors, names);
  if (state->average)
    dyno_weights_list (state->average, state->graph, "average.", FALSE, FALSE, tensors, names);
  dyno_weights_list (state->moment1, state->graph, "moment1.", TRUE, FALSE, tensors, names);
  if (state->moment2)
    dyno_weights_list (state->moment2, state->graph, "moment2.", TRUE, FALSE, tensors, names);
  g_array_append_val (tensors, row);
  if (n_scaled > 0)
    g_array_append_val (tensors, targets);
  if (!dyno_tensors_check_finite (tensors, error))
    return FALSE;
  metadata = make_metadata (job, content_hash, position);
  add_hash (metadata, tensors);
  g_ptr_array_add (metadata, NULL);
  /* Only a complete file on the disk replaces a checkpoint, and its previous one. */
  if (!dyno_safetensors_write_temporary (path, (const DynoSafetensor *) (gpointer) tensors->data,
                                         tensors->len, (const char *const *) metadata->pdata,
                                         &temporary, error))
    return FALSE;
  keep_previous (path);
  return dyno_file_replace (temporary, path, error);
}

/* --- reading ---------------------------------------------------------------------------------- */

static DynoSafetensors *
open_checked (const char *path, const char *shown, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, &problem);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *previous = g_build_filename (folder, DYNO_CHECKPOINT_NAME_PREVIOUS, NULL);
  const char *version = file ? dyno_safetensors_get_metadata (file, "dyno_checkpoint") : NULL;
  const char *hash = file ? dyno_safetensors_get_metadata (file, "hash") : NULL;

  if (g_error_matches (problem, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY))
    g_propagate_error (error, g_steal_pointer (&problem)); /* the error is not about the file */
  else if (file && !version)
    fail (error, "“%s” holds weights but is not a checkpoint; start from it with --weights instead",
          shown);
  else if (file && strcmp (version, VERSION) != 0)
    fail (error, "“%s” was written by a newer Dyno (checkpoint version %s)", shown, version);
  else if (file && hash && g_ascii_strtoull (hash, NULL, 16) == hash_file (file))
    return g_steal_pointer (&file);
  else if (g_file_test (previous, G_FILE_TEST_EXISTS) && strcmp (previous, path) != 0)
    fail (error, "“%s” is damaged (%s); the checkpoint before it is there: resume from “%s”", shown,
          problem ? problem->message : "its hash is wrong", previous);
  else
    fail (error, "“%s” is damaged (%s)", shown, problem ? problem->message : "its hash is wrong");
  return NULL;
}

static void G_GNUC_PRINTF (2, 3) warn (GPtrArray *warnings, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (warnings, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

/* Reads the settings of the checkpoint's run.  Keys that it lacks, or whose value is only valid in
 * a newer version, are unchanged and are named in unknown (may be NULL). */
static void
read_settings (DynoSafetensors *file, DynoSettings *settings, GString *unknown)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *key = g_strconcat ("settings.", table[i].key, NULL);
      const char *text = dyno_safetensors_get_metadata (file, key);
      if ((!text || !dyno_settings_set (settings, table[i].key, text, NULL)) && unknown)
        g_string_append_printf (unknown, "%s%s", unknown->len ? ", " : "", table[i].key);
    }
}

gboolean
dyno_checkpoint_read_job (const char *path, DynoJob *job, GPtrArray *warnings, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (DynoSafetensors) file = open_checked (path, shown, error);
  g_autoptr (GString) unknown = g_string_new (NULL);
  const char *model = file ? dyno_safetensors_get_metadata (file, "model") : NULL;

  if (!file)
    return FALSE;
  if (!model)
    return fail (error, "“%s” is not a checkpoint: it does not state its model", shown);
  if (!dyno_embedded_adopt (file, error))
    {
      g_prefix_error (error, "“%s”: ", shown);
      return FALSE;
    }
  g_free (job->model);
  job->model = g_strdup (model);
  read_settings (file, &job->settings, unknown);
  if (warnings && unknown->len == 0)
    warn (warnings,
          "There is no settings.ini beside “%s”: the run continues with the settings that the "
          "checkpoint holds",
          shown);
  else if (warnings)
    warn (warnings,
          "There is no settings.ini beside “%s”: the run continues with the settings that the "
          "checkpoint holds, and with default values for %s, which it does not hold",
          shown, unknown->str);
  return TRUE;
}

gboolean
dyno_checkpoint_read_normalisation (const char *path, DynoNormalisation *normalisation,
                                    gboolean *known, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (DynoSafetensors) file = open_checked (path, shown, error);

  if (!file)
    return FALSE;
  *known = dyno_safetensors_get_metadata (file, "input.scale") != NULL;
  return !*known || dyno_normalisation_read (file, normalisation, error);
}

static gboolean
compare (DynoSafetensors *file, const char *shown, const DynoJob *job, guint64 content_hash,
         const DynoSettings *was, GPtrArray *warnings, GError **error)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  const char *model = dyno_safetensors_get_metadata (file, "model");
  const char *data = dyno_safetensors_get_metadata (file, "data_hash");

  if (g_strcmp0 (model, job->model) != 0)
    return fail (error, "“%s” is of model %s, not of %s", shown, model ? model : "?", job->model);
  if (was->optimizer != job->settings.optimizer)
    {
      g_autofree char *optimizer = dyno_settings_get (was, "optimizer");
      return fail (error, "“%s” was written with optimizer %s; resume with the same", shown,
                   optimizer);
    }
  if (data && g_ascii_strtoull (data, NULL, 16) != content_hash)
    warn (warnings, "The data set is not the one that “%s” was trained on, or it has changed since",
          shown);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *old = dyno_settings_get (was, table[i].key),
                      *new = dyno_settings_get (&job->settings, table[i].key);
      if (table[i].same_on_resume && strcmp (old, new) != 0)
        warn (warnings,
              "%s was %s and is %s now: the run continues, but not as it would have without this "
              "change",
              table[i].key, *old ? old : "empty", *new ? new : "empty");
    }
  return TRUE;
}

static gboolean
load_space (DynoSafetensors *file, const char *shown, DynoProgram *program, DynoSpace space,
            const char *prefix, gboolean may_lack, DynoWeights *weights, GError **error)
{
  gboolean moments = space == DYNO_SPACE_MOMENT1 || space == DYNO_SPACE_MOMENT2;
  DynoWeightsSource source = { shown, prefix, TRUE, moments, may_lack };

  return dyno_weights_read (weights, graph_of (program), file, &source, error)
         && dyno_program_write_parameters (program, space, (const float *const *) weights->values,
                                           error);
}

static gboolean
load_scaler (DynoSafetensors *file, const char *shown, DynoProgram *program, gboolean amp,
             gboolean was_amp, GError **error)
{
  const DynoSafetensor *tensor = dyno_safetensors_lookup (file, "scaler");
  struct DynoScalerState scaler, fresh;
  DynoTensor *target = dyno_graph_scaler (graph_of (program));

  if (!tensor || tensor->size_bytes != sizeof scaler)
    return fail (error, "“%s” is not a checkpoint: it has no tensor “scaler”", shown);
  memcpy (&scaler, tensor->data, sizeof scaler);
  if (amp != was_amp)
    {
      if (!dyno_program_read_tensor (program, target, 0, &fresh, sizeof fresh, error))
        return FALSE;
      scaler.scale = fresh.scale;
      scaler.good_steps = 0;
    }
  return dyno_program_write_tensor (program, target, 0, &scaler, sizeof scaler, error);
}

/* An older checkpoint has no map of the targets (targets.h): its weights predict in the data's
 * unit. */
static gboolean
load_targets (DynoSafetensors *file, const char *shown, DynoProgram *program, GError **error)
{
  const DynoSafetensor *tensor = dyno_safetensors_lookup (file, "targets");
  guint32 n = dyno_network_get_n_scaled (graph_of (program));
  g_autofree float *scale = g_new (float, 2 * (gsize) n + 1);

  if (n == 0 && tensor)
    return fail (error, "“%s” was written with data.normalise true; resume with the same", shown);
  if (n == 0)
    return TRUE;
  if (tensor && (tensor->type != DYNO_TENSOR_F32 || tensor->size_bytes != 2 * n * sizeof (float)))
    return fail (error, "“%s” does not fit the data set: its values to predict are not %u", shown,
                 n);
  for (guint32 t = 0; t < n; t++)
    {
      scale[t] = 0;
      scale[n + t] = 1;
    }
  if (tensor)
    memcpy (scale, tensor->data, tensor->size_bytes);
  return dyno_program_write_target_scale (program, scale, error);
}

/* The number of ranks that trained together; 1 for an older checkpoint, which does not state it. */
static guint
read_ranks (DynoSafetensors *file)
{
  const char *text = dyno_safetensors_get_metadata (file, "ranks");
  guint64 ranks = text ? g_ascii_strtoull (text, NULL, 10) : 1;

  return (guint) CLAMP (ranks, 1, G_MAXUINT16);
}

static DynoScheduleSpan
span_of (const DynoSettings *settings, guint ranks, guint64 n_train)
{
  return (DynoScheduleSpan){
    .step_samples = (guint64) (settings->batch_size * settings->accumulate) * ranks,
    .steps_per_epoch = dyno_job_count_steps (settings, n_train, ranks),
  };
}

/* For steps of another size: the position among the samples of its epoch is kept.  Warns where the
 * learning rate jumps. */
static void
move_position (DynoPosition *position, const DynoSettings *was, guint was_ranks, const DynoJob *job,
               guint64 n_train, GPtrArray *warnings)
{
  const DynoSettings *now = &job->settings;
  DynoScheduleSpan before = span_of (was, was_ranks, n_train),
                   after = span_of (now, MAX (job->ranks, 1), n_train);
  guint64 place = position->epoch * before.steps_per_epoch + position->epoch_step;
  double was_lr = dyno_schedule_lr (was, place, before.steps_per_epoch,
                                    (guint64) was->epochs * before.steps_per_epoch),
         now_lr;
  char *change;

  position->epoch_step = dyno_schedule_move (position->epoch_step, &before, &after);
  place = position->epoch * after.steps_per_epoch + position->epoch_step;
  now_lr = dyno_schedule_lr (now, place, after.steps_per_epoch,
                             (guint64) now->epochs * after.steps_per_epoch);
  change = position->epoch < (guint64) now->epochs
               ? dyno_schedule_describe_change (was, was_lr, now, now_lr)
               : NULL;
  if (change)
    g_ptr_array_add (warnings, change);
}

gboolean
dyno_checkpoint_load (const char *path, DynoProgram *program, const DynoJob *job, guint64 n_train,
                      guint64 content_hash, DynoPosition *position, GPtrArray *warnings,
                      GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (DynoSafetensors) file = open_checked (path, shown, error);
  g_autoptr (DynoWeights) weights = NULL;
  guint n_moments = dyno_optimizer_get_info ((DynoOptimizer) job->settings.optimizer)->n_moments;
  gboolean thawed;
  DynoSettings was;

  if (!file
      || !dyno_position_read (position, dyno_safetensors_get_metadata_table (file), shown, error))
    return FALSE;
  dyno_settings_init (&was);
  read_settings (file, &was, NULL);
  if (!compare (file, shown, job, content_hash, &was, warnings, error))
    return FALSE;
  weights = dyno_weights_new (graph_of (program), error);
  /* Parameters that were frozen and are not any more begin without moments. */
  thawed = was.model_freeze != job->settings.model_freeze;
  if (!weights
      || !load_space (file, shown, program, DYNO_SPACE_MASTER, "model.", FALSE, weights, error)
      || !load_space (file, shown, program, DYNO_SPACE_MOMENT1, "moment1.", thawed, weights, error)
      || (job->settings.ema_decay > 0 && was.ema_decay > 0
          && !load_space (file, shown, program, DYNO_SPACE_AVERAGE, "average.", FALSE, weights,
                          error))
      || (n_moments > 1
          && !load_space (file, shown, program, DYNO_SPACE_MOMENT2, "moment2.", thawed, weights,
                          error))
      || !load_scaler (file, shown, program, job->settings.amp, was.amp, error)
      || !load_targets (file, shown, program, error))
    return FALSE;
  if (was.best_metric != job->settings.best_metric)
    { /* values of different metrics cannot be compared */
      dyno_position_forget_best (position);
      position->early_epoch = 0;
    }
  move_position (position, &was, read_ranks (file), job, n_train, warnings);
  return TRUE;
}
