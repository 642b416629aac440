/* SPDX-License-Identifier: MIT */
/* dynoctl inspect: the facts of a data set. */
#include "cli.h"
#include "dataset.h"
#include "inspect-augmented.h"
#include "inspect-groups.h"
#include "inspect-mask.h"
#include "inspect-preview.h"
#include "amount.h"
#include "output.h"
#include "signals.h"
#include "survey.h"
#include "text.h"
#include <math.h>
#include <string.h>

#define MOST_EXAMPLES 24

/* Describes how the values of the data set are normalised for the network, at default settings. */
static char *
describe_fed (const DynoDatasetInfo *info)
{
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  const DynoNormalisation *n = &input->normalisation;
  const char *values = input->element == DYNO_ELEMENT_U8 ? "bytes" : "values";
  g_autoptr (GString) text = NULL;
  gboolean centred = FALSE;

  if (info->schema.generated)
    return g_strdup ("noise made on the device");
  if (!n->scale_255 && !n->standardise)
    return g_strdup_printf ("%s as they are", values);
  text = g_string_new (values);
  if (n->scale_255)
    g_string_append (text, " divided by 255");
  for (guint c = 0; c < MIN (dyno_schema_count_channels (&info->schema), G_N_ELEMENTS (n->mean));
       c++)
    centred = centred || n->mean[c] != 0 || n->deviation[c] != 1;
  for (guint c = 0;
       centred && c < MIN (dyno_schema_count_channels (&info->schema), G_N_ELEMENTS (n->mean)); c++)
    g_string_append_printf (text, "%s%g/%g", c == 0 ? ", less mean over deviation " : " ",
                            (double) n->mean[c], (double) n->deviation[c]);
  g_string_append (text, "; as they are with data.normalise=false");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

#define MOST_LABELS 8 /* labels of an example */

typedef struct {
  const DynoDatasetInfo *info;
  const char *const *unreadable;
  char **notes;
  GPtrArray *warnings; /* char *, NULL-terminated */
  guint64 examples[MOST_EXAMPLES];
  guint n_examples;
  char **failed; /* found by --deep; NULL without it */
  guint64 n_failed;
  const DynoJob *job; /* by which the data would be divided */
  gboolean divided;   /* settings that divide them were given */
} Facts;

static void
print_list (DynoJson *json, const char *key, const char *const *list)
{
  dyno_json_begin_array (json, key);
  for (guint i = 0; list && list[i]; i++)
    dyno_json_string (json, NULL, list[i]);
  dyno_json_end_array (json);
}

static void
print_schema (DynoJson *json, const DynoBatchSchema *schema)
{
  static const char *const roles[] = { [DYNO_FIELD_INPUT] = "input",
                                       [DYNO_FIELD_TARGET] = "target",
                                       [DYNO_FIELD_LENGTH] = "length",
                                       [DYNO_FIELD_SEED] = "seed" };

  dyno_json_begin_array (json, "fields");
  for (guint i = 0; i < schema->n_fields; i++)
    {
      const DynoBatchField *field = &schema->fields[i];

      dyno_json_begin_object (json, NULL);
      dyno_json_string (json, "name", field->name);
      dyno_json_string (json, "role", roles[field->role]);
      dyno_json_string (json, "element", dyno_element_name (field->element));
      dyno_json_string (json, "axes", field->axes);
      dyno_json_begin_array (json, "shape");
      for (guint k = 0; k < field->n_axes; k++)
        dyno_json_uint (json, NULL, field->shape[k]);
      dyno_json_end_array (json);
      dyno_json_bool (json, "variable", field->variable);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

/* The names of the labels of a sample, and, with a question mark, of those that are not known. */
static char *
describe_labels (DynoDataset *dataset, guint64 index)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  const float *states = dyno_dataset_get_values (dataset, index);
  GString *text = g_string_new (NULL);
  guint shown = 0;

  for (guint32 i = 0; i < info->n_classes; i++)
    if (states[i] != 0 && shown++ < MOST_LABELS)
      g_string_append_printf (text, "%s%s%s", shown > 1 ? ", " : "", info->class_names[i],
                              isnan (states[i]) ? "?" : "");
  if (shown > MOST_LABELS)
    g_string_append_printf (text, " and %u more", shown - MOST_LABELS);
  return g_string_free (g_string_append (text, shown > 0 ? "" : "none"), FALSE);
}

/* The class, the labels, the values or the mask's classes of a sample; NULL: not known before it is
 * decoded. */
static char *
describe_target (DynoDataset *dataset, guint64 index)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  guint32 n = dyno_schema_count_values (&info->schema);
  const float *values;
  GString *text;

  if (dyno_schema_find_mask (&info->schema))
    return dyno_inspect_describe_mask (dataset, index);
  if (dyno_schema_count_labels (&info->schema) > 0)
    return describe_labels (dataset, index);
  if (n == 0)
    return info->n_classes == 0 || info->schema.generated
               ? NULL
               : g_strdup (info->class_names[dyno_dataset_get_label (dataset, index)]);
  values = dyno_dataset_get_values (dataset, index);
  if (!values)
    return NULL;
  text = g_string_new (NULL);
  for (guint32 i = 0; i < MIN (n, 8); i++)
    g_string_append_printf (text, "%s%g", i ? " " : "", (double) values[i]);
  return g_string_free (g_string_append (text, n > 8 ? " ..." : ""), FALSE);
}

static void
print_examples_json (DynoJson *json, DynoDataset *dataset, const Facts *facts)
{
  dyno_json_begin_array (json, "examples");
  for (guint i = 0; i < facts->n_examples; i++)
    {
      g_autofree char *name = dyno_dataset_describe_sample (dataset, facts->examples[i]),
                      *target = describe_target (dataset, facts->examples[i]);

      dyno_json_begin_object (json, NULL);
      dyno_json_uint (json, "index", facts->examples[i]);
      dyno_json_string (json, "name", name);
      if (target)
        dyno_json_string (json, "target", target);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

static void
print_examples (DynoDataset *dataset, const Facts *facts)
{
  g_autoptr (DynoTable) table = dyno_table_new ("example", "target", NULL);

  if (facts->info->generated || facts->n_examples == 0)
    return;
  for (guint i = 0; i < facts->n_examples; i++)
    {
      char *target = describe_target (dataset, facts->examples[i]);

      dyno_table_add (table, dyno_dataset_describe_sample (dataset, facts->examples[i]),
                      target ? target : g_strdup ("-"), NULL);
    }
  dyno_out_line ("%s", "");
  dyno_table_print (table);
}

static const struct {
  const char *name, *target;
} tasks[] = { [DYNO_TASK_CLASSES] = { "classes", "class" },
              [DYNO_TASK_VALUES] = { "values", "values" },
              [DYNO_TASK_LABELS] = { "labels", "labels" },
              [DYNO_TASK_PIXELS] = { "pixels", "mask" } };

static void
print_json (DynoDataset *dataset, const Facts *facts)
{
  const DynoDatasetInfo *info = facts->info;
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  const DynoTask task = dyno_dataset_get_task (info);
  g_autofree char *fed = describe_fed (info);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "kind", info->kind);
  dyno_json_string (&json, "title", info->title);
  dyno_json_string (&json, "name", info->name);
  dyno_json_string (&json, "data", info->location);
  dyno_json_uint (&json, "samples", info->n_samples);
  dyno_json_uint (&json, "unreadable", info->n_unreadable);
  dyno_json_uint (&json, "bytes", info->size_bytes);
  dyno_json_string (&json, "element", dyno_element_name (input->element));
  dyno_json_string (&json, "axes", info->axes);
  dyno_json_bool (&json, "normalise",
                  input->normalisation.scale_255 || input->normalisation.standardise);
  dyno_json_string (&json, "fed", fed);
  dyno_json_uint (&json, "channels", dyno_schema_count_channels (&info->schema));
  dyno_json_uint (&json, "min_width", info->min_width);
  dyno_json_uint (&json, "max_width", info->max_width);
  dyno_json_uint (&json, "min_height", info->min_height);
  dyno_json_uint (&json, "max_height", info->max_height);
  dyno_json_bool (&json, "resizable", info->resizable);
  dyno_json_string (&json, "target", tasks[task].target);
  dyno_json_string (&json, "task", tasks[task].name);
  dyno_json_bool (&json, "task_guessed", info->task_reason != NULL);
  if (info->task_reason)
    dyno_json_string (&json, "task_reason", info->task_reason);
  if (dyno_schema_count_values (&info->schema) == 0)
    {
      dyno_json_uint (&json, "classes", info->n_classes);
      dyno_json_begin_array (&json, "class_names");
      for (guint i = 0; info->class_names && i < info->n_classes; i++)
        dyno_json_string (&json, NULL, info->class_names[i]);
      dyno_json_end_array (&json);
      dyno_json_begin_array (&json, "class_counts");
      for (guint i = 0; info->class_counts && i < info->n_classes; i++)
        dyno_json_uint (&json, NULL, info->class_counts[i]);
      dyno_json_end_array (&json);
      if (task == DYNO_TASK_PIXELS)
        dyno_json_uint (&json, "ignored_pixels", info->n_ignored);
    }
  else
    {
      dyno_json_uint (&json, "targets", dyno_schema_count_values (&info->schema));
      print_list (&json, "target_names", (const char *const *) info->target_names);
      print_list (&json, "target_units", (const char *const *) info->target_units);
    }
  print_schema (&json, &info->schema);
  dyno_json_bool (&json, "has_split", info->has_split);
  dyno_json_bool (&json, "generated", info->generated);
  dyno_inspect_groups_print_json (&json, facts->job, info, facts->divided);
  print_list (&json, "unreadable_files", facts->unreadable);
  print_list (&json, "notes", (const char *const *) facts->notes);
  print_list (&json, "warnings", (const char *const *) facts->warnings->pdata);
  print_examples_json (&json, dataset, facts);
  if (facts->failed)
    {
      dyno_json_uint (&json, "undecodable", facts->n_failed);
      print_list (&json, "undecodable_samples", (const char *const *) facts->failed);
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_targets (const DynoDatasetInfo *info)
{
  guint32 n = dyno_schema_count_values (&info->schema);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint32 i = 0; info->target_names && i < n; i++)
    {
      const char *unit = info->target_units[i];
      g_string_append_printf (names, *unit ? "%s%s (%s)" : "%s%s", i > 0 ? ", " : ": ",
                              info->target_names[i], unit);
    }
  dyno_out_line ("targets     %u %s per sample%s", n, dyno_plural (n, "value", "values"),
                 names->str);
}

/* Prints the classes of samples, or of the pixels of their masks. */
static void
print_classes (const DynoDatasetInfo *info)
{
  DynoTask task = dyno_dataset_get_task (info);
  gboolean pixels = task == DYNO_TASK_PIXELS;
  g_autoptr (DynoTable) table = dyno_table_new (task == DYNO_TASK_LABELS ? "label" : "class",
                                                pixels ? "pixels" : "samples", "share", NULL);
  guint shown = MIN (info->n_classes, 100);
  guint64 total = pixels ? info->n_ignored : info->n_samples;

  for (guint i = 0; pixels && i < info->n_classes; i++)
    total += info->class_counts[i];

  for (guint i = 0; i < shown; i++)
    dyno_table_add (table, g_strdup (info->class_names[i]),
                    g_strdup_printf ("%" G_GUINT64_FORMAT, info->class_counts[i]),
                    g_strdup_printf ("%.1f %%", 100.0 * (double) info->class_counts[i]
                                                    / (double) MAX (1, total)),
                    NULL);
  dyno_out_line ("%s", "");
  dyno_table_print (table);
  if (shown < info->n_classes)
    dyno_out_line ("and %u more", info->n_classes - shown);
  if (info->n_ignored > 0)
    dyno_out_line ("%.1f %% of the pixels are ignored",
                   100.0 * (double) info->n_ignored / (double) MAX (1, total));
}

static void
print_names (const char *head, const char *const *list)
{
  if (head && list && list[0])
    {
      dyno_out_line ("%s", "");
      dyno_out_line ("%s", head);
    }
  for (guint i = 0; list && list[i]; i++)
    dyno_out_line ("  %s", list[i]);
}

/* TRUE for arrays with three axes that are not of bytes: some models read sequences from them, and
 * the model is not known here. */
static gboolean
may_be_sequences (const DynoDatasetInfo *info, const DynoBatchField *input)
{
  return g_strcmp0 (info->axes, "NHW") == 0 && input->element == DYNO_ELEMENT_F32;
}

static void
print_text (DynoDataset *dataset, const Facts *facts)
{
  const DynoDatasetInfo *info = facts->info;
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  g_autofree char *bytes = dyno_amount_bytes (info->size_bytes, " "), *fed = describe_fed (info);

  dyno_out_line ("%s: %s", info->title, info->name);
  dyno_out_line ("samples     %" G_GUINT64_FORMAT "%s", info->n_samples,
                 !info->has_split   ? ""
                 : info->n_test > 0 ? ", split into train, val and test"
                                    : ", split into train and val");
  if (info->n_unreadable)
    dyno_out_line ("unreadable  %" G_GUINT64_FORMAT, info->n_unreadable);
  if (input->variable)
    dyno_out_line ("sequences   up to %u %s of %u %s, %s, padded with %g", input->shape[0],
                   dyno_plural (input->shape[0], "step", "steps"),
                   dyno_schema_count_channels (&info->schema),
                   dyno_plural (dyno_schema_count_channels (&info->schema), "value", "values"),
                   dyno_element_name (input->element), input->pad);
  else if (input->n_axes == 2)
    dyno_out_line ("sequences   %u %s of %u %s, %s", input->shape[0],
                   dyno_plural (input->shape[0], "step", "steps"), input->shape[1],
                   dyno_plural (input->shape[1], "value", "values"),
                   dyno_element_name (input->element));
  else if (info->min_width == info->max_width && info->min_height == info->max_height)
    dyno_out_line ("size        %ux%u (width x height), %u %s, %s", info->max_width,
                   info->max_height, dyno_schema_count_channels (&info->schema),
                   dyno_plural (dyno_schema_count_channels (&info->schema), "channel", "channels"),
                   dyno_element_name (input->element));
  else
    dyno_out_line ("size        %ux%u to %ux%u (width x height), %u %s, %s", info->min_width,
                   info->min_height, info->max_width, info->max_height,
                   dyno_schema_count_channels (&info->schema),
                   dyno_plural (dyno_schema_count_channels (&info->schema), "channel", "channels"),
                   dyno_element_name (input->element));
  if (info->axes)
    dyno_out_line ("axes        %s%s", info->axes,
                   strlen (info->axes) == 4 ? "; data.layout sets them"
                   : may_be_sequences (info, input)
                       ? "; models for sequences read them as (N, T, F)"
                       : "");
  dyno_out_line ("fed         %s", fed);
  if (!info->generated)
    dyno_out_line ("on disk     %s", bytes);
  if (info->task_reason)
    dyno_out_line ("task        %s, a guess: %s (data.task sets it)",
                   tasks[dyno_dataset_get_task (info)].name, info->task_reason);
  if (dyno_schema_count_values (&info->schema) > 0)
    print_targets (info);
  else
    dyno_out_line ("classes     %u%s", info->n_classes,
                   dyno_dataset_get_task (info) == DYNO_TASK_PIXELS ? ", one for each pixel"
                   : dyno_dataset_get_task (info) == DYNO_TASK_LABELS
                       ? ", any number for each sample"
                       : "");
  dyno_inspect_groups_print (facts->job, info, facts->divided);
  if (dyno_schema_count_values (&info->schema) == 0 && info->class_names && info->class_counts)
    print_classes (info);
  print_examples (dataset, facts);
  print_names ("not readable:", facts->unreadable);
  if (facts->failed)
    {
      dyno_out_line ("%s", "");
      dyno_out_line (
          "decoded %" G_GUINT64_FORMAT " %s, %" G_GUINT64_FORMAT " of them cannot be read",
          info->n_samples, dyno_plural (info->n_samples, "sample", "samples"), facts->n_failed);
    }
  print_names (NULL, (const char *const *) facts->failed);
  print_names ("please note:", (const char *const *) facts->notes);
  print_names ("what may hurt:", (const char *const *) facts->warnings->pdata);
}

static gboolean
find_warnings (DynoDataset *dataset, gboolean deep, Facts *facts, GError **error)
{
  g_autoptr (DynoSurvey) survey =
      dyno_dataset_survey (dataset, deep ? 0 : DYNO_SURVEY_MOST_BYTES, NULL, NULL,
                           dyno_signals_get_cancellable (), error);

  if (!survey)
    return FALSE;
  facts->warnings = g_ptr_array_new_with_free_func (g_free);
  for (char **sentence = survey->sentences; *sentence; sentence++)
    g_ptr_array_add (facts->warnings, g_strdup (*sentence));
  if (!survey->compared)
    g_ptr_array_add (facts->warnings,
                     g_strdup ("The samples were not read to be compared: inspect --deep does"));
  g_ptr_array_add (facts->warnings, NULL);
  return TRUE;
}

/* Collects the facts.  The notes need the division of a data set that has its own; --deep reads all
 * samples. */
static gboolean
find_facts (DynoDataset *dataset, gboolean deep, Facts *facts, GError **error)
{
  g_autoptr (GArray) train = NULL, validation = NULL;

  facts->info = dyno_dataset_get_info (dataset);
  facts->unreadable = dyno_dataset_get_unreadable (dataset);
  if (facts->info->has_split)
    dyno_dataset_split (dataset, 0, 0, &train, &validation);
  facts->notes = dyno_dataset_list_notes (dataset, train, validation);
  facts->n_examples = dyno_dataset_pick_examples (dataset, MOST_EXAMPLES, facts->examples);
  if (!find_warnings (dataset, deep, facts, error))
    return FALSE;
  if (!deep)
    return TRUE;
  facts->failed = dyno_dataset_verify (dataset, 0, NULL, NULL, dyno_signals_get_cancellable (),
                                       &facts->n_failed, error);
  return facts->failed != NULL;
}

/* Writes the samples as the training of a job reads them; job NULL: as the loader delivers them. */
static gboolean
write_preview (DynoDataset *dataset, const Facts *facts, const char *path, const DynoJob *job,
               GError **error)
{
  g_autoptr (GPtrArray) captions = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < facts->n_examples; i++)
    {
      /* A caption has no room for the classes of a mask. */
      char *target = dyno_dataset_get_task (facts->info) == DYNO_TASK_PIXELS
                         ? NULL
                         : describe_target (dataset, facts->examples[i]);

      g_ptr_array_add (
          captions, target ? target : dyno_dataset_describe_sample (dataset, facts->examples[i]));
    }
  if (job)
    return dyno_inspect_augmented (dataset, facts->examples, facts->n_examples,
                                   (char *const *) captions->pdata, path, job, error);
  return dyno_inspect_preview (dataset, facts->examples, facts->n_examples,
                               (char *const *) captions->pdata, path, error);
}

int
dyno_verb_inspect (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_auto (GStrv) names = NULL, set = NULL;
  g_autofree char *targets = NULL, *preview = NULL;
  g_autoptr (DynoJob) job = dyno_job_new ();
  gboolean as_json = FALSE, deep = FALSE;
  DynoInspectSet purpose;
  Facts facts = { 0 };
  int code;
  DynoDatasetParams params;
  const GOptionEntry entries[] = {
    { "targets", 0, 0, G_OPTION_ARG_FILENAME, &targets,
      "Targets of an X.npy (default: found beside it)", "FILE" },
    { "deep", 0, 0, G_OPTION_ARG_NONE, &deep,
      "Decode every sample, and list those that cannot be read", NULL },
    { "preview", 0, 0, G_OPTION_ARG_FILENAME, &preview,
      "Draw the examples as the network gets them, into a PNG", "FILE" },
    { "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &set,
      "A setting of how DATA is read (data.task=values) or divided (data.test_split=0.2), or of "
      "the "
      "preview (augment.flip=true); may be given many times",
      "KEY=VALUE" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "One JSON object on one line", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (
          argc, argv, "DATA",
          "Shows what a data set holds: kind, samples, classes, sizes, what cannot be read.",
          entries, NULL, &names, 1, &code))
    return code;
  if (!names)
    return dyno_cli_usage (argv[0], "DATA is missing; to try one: builtin:shapes");
  if (!dyno_inspect_apply (&job->settings, set, &purpose, &error))
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  if (purpose == DYNO_INSPECT_OTHERS && !preview)
    return dyno_cli_usage (argv[0],
                           "--set takes other settings than those of how DATA is read (data.task) "
                           "or divided (data.test_split) only with --preview FILE.png");
  facts.job = job;
  facts.divided = purpose == DYNO_INSPECT_DIVIDES;
  job->targets = g_steal_pointer (&targets);
  dyno_job_get_dataset_params (job, &params);
  dataset =
      dyno_dataset_open (names[0], &params, NULL, NULL, dyno_signals_get_cancellable (), &error);
  if (!dataset)
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  job->settings.data_one_class = TRUE; /* allowed here, since a preview trains nothing */
  code = DYNO_EXIT_OK;
  if (!find_facts (dataset, deep, &facts, &error)
      || (preview
          && !write_preview (dataset, &facts, preview, purpose == DYNO_INSPECT_OTHERS ? job : NULL,
                             &error)))
    code = dyno_cli_fail (g_steal_pointer (&error), as_json);
  else if (as_json)
    print_json (dataset, &facts);
  else
    print_text (dataset, &facts);
  g_strfreev (facts.notes);
  g_clear_pointer (&facts.warnings, g_ptr_array_unref);
  g_strfreev (facts.failed);
  return code;
}
