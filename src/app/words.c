/* SPDX-License-Identifier: MIT */
/* Translates the engine's names (of kinds, states, stages), which are those in files, into words
 * for the user.  An unknown name is shown unchanged, so that a new kind in a lower layer needs no
 * change here. */
#include "words.h"
#include "format.h"
#include "gpu-error.h"
#include "networklist.h"
#include "runwriter.h"
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define MOST_LABELS 8 /* labels of a sample that are named */

typedef struct {
  const char *name, *words;
} Word;

static const char *
find_word (const Word *words, gsize n, const char *name)
{
  for (gsize i = 0; name && i < n; i++)
    {
      if (g_str_equal (words[i].name, name))
        return _ (words[i].words);
    }
  return name ? name : "";
}

const char *
dyno_words_dataset_kind (const DynoDatasetInfo *info)
{
  static const Word words[] = {
    { "shapes", N_ ("Built in, drawn shapes") },
    { "waves", N_ ("Built in, waves") },
    { "poses", N_ ("Built in, drawn heads") },
    { "synthetic", N_ ("Noise made on the device") },
    { "idx", N_ ("IDX files (MNIST)") },
    { "image-folder", N_ ("Image folder") },
    { "npy", N_ ("NumPy arrays") },
    { "npz", N_ ("NumPy archive") },
    { "sequences", N_ ("Sequences (NumPy)") },
    { "300w-lp", N_ ("Head poses (300W-LP, AFLW2000)") },
    { "biwi", N_ ("Head poses (BIWI)") },
    { "cifar", N_ ("CIFAR files") },
    { "manifest", N_ ("List of images") },
    { "archive", N_ ("Image folder in an archive") },
    { "webdataset", N_ ("WebDataset") },
    { "packed-arrays", N_ ("Packed arrays (WebDataset)") },
    { "pixel-rows", N_ ("Pixels in rows of text") },
    { "masks", N_ ("Images and masks") },
    { "drawn-masks", N_ ("Built in, drawn shapes with masks") },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    {
      if (g_strcmp0 (words[i].name, info->kind) == 0)
        return _ (words[i].words);
    }
  return info->title ? info->title : info->kind;
}

char *
dyno_words_class_share (const DynoDatasetInfo *info, guint class_id)
{
  gboolean labels = dyno_schema_count_labels (&info->schema) > 0;
  guint64 all = labels ? info->n_samples : 0;
  for (guint i = 0; i < info->n_classes && !labels; i++)
    all += info->class_counts[i];
  return dyno_format_percent (all > 0 ? (double) info->class_counts[class_id] / (double) all : NAN);
}

char *
dyno_words_class_count (const DynoDatasetInfo *info, guint class_id)
{
  gboolean pixels = dyno_schema_find_mask (&info->schema) != NULL;
  g_autofree char *count = dyno_format_count (info->class_counts[class_id]);
  if (!pixels && dyno_schema_count_labels (&info->schema) == 0)
    return g_steal_pointer (&count);
  g_autofree char *share = dyno_words_class_share (info, class_id);
  if (pixels)
    /* Translators: a share: "68.1 % of the pixels" */
    return g_strdup_printf (_ ("%s of the pixels"), share);
  /* Translators: number of samples with a label, their share of all samples: "1,200 (30.0 %)" */
  return g_strdup_printf (_ ("%s (%s)"), count, share);
}

char *
dyno_words_labels (DynoDataset *dataset, guint64 index)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  const float *states = dyno_dataset_get_values (dataset, index);
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = 0;
  for (guint32 i = 0; states && i < info->n_classes && n <= MOST_LABELS; i++)
    {
      if (states[i] == 0)
        continue;
      g_string_append (text, n > 0 ? ", " : "");
      if (n++ == MOST_LABELS)
        g_string_append (text, "\342\200\246");
      else
        g_string_append_printf (text, "%s%s", info->class_names[i], isnan (states[i]) ? "?" : "");
    }
  return n > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : g_strdup (_ ("no label"));
}

const char *
dyno_words_memory_kind (DynoMemoryKind kind)
{
  static const Word words[] = {
    { "weights", N_ ("Weights") },     { "gradients", N_ ("Gradients") },
    { "optimizer", N_ ("Optimizer") }, { "activations", N_ ("Activations") },
    { "workspace", N_ ("Workspace") }, { "staging", N_ ("Batches") },
    { "snapshot", N_ ("Snapshot") },   { "other", N_ ("Other") },
  };
  return find_word (words, G_N_ELEMENTS (words), dyno_memory_kind_name (kind));
}

char *
dyno_words_model (const char *name)
{
  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    if (g_strcmp0 ((*model)->name, name) == 0)
      return g_strdup ((*model)->title);
  return dyno_network_list_title (name ? name : "");
}

char *
dyno_words_data (const char *location)
{
  static const Word generated[] = {
    { "builtin:shapes", N_ ("Shapes") }, { "builtin:waves", N_ ("Waves") },
    { "builtin:poses", N_ ("Poses") },   { "builtin:masks", N_ ("Masks") },
    { "synthetic", N_ ("Noise") },
  };
  g_autofree char *kind = g_strdup (location);
  /* The parameters of the generated data follow after this character. */
  kind[strcspn (kind, g_str_has_prefix (kind, "synthetic") ? ":" : "?")] = '\0';
  for (gsize i = 0; i < G_N_ELEMENTS (generated); i++)
    if (g_str_equal (kind, generated[i].name))
      return g_strdup (_ (generated[i].words));
  return *location ? g_filename_display_basename (location) : g_strdup ("");
}

char *
dyno_words_weights (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *run = g_filename_display_basename (folder),
                  *name = g_filename_display_basename (path);
  return g_str_has_prefix (name, "weights") ? g_build_filename (run, name, NULL)
                                            : g_steal_pointer (&name);
}

char *
dyno_words_sample_size (const DynoDatasetInfo *info)
{
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);

  if (input && input->variable)
    return g_strdup_printf (ngettext ("up to %u steps of %u value", "up to %u steps of %u values",
                                      (gulong) dyno_schema_count_channels (&info->schema)),
                            input->shape[0], dyno_schema_count_channels (&info->schema));
  if (input && input->n_axes == 2)
    return g_strdup_printf (
        ngettext ("%u steps of %u value", "%u steps of %u values", (gulong) input->shape[1]),
        input->shape[0], input->shape[1]);
  if (info->min_width == info->max_width && info->min_height == info->max_height)
    return dyno_format_size (info->max_width, info->max_height,
                             dyno_schema_count_channels (&info->schema));
  return dyno_format_isolate (
      g_strdup_printf ("%u\302\240\303\227\302\240%u \342\200\223 %u\302\240\303\227\302\240%u",
                       info->min_width, info->min_height, info->max_width, info->max_height));
}

const char *
dyno_words_preset (const DynoPreset *preset, const DynoDeviceInfo *device)
{
  if (!preset->this_gpu)
    return preset->name;
  return device && device->type == DYNO_DEVICE_TYPE_SOFTWARE ? _ ("This device") : _ ("This GPU");
}

/* Whether a folder is named by a time: 2026-11-23_13-20-05, optionally with _2. */
static gboolean
is_time_stamp (const char *folder)
{
  static const char form[] = "0000-00-00_00-00-00";
  g_autofree char *name = g_path_get_basename (folder);
  for (gsize i = 0; form[i]; i++)
    if (form[i] == '0' ? !g_ascii_isdigit (name[i]) : name[i] != form[i])
      return FALSE;
  return TRUE;
}

/* Whether the user has named the run, or its folder. */
static gboolean
is_named (const DynoStoredRun *run)
{
  return run->name
         || (run->folder && !is_time_stamp (run->folder)
             && !dyno_run_writer_has_claimed (run->folder, run->model, run->data));
}

char *
dyno_words_run_short (const DynoStoredRun *run)
{
  if (is_named (run))
    return dyno_stored_run_get_title (run);
  g_autofree char *model = dyno_words_model (run->model),
                  *data = dyno_words_data (run->data ? run->data : "");
  /* Translators: model, data set */
  return g_strdup_printf (_ ("%s on %s"), model, data);
}

char *
dyno_words_run (const DynoStoredRun *run)
{
  if (is_named (run))
    return dyno_stored_run_get_title (run);
  g_autofree char *model = dyno_words_model (run->model),
                  *data = dyno_words_data (run->data ? run->data : ""),
                  *when = dyno_format_when (run->begin_us);
  /* Translators: model, data set, a time: "MLP on Shapes, Today 09:12" */
  return g_strdup_printf (_ ("%s on %s, %s"), model, data, when);
}

const char *
dyno_words_run_state (const DynoStoredRun *run)
{
  static const char *const states[] = { N_ ("Running"), N_ ("Finished"), N_ ("Stopped"),
                                        N_ ("Failed"), N_ ("Interrupted") };
  return dyno_stored_run_stopped_as_asked (run) ? _ ("Stopped as asked") : _ (states[run->state]);
}

/* The epoch shown is the unfinished one, since the history counts completed epochs. */
char *
dyno_words_interruption (const DynoStoredRun *run)
{
  guint64 total = (guint64) MAX (run->settings.epochs, 1);
  g_autofree char *epoch = dyno_format_count (MIN (run->epochs + 1, total)),
                  *epochs = dyno_format_count (total);
  /* Translators: epoch, number of epochs */
  return g_strdup_printf (_ ("Interrupted: epoch %s of %s"), epoch, epochs);
}

const char *
dyno_words_session_state (DynoSessionState state)
{
  switch (state)
    {
    case DYNO_SESSION_NEW:
      return _ ("Ready");
    case DYNO_SESSION_PREPARING:
      return _ ("Preparing");
    case DYNO_SESSION_RUNNING:
      return _ ("Training");
    case DYNO_SESSION_PAUSED:
      return _ ("Paused");
    case DYNO_SESSION_STOPPING:
      return _ ("Stopping");
    case DYNO_SESSION_FINISHED:
      return _ ("Finished");
    case DYNO_SESSION_STOPPED:
      return _ ("Stopped");
    case DYNO_SESSION_FAILED:
      return _ ("Failed");
    default:
      return "";
    }
}

/* TRUE also before the first event, and between the last event and the first step. */
static gboolean
is_preparing (const DynoRunStatus *s)
{
  return (s->state == DYNO_SESSION_PREPARING || s->state == DYNO_SESSION_RUNNING)
         && (s->progress || s->n_steps == 0);
}

/* A translation has the letters that it needs: German nouns are always written with a capital. */
char *
dyno_words_metric_within (const DynoMetricInfo *metric)
{
  char *label = dyno_metric_get_label (metric);
  if (g_str_has_prefix (label, metric->title) && g_ascii_islower (label[1]))
    *label = g_ascii_tolower (*label);
  return label;
}

guint
dyno_words_find_metric (const DynoRunStatus *status)
{
  const char *named = status->job ? g_quark_to_string (status->job->settings.best_metric) : NULL;
  return (guint) MAX (dyno_metric_table_find_best (&status->metrics, named), 0);
}

char *
dyno_words_run_test (const DynoRunStatus *s)
{
  const DynoTestResult *test = &s->test;
  guint shown = dyno_words_find_metric (s);
  if (test->n_samples == 0)
    return NULL;
  gboolean has_metric = s->metrics.n > 0 && isfinite (test->metrics[shown]);
  g_autofree char *label =
      has_metric ? dyno_metric_get_label (&s->metrics.infos[shown]) : g_strdup (_ ("Loss"));
  g_autofree char *value = has_metric
                               ? dyno_format_metric (&s->metrics.infos[shown], test->metrics[shown])
                               : dyno_format_value (test->loss);
  g_autofree char *count = dyno_format_count (test->n_samples);
  /* Translators: a metric, its value, a number of samples: "Test: Accuracy 97.1 % on 300 samples
   * that the training has not seen" */
  return g_strdup_printf (ngettext ("Test: %s %s on %s sample that the training has not seen",
                                    "Test: %s %s on %s samples that the training has not seen",
                                    (gulong) test->n_samples),
                          label, value, count);
}

double
dyno_words_run_fraction (const DynoRunStatus *s)
{
  return is_preparing (s) ? 0 : CLAMP (s->fraction, 0, 1);
}

char *
dyno_words_run_progress (const DynoRunStatus *s)
{
  if (is_preparing (s))
    return g_strdup (dyno_words_session_state (DYNO_SESSION_PREPARING));
  if (s->state == DYNO_SESSION_PAUSED || s->state >= DYNO_SESSION_FINISHED)
    return g_strdup (dyno_words_session_state (s->state));
  return dyno_format_share (dyno_words_run_fraction (s));
}

const char *
dyno_words_progress (const char *what)
{
  static const Word words[] = {
    { "scan", N_ ("Reading the data set") },
    { "compile", N_ ("Compiling kernels") },
    { "autotune", N_ ("Choosing the fastest kernels") },
    { "weights", N_ ("Preparing weights") },
    { "first-step", N_ ("First step") },
  };
  return find_word (words, G_N_ELEMENTS (words), what);
}

const char *
dyno_words_stage (const char *stage)
{
  static const Word words[] = {
    { "baseline", N_ ("Base line") }, { "today", N_ ("Today's settings") },
    { "preset", N_ ("Preset") },      { "loader", N_ ("Loader alone") },
    { "gpu", N_ ("Device alone") },   { "search", N_ ("Search") },
    { "proof", N_ ("Proof") },        { "goal", N_ ("What is learnt") },
  };
  return find_word (words, G_N_ELEMENTS (words), stage);
}

const char *
dyno_words_outcome (DynoTrialOutcome outcome)
{
  switch (outcome)
    {
    case DYNO_TRIAL_OK:
      return _ ("Measured");
    case DYNO_TRIAL_DOES_NOT_FIT:
      return _ ("Does not fit");
    case DYNO_TRIAL_OUT_OF_MEMORY:
      return _ ("Out of memory");
    case DYNO_TRIAL_DIVERGED:
      return _ ("Diverged");
    case DYNO_TRIAL_DROPPED:
      return _ ("Dropped");
    case DYNO_TRIAL_FAILED:
    default:
      return _ ("Failed");
    }
}

const char *
dyno_words_level (DynoLevel level)
{
  switch (level)
    {
    case DYNO_LEVEL_SAFE:
      return _ ("Safe");
    case DYNO_LEVEL_MAX:
      return _ ("Max");
    case DYNO_LEVEL_RECOMMENDED:
    default:
      return _ ("Recommended");
    }
}

const char *
dyno_words_choice (const char *value)
{
  static const Word words[] = {
    { "constant", N_ ("Constant") },
    { "cosine", N_ ("Cosine") },
    { "step", N_ ("Steps") },
    { "none", N_ ("None") },
    { "sampling", N_ ("Sampling") },
    { "balanced", N_ ("Balanced") },
    { "false", N_ ("Off") },
    { "true", N_ ("By the data set") },
    { "weights", N_ ("By the weights") },
    { "classes", N_ ("Classes") },
    { "values", N_ ("Values") },
    { "labels", N_ ("Several labels") },
    { "pixels", N_ ("Class of each pixel") },
  };
  for (guint i = 0; i < DYNO_N_OPTIMIZERS; i++)
    if (g_str_equal (dyno_optimizer_get_info ((DynoOptimizer) i)->id, value))
      return dyno_optimizer_get_info ((DynoOptimizer) i)->title;
  return find_word (words, G_N_ELEMENTS (words), value);
}

gint64
dyno_words_fitting_batch (const DynoJobPlan *plan)
{
  return plan->fitting_batch >= 16 ? plan->fitting_batch / 8 * 8 : plan->fitting_batch;
}

/* Explains why the run will use another batch size than the one that is set; NULL: it uses this
 * one. */
static char *
words_smaller_batch (const DynoSettings *settings, const DynoJobPlan *plan)
{
  if (plan->batch_size == settings->batch_size || plan->n_train == 0)
    return NULL;
  g_autofree char *samples = dyno_format_count (plan->n_train),
                  *batch = dyno_format_count ((guint64) plan->batch_size);
  return g_strdup_printf (
      ngettext ("The training part has only %s sample: a batch size of %s will run.",
                "The training part has only %s samples: a batch size of %s will run.",
                (gulong) plan->n_train),
      samples, batch);
}

gint64
dyno_words_better_batch (const DynoSettings *settings, const DynoJobPlan *plan)
{
  if (!plan->fits)
    return dyno_words_fitting_batch (plan);
  return plan->n_train > 0 && plan->batch_size != settings->batch_size ? plan->batch_size : 0;
}

char *
dyno_words_plan_advice (const DynoSettings *settings, const DynoJobPlan *plan)
{
  if (plan->fits)
    return words_smaller_batch (settings, plan);
  guint64 over =
      plan->plan.total_bytes > plan->limit_bytes ? plan->plan.total_bytes - plan->limit_bytes : 0;
  if (over == 0)
    {
      g_autofree char *largest = dyno_format_bytes (plan->plan.largest_bytes),
                      *most = dyno_format_bytes (plan->plan.buffer_bytes);
      /* Translators: sizes of memory */
      return g_strdup_printf (_ ("One buffer of %s is needed, and the largest that this device can "
                                 "have is %s: choose a smaller "
                                 "batch, smaller images or a smaller model."),
                              largest, most);
    }
  g_autofree char *by = dyno_format_bytes (over), *budget = dyno_format_bytes (plan->limit_bytes);
  g_autofree char *batch = dyno_format_count ((guint64) dyno_words_fitting_batch (plan));
  if (plan->parts > 1)
    {
      g_autofree char *whole = dyno_format_count ((guint64) plan->batch_size),
                      *part = dyno_format_count ((guint64) plan->batch_size / plan->parts);
      return g_strdup_printf (ngettext ("%s more than the %s there are: each batch of %s will go "
                                        "through in %u micro-batch of %s.",
                                        "%s more than the %s there are: each batch of %s will go "
                                        "through in %u micro-batches of %s.",
                                        plan->parts),
                              by, budget, whole, plan->parts, part);
    }
  if (plan->fits_checkpointed && !settings->checkpointing && plan->fitting_batch > 0)
    return g_strdup_printf (_ ("%s more than the %s there are. A batch size of %s fits; so does "
                               "this one with activation checkpointing."),
                            by, budget, batch);
  if (plan->fitting_batch > 0)
    return g_strdup_printf (_ ("%s more than the %s there are. A batch size of %s fits; "
                               "accumulation keeps the effective batch."),
                            by, budget, batch);
  if (plan->fits_checkpointed && !settings->checkpointing)
    return g_strdup_printf (
        _ ("%s more than the %s there are. It fits with activation checkpointing."), by, budget);
  return g_strdup_printf (_ ("%s more than the %s there are. No batch size fits: choose smaller "
                             "images or a smaller model."),
                          by, budget);
}

char *
dyno_words_emulation (const DynoPreset *preset, const DynoDeviceInfo *device)
{
  g_autofree char *note = dyno_preset_emulation_note (preset, device);
  g_autofree char *card = dyno_format_bytes (preset->usable_bytes),
                  *own = dyno_format_bytes (device->vram_bytes);
  if (!note)
    return NULL;
  if (device->vram_bytes < preset->usable_bytes)
    return g_strdup_printf (_ ("%s has %s to use, this device only %s: its own memory is the "
                               "limit."),
                            preset->name, card, own);
  return g_strdup_printf (_ ("Emulation: Dyno takes no more than the %s that a program gets of %s. "
                             "What fits here fits there; the speed is this device's own."),
                          card, preset->name);
}

char *
dyno_words_preset_sources (const DynoPreset *preset, const DynoPresetUse *use)
{
  g_autofree char *batch = dyno_preset_describe_batch (preset, use),
                  *derived = dyno_preset_describe_derived (preset),
                  *usable = dyno_format_bytes (preset->usable_bytes),
                  *total = dyno_format_bytes (preset->total_bytes);
  GString *text = g_string_new (NULL);

  if (batch)
    g_string_append_printf (text, "%s.\n", batch);
  if (derived)
    {
      /* Translators: names of settings */
      g_string_append_printf (text, _ ("Derived, that is, Dyno's own and given by no guide: %s."),
                              derived);
      g_string_append_c (text, '\n');
    }
  if (!preset->this_gpu)
    /* Translators: memory that a program gets, and memory in all */
    g_string_append_printf (text, _ ("Memory: %s to use of %s in all"), usable, total);
  if (!preset->this_gpu && preset->vram_source)
    g_string_append_printf (text, " (%s)", preset->vram_source);
  return g_strchomp (g_string_free (text, FALSE));
}

const char *
dyno_words_error_title (const GError *error)
{
  if (error->domain == DYNO_DATA_ERROR)
    return _ ("The data set cannot be used");
  if (error->domain == DYNO_GPU_ERROR)
    {
      switch (error->code)
        {
        case DYNO_GPU_ERROR_NO_LOADER:
        case DYNO_GPU_ERROR_NO_DEVICE:
          return _ ("No GPU with Vulkan was found");
        case DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY:
        case DYNO_GPU_ERROR_OVER_BUDGET:
          return _ ("The device's memory is full");
        case DYNO_GPU_ERROR_DEVICE_LOST:
          return _ ("The device was lost");
        case DYNO_GPU_ERROR_TIMEOUT:
          return _ ("The device does not answer");
        default:
          return _ ("The device reported an error");
        }
    }
  if (error->domain == DYNO_TRAIN_ERROR)
    {
      switch (error->code)
        {
        case DYNO_TRAIN_ERROR_SETTING:
          return _ ("A setting is out of its range");
        case DYNO_TRAIN_ERROR_DATA:
          return _ ("Data set and model do not go together");
        case DYNO_TRAIN_ERROR_DOES_NOT_FIT:
          return _ ("This does not fit into the device's memory");
        case DYNO_TRAIN_ERROR_CHECKPOINT:
          return _ ("The weights cannot be read");
        case DYNO_TRAIN_ERROR_DIVERGED:
          return _ ("The training diverged");
        case DYNO_TRAIN_ERROR_OUTPUT:
          return _ ("The run's folder cannot be written");
        default:
          break;
        }
    }
  if (error->domain == DYNO_TUNE_ERROR)
    return error->code == DYNO_TUNE_ERROR_PRESET ? _ ("The preset cannot be read")
                                                 : _ ("No settings worked");
  return NULL;
}

const char *
dyno_words_error_step (const GError *error)
{
  if (error->domain == DYNO_DATA_ERROR
      && (error->code == DYNO_DATA_ERROR_NOT_FOUND || error->code == DYNO_DATA_ERROR_READ))
    return _ ("Choose a folder or a file that is there and may be read.");
  if (g_error_matches (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE))
    return _ ("Connect the disk or server that holds the data set again, then resume.");
  if (error->domain == DYNO_GPU_ERROR)
    {
      switch (error->code)
        {
        case DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY:
        case DYNO_GPU_ERROR_OVER_BUDGET:
          return _ ("Choose a smaller batch size, or close other programs that use the device.");
        case DYNO_GPU_ERROR_DEVICE_LOST:
        case DYNO_GPU_ERROR_TIMEOUT:
          return _ ("Start again; if it comes back, update the graphics driver.");
        default:
          return NULL;
        }
    }
  if (error->domain == DYNO_TRAIN_ERROR && error->code == DYNO_TRAIN_ERROR_DIVERGED)
    return _ ("Try a lower learning rate, a longer warm-up, or gradient clipping.");
  return NULL;
}
