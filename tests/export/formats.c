/* SPDX-License-Identifier: MIT */
/* Exports for other programs: every setting is in the file or listed as missing; names are data in
 * every language; the file is the same in any locale; the schedule of the scripts is that of a run.
 * tests/export/readers.py reads the files as the programs do. */
#include "dataset.h"
#include "exporter.h"
#include "quote.h"
#include "schedule.h"
#include "yaml.h"
#include <glib/gstdio.h>
#include <locale.h>
#include <string.h>

static void
set (DynoSettings *settings, const char *key, const char *value)
{
  g_autoptr (GError) error = NULL;

  dyno_settings_set (settings, key, value, &error);
  g_assert_no_error (error);
}

/* A job in which no setting makes another one meaningless. */
static DynoJob *
make_job (const char *data)
{
  DynoJob *job = dyno_job_new ();

  job->data = g_strdup (data);
  g_free (job->model);
  job->model = g_strdup ("resnet18");
  set (&job->settings, "workers", "2");
  set (&job->settings, "clip_norm", "1.5");
  set (&job->settings, "warmup_epochs", "1");
  set (&job->settings, "amp", "true");
  return job;
}

static DynoDataset *
open_shapes (void)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset =
      dyno_dataset_open ("builtin:shapes?size=32&samples=400", NULL, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dataset;
}

static gboolean
is_commented (const DynoExporter *exporter)
{
  return strcmp (exporter->extension, "json") != 0;
}

/* The text without comment lines. */
static char *
read_body (const DynoExporter *exporter, const DynoExportContext *context)
{
  g_autofree char *text = exporter->write (context);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GString *body = g_string_new (NULL);

  for (guint i = 0; lines[i]; i++)
    if (lines[i][0] != '#' || g_str_has_prefix (lines[i], "#SBATCH"))
      g_string_append_printf (body, "%s\n", lines[i]);
  return g_string_free (body, FALSE);
}

/* Sets a value that differs from the current one. */
static void
change (DynoSettings *settings, const DynoSettingInfo *info)
{
  double now = dyno_settings_get_number (settings, info->key), value;

  if (info->type == DYNO_SETTING_BOOL)
    value = !(now > 0);
  else if (info->type == DYNO_SETTING_ENUM)
    value = now > 0 ? 0 : 1;
  else if (info->type == DYNO_SETTING_DOUBLE)
    value = now == 1     ? (info->maximum > 1 ? 2 : 0.5)
            : now == 0.2 ? 0.4
                         : MAX (info->minimum, now / 2 + 0.1);
  else if (info->type == DYNO_SETTING_BYTES)
    value = 1 << 30;
  else if (info->type == DYNO_SETTING_TEXT)
    value = g_quark_from_static_string ("layer1,layer2");
  else
    value = now > 1 ? now * 2 : MIN (96, info->maximum);
  g_assert_true (dyno_settings_set_number (settings, info->key, value, NULL));
  g_assert_cmpfloat (dyno_settings_get_number (settings, info->key), !=, now);
}

/* Reads the value after a name in the text, as a number of the setting; FALSE: the name is missing,
 * or the value has another type. */
static gboolean
read_value (const char *text, const char *name, const DynoSettingInfo *info, double *value)
{
  g_autofree char *quoted = g_regex_escape_string (name, -1),
                  *pattern = g_strdup_printf ("^ *\"?%s\"?(?: =|:) (.*?),?$", quoted), *word = NULL;
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  DynoSettings scratch;
  g_autofree char *bare = NULL;

  if (!g_regex_match (regex, text, 0, &match))
    return FALSE;
  word = g_match_info_fetch (match, 1);
  bare = g_ascii_strdown (g_strdelimit (word, "'\"", ' '), -1);
  dyno_settings_init (&scratch);
  if (!dyno_settings_set (&scratch, info->key, g_strstrip (bare), NULL))
    return FALSE;
  *value = dyno_settings_get_number (&scratch, info->key);
  return TRUE;
}

static const DynoExportRow *
find_row (const DynoExporter *exporter, const DynoExportContext *context, const char *key)
{
  for (const DynoExportRow *row = dyno_exporter_get_rows (exporter, context); row && row->key;
       row++)
    if (g_str_equal (row->key, key))
      return row;
  return NULL;
}

/* Finds "key = value" or "key = value (there: other)" in the list of omitted settings. */
static const char *
find_left_out (char **list, const char *key)
{
  g_autofree char *start = g_strconcat (key, " = ", NULL);

  for (guint i = 0; list[i]; i++)
    if (g_str_has_prefix (list[i], start))
      return list[i];
  return NULL;
}

/* The other program's behaviour if its file does not hold the setting; NULL: unknown. */
static const char *
find_theirs (const DynoExporter *exporter, const DynoExportContext *context,
             const DynoSettingInfo *info)
{
  static const char *const without[][2] = {
    { "epochs" },
    { "batch_size" },
    { "optimizer" },
    { "lr" },
    { "weight_decay" },
    { "schedule" },
    { "workers" },
    { "seed" },
    { "amp", "false" },
    { "pinned", "false" },
    { "persistent_workers", "false" },
    { "momentum", "0" },
    { "warmup_epochs", "0" },
    { "data.val_split", "0" },
  };
  const DynoExportRow *row = find_row (exporter, context, info->key);

  for (guint i = 0; !row && i < G_N_ELEMENTS (without); i++)
    if (g_str_equal (without[i][0], info->key))
      return without[i][1];
  return row ? row->by_default : info->default_value;
}

/* The setting is omitted and listed with its value, or it is the other program's default. */
static void
check_without (const DynoExporter *exporter, const DynoExportContext *context, const char *text,
               const char *line, const DynoSettingInfo *info)
{
  const DynoSettings *s = &context->job->settings;
  const char *theirs = find_theirs (exporter, context, info);
  g_autofree char *value = dyno_settings_get (s, info->key), *start = NULL, *comment = NULL;
  DynoSettings there = *s;
  gboolean same = FALSE;

  if (theirs)
    {
      g_assert_true (dyno_settings_set (&there, info->key, theirs, NULL));
      same = dyno_settings_equal (&there, s);
    }
  if (!line && !same && dyno_setting_counts (info, s)
      && dyno_job_meets (info, context->job->model, context->dataset))
    g_error ("%s neither holds %s = %s nor lists it", exporter->id, info->key, value);
  if (!line)
    return;
  if (same)
    g_error ("%s lists %s = %s, which is the same there", exporter->id, info->key, value);
  start = g_strdup_printf ("%s = %s", info->key, value);
  comment = g_strdup_printf ("\n#   %s\n", line);
  g_assert_true (g_str_has_prefix (line, start));
  if (is_commented (exporter) && !strstr (text, comment))
    g_error ("%s lists %s as left out, and its file does not say so", exporter->id, info->key);
}

static void
check_setting (const DynoExporter *exporter, const DynoExportContext *context,
               const DynoSettingInfo *info)
{
  g_autoptr (DynoJob) job = dyno_job_copy (context->job);
  DynoExportContext changed = *context;
  g_autofree char *before = read_body (exporter, context), *after = NULL, *text = NULL;
  const DynoExportRow *row = find_row (exporter, context, info->key);
  g_auto (GStrv) left_out = NULL;
  const char *line;
  double value;

  change (&job->settings, info);
  changed.job = job;
  left_out = dyno_exporter_list_left_out (exporter, &changed);
  line = find_left_out (left_out, info->key);
  after = read_body (exporter, &changed);
  text = exporter->write (&changed);
  if (dyno_exporter_get_rows (exporter, context)
      && !(row && row->theirs && (!row->when || row->when (&changed))))
    {
      check_without (exporter, &changed, text, line, info);
      return;
    }
  g_assert_null (line);
  if (strcmp (before, after) == 0
      || (row && !strstr (before, row->theirs) && !strstr (after, row->theirs)))
    g_error ("%s says that it holds %s, and does not", exporter->id, info->key);
  if (row && row->direct
      && !(read_value (after, row->theirs, info, &value)
           && value == dyno_settings_get_number (&job->settings, info->key)))
    g_error ("%s holds another value of %s", exporter->id, info->key);
}

/* The same for unchanged settings: Dyno's default may differ from the other program's. */
static void
check_defaults (const DynoExporter *exporter, const DynoExportContext *context)
{
  g_auto (GStrv) left_out = dyno_exporter_list_left_out (exporter, context);
  g_autofree char *text = exporter->write (context);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n && dyno_exporter_get_rows (exporter, context); i++)
    {
      const DynoExportRow *row = find_row (exporter, context, table[i].key);
      const char *line = find_left_out (left_out, table[i].key);

      if (row && row->theirs && (!row->when || row->when (context)))
        g_assert_null (line);
      else
        check_without (exporter, context, text, line, &table[i]);
    }
}

static void
test_every_setting (void)
{
  static const char *const models[] = { "resnet18", "efficientnet_b0", "cnnlstm" };
  g_autoptr (DynoJob) job = make_job ("builtin:shapes");
  g_autoptr (DynoDataset) dataset = open_shapes ();
  DynoExportContext context = { .job = job, .dataset = dyno_dataset_get_info (dataset) };
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint m = 0; m < G_N_ELEMENTS (models); m++)
    for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
      {
        g_free (job->model);
        job->model = g_strdup (models[m]);
        check_defaults (*e, &context);
        for (guint i = 0; i < n; i++)
          check_setting (*e, &context, &table[i]);
      }
}

/* A program that lacks an optimizer is not given another one: its file has none of the optimizer's
 * settings, and lists them. */
static void
test_every_optimizer (void)
{
  g_autoptr (DynoJob) job = make_job ("builtin:shapes");
  g_autoptr (DynoDataset) dataset = open_shapes ();
  DynoExportContext context = { .job = job, .dataset = dyno_dataset_get_info (dataset) };

  for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
    {
      g_autoptr (GHashTable) bodies = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

      for (guint i = 0; i < DYNO_N_OPTIMIZERS; i++)
        {
          job->settings.optimizer = (gint) i;
          const DynoExportRow *row = find_row (*e, &context, "optimizer");
          check_defaults (*e, &context);
          if (!dyno_exporter_get_rows (*e, &context)
              || (row && row->theirs && (!row->when || row->when (&context))))
            g_assert_true (g_hash_table_add (bodies, read_body (*e, &context)));
        }
    }
}

/* The defaults of the other programs are known from their documentation; a default of Dyno that
 * differs is listed, and an equal one is not. */
static void
test_defaults_of_others (void)
{
  static const struct {
    const char *format, *left_out, *not_left_out;
  } rows[] = {
    { "trainingarguments", "momentum = 0.9 (there: 0)", "augment.flip" },
    { "ultralytics", "clip_norm = 1.5 (there: 10)", "augment.mixup" },
    { "ultralytics", "ema_decay = 0 (there: 0.9999)", "pinned" },
    { "timm", "weight_decay.norms = true (there: false)", "momentum" },
    { "trainingarguments", "weight_decay.norms = true", "augment.mixup" },
    { "torchrun", "augment.crop = 0 (there: 0.08)", "weight_decay.norms" },
    { "torchrun", "augment.flip = false (there: true)", "momentum" },
    { "torchrun", "augment.crop = 0 (there: 0.08)", "pinned" },
    { "slurm", "persistent_workers = true (there: false)", "image_size" },
    { "timm", "data.val_split = 0.1 (there: 0)", "persistent_workers" },
    { "accelerate", "batch_size = 32", "accumulate" },
    { "accelerate", "momentum = 0.9 (there: 0)", "memory.shrink" },
    { "deepspeed", "workers = 2", "label_smoothing" },
    { "lightning", "warmup_epochs = 1 (there: 0)", "prefetch" },
  };
  g_autoptr (DynoJob) job = make_job ("builtin:shapes");
  g_autoptr (DynoDataset) dataset = open_shapes ();
  DynoExportContext context = { .job = job, .dataset = dyno_dataset_get_info (dataset) };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const DynoExporter *exporter = dyno_exporter_find (rows[i].format);
      g_auto (GStrv) list = dyno_exporter_list_left_out (exporter, &context);

      g_assert_true (g_strv_contains ((const char *const *) list, rows[i].left_out));
      g_assert_null (find_left_out (list, rows[i].not_left_out));
    }
}

/* Programs that divide single samples are told to keep groups together. */
static void
test_groups_are_left_out_with_a_hint (void)
{
  static const char *const formats[] = { "pytorch", "tensorflow", "lightning", "timm" };
  g_autoptr (DynoJob) job = make_job ("list.csv");
  DynoExportContext context = { .job = job };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++)
    {
      const DynoExporter *exporter = dyno_exporter_find (formats[i / 2]);
      g_auto (GStrv) list = NULL;
      const char *line;

      g_assert_true (
          dyno_settings_set (&job->settings, "data.group_column", i % 2 ? "patient" : "", NULL));
      list = dyno_exporter_list_left_out (exporter, &context);
      line = find_left_out (list, "data.group_column");
      g_assert_cmpstr (line, ==,
                       i % 2 ? "data.group_column = patient (divide the samples by whole groups, "
                               "as scikit-learn's GroupShuffleSplit does)"
                             : NULL);
    }
}

/* In JSON a setting that was a switch in earlier versions stays a boolean, for programs that read
 * it as one. */
static void
test_json_of_a_switch_with_more (void)
{
  static const char *const rows[][2] = { { "false", "\"data.normalise\": false" },
                                         { "true", "\"data.normalise\": true" },
                                         { "weights", "\"data.normalise\": \"weights\"" } };
  g_autoptr (DynoJob) job = make_job ("builtin:shapes");
  DynoExportContext context = { .job = job };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = NULL;

      g_assert_true (dyno_settings_set (&job->settings, "data.normalise", rows[i][0], NULL));
      text = dyno_exporter_find ("json")->write (&context);
      g_assert_nonnull (strstr (text, rows[i][1]));
    }
}

/* Values that a format supports in one case and not in another. */
static void
test_left_out_by_value (void)
{
  static const struct {
    const char *format, *key, *value, *left_out;
  } rows[] = {
    { "deepspeed", "schedule", "step", "schedule = step (there: constant)" },
    { "trainingarguments", "schedule", "step", "schedule = step" },
    { "trainingarguments", "workers", "0", "persistent_workers = true (there: false)" },
    { "ultralytics", "lr", "1.5", "lr = 1.5 (there: 0.01)" },
    { "ultralytics", "augment.contrast", "0.5", "augment.contrast = 0.5 (there: 0)" },
    { "timm", "augment.crop_ratio", "1.5", "augment.crop_ratio = 1.5 (there: 1.3333)" },
    { "torchrun", "warmup_epochs", "0.5", "warmup_epochs = 0.5 (there: 0)" },
    { "lightning", "prefetch", "5", "prefetch = 5 (there: 2)" },
    /* The job clips by norm too. */
    { "lightning", "clip_value", "0.5", "clip_value = 0.5 (there: 0)" },
    { "timm", "clip_value", "0.5", "clip_value = 0.5 (there: 0)" },
    { "tensorflow", "clip_value", "0.5", "clip_value = 0.5 (there: 0)" },
    { "torchrun", "clip_value", "0.5", "clip_value = 0.5 (there: 0)" },
    { "trainingarguments", "clip_value", "0.5", "clip_value = 0.5 (there: 0)" },
    { "deepspeed", "clip_value", "0.5", "clip_value = 0.5 (there: 0)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const DynoExporter *exporter = dyno_exporter_find (rows[i].format);
      g_autoptr (DynoJob) job = make_job ("builtin:shapes");
      g_autoptr (DynoDataset) dataset = open_shapes ();
      DynoExportContext context = { .job = job, .dataset = dyno_dataset_get_info (dataset) };
      g_auto (GStrv) before = dyno_exporter_list_left_out (exporter, &context), after = NULL;

      g_assert_false (g_strv_contains ((const char *const *) before, rows[i].left_out));
      set (&job->settings, rows[i].key, rows[i].value);
      after = dyno_exporter_list_left_out (exporter, &context);
      if (!g_strv_contains ((const char *const *) after, rows[i].left_out))
        g_error ("%s does not list %s", rows[i].format, rows[i].left_out);
    }
}

/* The reference of torchvision trains its own models on images with classes; for any other job the
 * script of the PyTorch exporter is run. */
static void
test_program_by_model (void)
{
  static const struct {
    const char *model, *data, *program;
  } rows[] = {
    { "resnet18", "builtin:shapes?size=32&samples=40", "--model=resnet18" },
    { "mobilenetv2", "builtin:shapes?size=32&samples=40", "--model=mobilenet_v2" },
    { "mobilenet_v3_large", "builtin:shapes?size=32&samples=40", "--model=mobilenet_v3_large" },
    { "vit_b_16", "builtin:shapes?size=32&samples=40", "--model=vit_b_16" },
    { "vit_tiny_patch16_224", "builtin:shapes?size=32&samples=40", "script" },
    { "resnet18", NULL, "--model=resnet18" },
    { "simplecnn", NULL, "script" },
    { "headpose_resnet18", NULL, "script" },
    { "mlp", NULL, "script" },
    { "resnet18", "builtin:waves?samples=40", "script" },
    { "cnnlstm", "builtin:waves?samples=40", "script" },
  };
  static const char *const formats[] = { "torchrun", "slurm" };

  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (formats); i++)
    {
      const char *model = rows[i / 2].model, *program = rows[i / 2].program;
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoJob) job = make_job ("x");
      g_autoptr (DynoDataset) dataset = NULL;
      DynoExportContext context = { .job = job };
      g_autofree char *text = NULL;
      gboolean own = !g_str_has_prefix (program, "--");

      if (rows[i / 2].data)
        dataset = dyno_dataset_open (rows[i / 2].data, NULL, NULL, NULL, NULL, &error);
      g_assert_no_error (error);
      context.dataset = dataset ? dyno_dataset_get_info (dataset) : NULL;
      g_free (job->model);
      job->model = g_strdup (model);
      text = dyno_exporter_find (formats[i % 2])->write (&context);
      g_assert_true ((strstr (text, own ? "def make_model():" : program) != NULL));
      g_assert_true ((strstr (text, "--model=") == NULL) == own);
    }
}

/* PyTorch options without a setting in Dyno are in the script, with the reason that applies to this
 * run. */
static void
test_switches_of_pytorch (void)
{
  static const char *const reasons[] = { "48 was the best\nbatch", NULL };
  g_autoptr (DynoJob) job = make_job ("x");
  DynoExportContext context = { .job = job };
  const DynoExporter *exporter = dyno_exporter_find ("pytorch");
  g_autofree char *unknown = exporter->write (&context), *known = NULL;

  g_assert_nonnull (strstr (unknown, "\nTF32 = False  # with AMP"));
  g_assert_nonnull (strstr (unknown, "\nCOMPILE = False  # no rate was measured"));
  g_assert_nonnull (strstr (unknown, "Dyno's settings are of 1 process.\n"));
  context.samples_per_s = 1234.56;
  context.reasons = reasons;
  job->ranks = 4;
  set (&job->settings, "amp", "false");
  known = exporter->write (&context);
  g_assert_nonnull (strstr (known, "\nTF32 = False  # Dyno computes in fp32"));
  g_assert_nonnull (strstr (known, "\nCOMPILE = False  # Dyno measured 1234.6 samples/s without"));
  g_assert_nonnull (strstr (known, "Dyno's rate is of 4 processes.\n"));
  g_assert_nonnull (strstr (known, "#   48 was the best"));
  g_assert_null (strstr (known, "\nbatch\n"));
}

/* Weights are written as numbers in the order of the classes, if the classes are known. */
static void
test_class_weights (void)
{
  g_autoptr (DynoJob) job = make_job ("builtin:shapes");
  g_autoptr (DynoDataset) dataset = open_shapes ();
  DynoExportContext context = { .job = job };
  const DynoExporter *exporter = dyno_exporter_find ("pytorch");
  g_autofree char *without = NULL, *with = NULL;

  set (&job->settings, "loss.weights", "square=0.1,circle=3");
  without = exporter->write (&context);
  g_assert_nonnull (strstr (without, "\nCLASS_WEIGHTS = None\n"));
  g_assert_nonnull (strstr (without, "\n#   loss.weights = square=0.1,circle=3\n"));
  context.dataset = dyno_dataset_get_info (dataset);
  with = exporter->write (&context);
  g_assert_nonnull (strstr (with, "\nCLASS_WEIGHTS = [3, 0.1"));
  g_assert_null (strstr (with, "loss.weights"));
}

static void
test_steps_need_the_data_set (void)
{
  g_autoptr (DynoJob) job = make_job ("builtin:shapes");
  g_autoptr (DynoDataset) dataset = open_shapes ();
  DynoExportContext context = { .job = job };
  const DynoExporter *exporter = dyno_exporter_find ("deepspeed");
  g_autofree char *without = exporter->write (&context), *with = NULL;

  g_assert_null (strstr (without, "scheduler"));
  context.dataset = dyno_dataset_get_info (dataset);
  with = exporter->write (&context);
  /* 360 samples to train: 11 batches of 32, ten epochs */
  g_assert_nonnull (strstr (with, "\"total_num_steps\": 110,"));
  g_assert_nonnull (strstr (with, "\"warmup_num_steps\": 11,"));
}

/* No name ends a comment, whatever the end of a line is in the language. */
static void
test_names_stay_in_comments (void)
{
  g_autoptr (DynoJob) job = make_job ("a\nEVIL\r\nEVIL\rEVIL\xc2\x85"
                                      "EVIL\xe2\x80\xa8"
                                      "EVIL\xe2\x80\xa9"
                                      "EVIL\x0c"
                                      "EVIL\xff");
  DynoExportContext context = { .job = job,
                                .device = "Card\nEVIL\xe2\x80\xa8"
                                          "EVIL" };

  g_free (job->model);
  job->model = g_strdup ("m\nEVIL");
  for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
    {
      g_autofree char *text = (*e)->write (&context);
      g_auto (GStrv) lines = NULL;

      g_assert_true (g_utf8_validate (text, -1, NULL));
      lines = g_regex_split_simple ("[\n\r\\x0b\\x0c\\x{85}\\x{2028}\\x{2029}]", text, 0, 0);
      for (guint i = 0; lines[i]; i++)
        g_assert_false (g_str_has_prefix (lines[i], "EVIL"));
    }
}

static void
test_head (void)
{
  g_autoptr (DynoJob) job = make_job ("/data/photos");
  DynoExportContext context = {
    .job = job, .device = "Card", .samples_per_s = 1234.56, .vram_bytes = 3 << 20
  };

  for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
    {
      g_autofree char *text = (*e)->write (&context);

      if (is_commented (*e))
        g_assert_nonnull (strstr (text,
                                  "# Dyno " DYNO_VERSION " settings, 2023-11-14\n# Card: Card\n"
                                  "# Data set: /data/photos\n# Measured: 1234.6 samples/s\n"
                                  "# Device memory: 3 MiB\n"));
    }
}

static void
test_any_locale (void)
{
  static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
  g_autoptr (DynoJob) job = make_job ("x");
  DynoExportContext context = { .job = job, .samples_per_s = 12.5, .vram_bytes = 3000000000 };
  guint n_found = 0;

  set (&job->settings, "lr", "0.00012345");
  set (&job->settings, "augment.brightness", "0.25");
  for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
    {
      g_autofree char *expected = (*e)->write (&context);

      for (guint i = 0; i < G_N_ELEMENTS (locales); i++)
        if (setlocale (LC_ALL, locales[i]))
          {
            g_autofree char *text = (*e)->write (&context);
            setlocale (LC_ALL, "C");
            g_assert_cmpstr (text, ==, expected);
            n_found++;
          }
    }
  if (n_found == 0)
    g_test_skip ("no locale with comma decimals is installed");
}

static void
test_quotes (void)
{
  static const struct {
    const char *text, *python, *yaml, *shell;
  } rows[] = {
    { "", "''", "\"\"", "''" },
    { "/data/photos-1", "'/data/photos-1'", "\"/data/photos-1\"", "/data/photos-1" },
    { "a b", "'a b'", "\"a b\"", "'a b'" },
    { "it's", "'it\\'s'", "\"it's\"", "'it'\\''s'" },
    { "\"#: {", "'\"#: {'", "\"\\\"#: {\"", "'\"#: {'" },
    { "a\\n", "'a\\\\n'", "\"a\\\\n\"", "'a\\n'" },
    { "$(x)`y`!", "'$(x)`y`!'", "\"$(x)`y`!\"", "'$(x)`y`!'" },
    { "a\nb\t", "'a\\nb\\t'", "\"a\\nb\\t\"", "$'a\\012b\\011'" },
    { "ä漢😀", "'ä漢😀'", "\"ä漢😀\"", "'ä漢😀'" },
    { "a\n\\b", "'a\\n\\\\b'", "\"a\\n\\\\b\"", "$'a\\012\\134b'" },
    { "\x01'\x7f", "'\\x01\\'\\x7f'", "\"\\x01'\\x7f\"", "$'\\001\\047\\177'" },
    { "\xe2\x80\xa8", "'\\u2028'", "\"\\u2028\"", "$'\\342\\200\\250'" },
    { "a\xff z", "'a\\udcff z'", "\"a\xef\xbf\xbd z\"", "$'a\\377\\040z'" },
    { "\xf3\xa0\x80\x81", "'\\U000e0001'", "\"\\U000e0001\"", "'\xf3\xa0\x80\x81'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *python = dyno_quote_python (rows[i].text),
                      *yaml = dyno_quote_yaml (rows[i].text),
                      *shell = dyno_quote_shell (rows[i].text);

      g_assert_cmpstr (python, ==, rows[i].python);
      g_assert_cmpstr (yaml, ==, rows[i].yaml);
      g_assert_cmpstr (shell, ==, rows[i].shell);
    }
}

static void
test_numbers (void)
{
  static const struct {
    double value;
    const char *text;
  } rows[] = { { 0, "0.0" },          { 1, "1.0" },          { 0.1, "0.1" },
               { 1e-5, "1.0e-05" },   { 1.5e-5, "1.5e-05" }, { 1e20, "1.0e+20" },
               { 1000000, "1.0e+06" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = dyno_quote_double (rows[i].value);
      g_assert_cmpstr (text, ==, rows[i].text);
    }
}

static void
test_measured_reads_back (void)
{
  static const char *const formats[] = { "keyfile", "json" };
  static const double rates[] = { 9201.5, 61.3, 0.0204 };
  g_autoptr (DynoJob) job = make_job ("/data");
  g_autofree char *folder = g_dir_make_tmp ("dyno-export-XXXXXX", NULL),
                  *path = g_build_filename (folder, "settings", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (rates); i++)
    {
      g_auto (DynoMeasured) measured = { 0 };
      g_autoptr (GError) error = NULL;
      DynoExportContext context = { .job = job,
                                    .device = "Card # 7: \"x\"",
                                    .samples_per_s = rates[i % G_N_ELEMENTS (rates)],
                                    .vram_bytes = G_GUINT64_CONSTANT (2250) << 20 };

      dyno_export_file (dyno_exporter_find (formats[i / G_N_ELEMENTS (rates)]), &context, path,
                        TRUE, &error);
      g_assert_no_error (error);
      dyno_settings_file_read_measured (path, &measured);
      g_assert_cmpstr (measured.device, ==, context.device);
      g_assert_cmpfloat (measured.samples_per_s, ==, context.samples_per_s);
      g_assert_cmpuint (measured.vram_bytes, ==, context.vram_bytes);
    }
  g_remove (path);
  g_rmdir (folder);
}

/* The reasons of a search for its choice are in the JSON, which is still a settings file. */
static void
test_json_of_a_search (void)
{
  static const char *const reasons[] = { "Not proven: \"x\".", "Second.", NULL };
  g_autofree char *folder = g_dir_make_tmp ("dyno-export-XXXXXX", NULL),
                  *path = g_build_filename (folder, "best.json", NULL);

  for (int proven = -1; proven <= 1; proven++) /* -1: not from a search */
    {
      g_autoptr (DynoJob) job = make_job ("/data"), read = dyno_job_new ();
      g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      g_autofree char *text = NULL;
      DynoExportContext context = { .job = job,
                                    .reasons = proven >= 0 ? reasons : NULL,
                                    .proven = proven > 0 };

      dyno_export_file (dyno_exporter_find ("json"), &context, path, TRUE, &error);
      g_assert_no_error (error);
      g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
      g_assert_true ((strstr (text, "\"proven\": true") != NULL) == (proven == 1));
      g_assert_true ((strstr (text, "\"proven\": false") != NULL) == (proven == 0));
      g_assert_true ((strstr (text, "\"Not proven: \\\"x\\\".\"") && strstr (text, "\"Second.\""))
                     == (proven >= 0));
      g_assert_true (dyno_settings_file_read (path, read, warnings, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (warnings->len, ==, 0);
      g_assert_true (dyno_settings_equal (&read->settings, &job->settings));
    }
  g_remove (path);
  g_rmdir (folder);
}

static void
test_nothing_measured (void)
{
  static const char *const files[] = {
    "[settings]\nepochs=1\n# Card: after the head\n# Measured: 5 samples/s\n",
    "# Measured: nan samples/s\n# Device memory: -5 MiB\n# Cards: 2\n[settings]\n",
    "# Measured: -1\n[settings]\n",
    "{\"card\": {}, \"samples_per_s\": \"x\", \"vram_bytes\": [1], \"settings\": {}}",
    "{\"card\": 5, \"samples_per_s\": -1, \"vram_bytes\": -1, \"settings\": {}}",
  };
  g_autofree char *folder = g_dir_make_tmp ("dyno-export-XXXXXX", NULL),
                  *path = g_build_filename (folder, "settings", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_auto (DynoMeasured) measured = { 0 };

      g_assert_true (g_file_set_contents (path, files[i], -1, NULL));
      dyno_settings_file_read_measured (path, &measured);
      g_assert_null (measured.device);
      g_assert_cmpfloat (measured.samples_per_s, ==, 0);
      g_assert_cmpuint (measured.vram_bytes, ==, 0);
    }
  g_remove (path);
  g_rmdir (folder);
}

/* Runs only the script's function, which needs no package. */
static void
check_schedule (const char *python, const char *format, const DynoJob *job)
{
  static const char driver[] =
      "import ast, math, sys\n"
      "tree = ast.parse(open(sys.argv[1]).read())\n"
      "part = [n for n in tree.body if isinstance(n, ast.Assign) or getattr(n, 'name', '') == "
      "'learning_rate']\n"
      "names = {'math': math}\n"
      "exec(compile(ast.Module(part, []), 'part', 'exec'), names)\n"
      "print(*[repr(names['learning_rate'](step, 7)) for step in range(64)], sep='\\n')\n";
  g_autofree char *folder = g_dir_make_tmp ("dyno-export-XXXXXX", NULL),
                  *path = g_build_filename (folder, "script.py", NULL), *said = NULL;
  const char *arguments[] = { python, "-c", driver, path, NULL };
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;
  DynoExportContext context = { .job = job };
  int status = -1;

  dyno_export_file (dyno_exporter_find (format), &context, path, TRUE, &error);
  g_assert_no_error (error);
  g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, &said, NULL, &status,
                &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
  lines = g_strsplit (said, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 65);
  for (guint64 step = 0; step < 64; step++)
    g_assert_cmpfloat_with_epsilon (g_ascii_strtod (lines[step], NULL),
                                    dyno_schedule_lr (&job->settings, step, 7, 63), 1e-12);
  g_remove (path);
  g_rmdir (folder);
}

static void
test_schedule (void)
{
  static const char *const schedules[] = { "constant", "cosine", "step" };
  g_autofree char *python = g_find_program_in_path ("python3");

  if (!python)
    {
      g_test_skip ("no python3");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (schedules); i++)
    {
      g_autoptr (DynoJob) job = make_job ("x");

      set (&job->settings, "schedule", schedules[i]);
      set (&job->settings, "epochs", "9");
      set (&job->settings, "warmup_epochs", "0.6");
      check_schedule (python, i % 2 ? "tensorflow" : "pytorch", job);
      set (&job->settings, "schedule_epochs", "5");
      check_schedule (python, i % 2 ? "pytorch" : "tensorflow", job);
    }
}

/* The time limit of a Slurm job: the estimated time of the run and half as much again, at least ten
 * minutes. */
static void
test_slurm_time (void)
{
  static const struct {
    double rate;
    const char *line;
  } rows[] = { { 0, "sbatch --time=MINUTES" },
               { 1e6, "#SBATCH --time=0-00:10\n" },
               { 1, "#SBATCH --time=0-01:30\n" },
               { 0.01, "#SBATCH --time=6-06:00\n" },
               { 1e-30, "#SBATCH --time=366-00:00\n" } };
  g_autoptr (DynoDataset) dataset = open_shapes ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoJob) job = make_job ("builtin:shapes");
      DynoExportContext context = { .job = job,
                                    .samples_per_s = rows[i].rate,
                                    .dataset = dyno_dataset_get_info (dataset) };
      g_autofree char *text = dyno_exporter_find ("slurm")->write (&context);

      g_assert_nonnull (strstr (text, rows[i].line));
    }
}

/* The beginnings of the scripts that start a program, line by line. */
static void
test_launch_scripts (void)
{
  g_autoptr (DynoJob) job = make_job ("x");
  DynoExportContext context = { .job = job };
  g_autofree char *slurm = NULL, *torchrun = NULL, *unnamed = NULL;

  g_free (job->model);
  job->model = g_strdup ("my model+a-very-long-name-that-has-more-than-the-sixty-characters-kept");
  slurm = dyno_exporter_find ("slurm")->write (&context);
  g_assert_nonnull (strstr (
      slurm, "\n#SBATCH --job-name=dyno-my_model_a-very-long-name-that-has-more-than-the-s"
             "ixty-chara\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
             "#SBATCH --gpus-per-node=1\n#SBATCH --cpus-per-task=3\n"
             "#SBATCH --output=%x-%j.log\n"
             "# The rate or the size of the data set is not known: say the time with sbatch "
             "--time=MINUTES.\n#\n# sbatch FILE: "));
  g_assert_nonnull (strstr (slurm, ".\n# sbatch FILE SCRIPT [ARGUMENT...]: yours.  With "
                                   "--gpus-per-node=N each GPU has a batch of this size.\n"));
  g_assert_nonnull (strstr (slurm, "\"${SLURM_GPUS_ON_NODE:-1}\""));
  torchrun = dyno_exporter_find ("torchrun")->write (&context);
  g_assert_true (g_str_has_prefix (torchrun, "#!/bin/bash\n# Dyno "));
  g_assert_nonnull (strstr (torchrun, ".\n# bash FILE SCRIPT [ARGUMENT...]: yours.  GPUS=N takes N "
                                      "GPUs, each with a batch of this size.\n"));
  g_assert_nonnull (strstr (torchrun, "\"${GPUS:-1}\""));
  g_clear_pointer (&job->model, g_free);
  unnamed = dyno_exporter_find ("slurm")->write (&context);
  g_assert_nonnull (strstr (unnamed, "#SBATCH --job-name=dyno-training\n"));
}

/* The sample of a script has the order of axes of its program; without a data set it is an image of
 * the size in the settings, or a small one. */
static void
test_samples_of_scripts (void)
{
#define NONE "PREDICTS_VALUES = False\nPREDICTS_LABELS = False\nPREDICTS_PIXELS = False\n"
  static const struct {
    const char *data, *size, *pytorch, *tensorflow, *outputs;
  } rows[] = {
    { NULL, "0", "(3, 64, 64)  # channels, height, width", "(64, 64, 3)  # height, width, channels",
      "10\n" NONE },
    { NULL, "48", "(3, 48, 48)  # channels, height, width",
      "(48, 48, 3)  # height, width, channels", "10\n" NONE },
    { "builtin:shapes?size=32&samples=40&classes=3", "0", "(3, 32, 32)  # channels, height, width",
      "(32, 32, 3)  # height, width, channels", "3\n" NONE },
    { "synthetic:8x4x3?samples=40&classes=7", "0", "(3, 8, 4)  # channels, height, width",
      "(8, 4, 3)  # height, width, channels", "7\n" NONE },
    { "builtin:waves?length=20&channels=5&samples=40&classes=3", "0", "(5, 20)  # of a sample",
      "(20, 5)  # of a sample", "3\n" NONE },
    { "builtin:poses?size=32&samples=40", "0", "(3, 32, 32)  # channels, height, width",
      "(32, 32, 3)  # height, width, channels",
      "3\nPREDICTS_VALUES = True\nPREDICTS_LABELS = False\nPREDICTS_PIXELS = False\n" },
    { "builtin:masks?size=32&samples=40", "0", "(3, 32, 32)  # channels, height, width",
      "(32, 32, 3)  # height, width, channels",
      "4\nPREDICTS_VALUES = False\nPREDICTS_LABELS = False\nPREDICTS_PIXELS = True\n" },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoJob) job = make_job ("x");
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset =
          rows[i / 2].data ? dyno_dataset_open (rows[i / 2].data, NULL, NULL, NULL, NULL, &error)
                           : NULL;
      DynoExportContext context = { .job = job,
                                    .dataset = dataset ? dyno_dataset_get_info (dataset) : NULL };
      g_autofree char *text = NULL,
                      *block = g_strdup_printf (
                          "\nDATA = 'x'\nMODEL = 'resnet18'\nSAMPLE_SHAPE = %s\nN_OUTPUTS = "
                          "%sEPOCHS = 10\n",
                          i % 2 ? rows[i / 2].tensorflow : rows[i / 2].pytorch,
                          rows[i / 2].outputs);

      g_assert_no_error (error);
      set (&job->settings, "image_size", rows[i / 2].size);
      text = dyno_exporter_find (i % 2 ? "tensorflow" : "pytorch")->write (&context);
      if (!strstr (text, block))
        g_error ("no “%s”: %.200s", block, strstr (text, "SAMPLE_SHAPE"));
    }
}

/* Lines of the scripts that depend on one setting or two. */
static void
test_lines_of_scripts (void)
{
  static const struct {
    const char *format, *settings, *line;
    gboolean there;
  } rows[] = {
    { "pytorch", "autotune=true deterministic=false", "\nCUDNN_BENCHMARK = True\n", TRUE },
    { "pytorch", "autotune=true deterministic=true", "\nCUDNN_BENCHMARK = False\n", TRUE },
    { "pytorch", "autotune=false deterministic=false", "\nCUDNN_BENCHMARK = False\n", TRUE },
    { "pytorch", "seed=4294967303", "\nSEED = 4294967303\n", TRUE },
    { "tensorflow", "seed=5", "\nSEED = 5\n", TRUE },
    { "tensorflow", "seed=4294967295", "\nSEED = 4294967295\n", TRUE },
    { "tensorflow", "seed=4294967303", "\nSEED = 7  # the lower half: NumPy takes 32 bits\n",
      TRUE },
    { "tensorflow", "optimizer=sgd weight_decay=0.1", "\n# Keras decays the weights of SGD apart",
      TRUE },
    { "tensorflow", "optimizer=adam weight_decay=0.1", "\n# Keras decays the weights of Adam apart",
      TRUE },
    { "tensorflow", "optimizer=sgd weight_decay=0", "# Keras decays", FALSE },
    { "tensorflow", "optimizer=adamw weight_decay=0.1", "# Keras decays", FALSE },
    { "pytorch", "lr=3 optimizer=lion schedule=step amp=false", "\nOPTIMIZER = 'lion'\nLR = 3.0\n",
      TRUE },
    { "pytorch", "amp=false", "\nAMP = False\n", TRUE },
    { "pytorch", "vram_budget=1GB", "\nVRAM_BUDGET = 1073741824\n", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoJob) job = make_job ("x");
      DynoExportContext context = { .job = job };
      g_auto (GStrv) pairs = g_strsplit (rows[i].settings, " ", -1);
      g_autofree char *text = NULL;

      for (guint k = 0; pairs[k]; k++)
        {
          g_auto (GStrv) parts = g_strsplit (pairs[k], "=", 2);
          set (&job->settings, parts[0], parts[1]);
        }
      text = dyno_exporter_find (rows[i].format)->write (&context);
      if ((strstr (text, rows[i].line) != NULL) != rows[i].there)
        g_error ("%s, %s: “%s”", rows[i].format, rows[i].settings, rows[i].line);
    }
}

/* A settings file has the names of a run, those that are no UTF-8 byte by byte. */
static void
test_names_of_a_keyfile (void)
{
  g_autoptr (DynoJob) job = make_job ("a\xff b");
  DynoExportContext context = { .job = job };
  g_autofree char *text = NULL, *none = NULL;

  job->targets = g_strdup ("y.npy");
  job->preset = g_strdup ("t4");
  text = dyno_exporter_find ("keyfile")->write (&context);
  g_assert_nonnull (strstr (text, "\n\n[run]\ndata_escaped=a\\\\377 b\ntargets=y.npy\n"
                                  "model=resnet18\npreset=t4\n\n[settings]\n"));
  g_clear_pointer (&job->preset, g_free);
  g_clear_pointer (&job->targets, g_free);
  none = dyno_exporter_find ("keyfile")->write (&context);
  g_assert_nonnull (strstr (none, "\n\n[run]\ndata_escaped=a\\\\377 b\nmodel=resnet18\n\n[set"));
}

/* Lines of YAML: text is quoted where YAML would take it for something else. */
static void
test_yaml_lines (void)
{
  g_autoptr (GString) text = g_string_new (NULL);

  dyno_yaml_int (text, 0, "steps", -5);
  dyno_yaml_bool (text, 2, "amp", TRUE);
  dyno_yaml_bool (text, 0, "ema", FALSE);
  dyno_yaml_double (text, 4, "lr", 0.1);
  dyno_yaml_string (text, 2, "data", "no: #1");
  dyno_yaml_null (text, 0, "sched");
  g_assert_cmpstr (text->str, ==,
                   "steps: -5\n  amp: true\nema: false\n    lr: 0.1\n"
                   "  data: \"no: #1\"\nsched: null\n");
}

int
main (int argc, char **argv)
{
  g_setenv ("SOURCE_DATE_EPOCH", "1700000000", TRUE);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func ("/export/formats/" name, function)
  ADD ("every-setting-is-held-or-told", test_every_setting);
  ADD ("every-optimizer-is-held-or-listed", test_every_optimizer);
  ADD ("a-value-that-cannot-be-held-is-told", test_left_out_by_value);
  ADD ("what-others-do-by-themselves-is-compared", test_defaults_of_others);
  ADD ("the-program-follows-the-model", test_program_by_model);
  ADD ("switches-of-pytorch-have-their-reason", test_switches_of_pytorch);
  ADD ("steps-need-the-data-set", test_steps_need_the_data_set);
  ADD ("class-weights", test_class_weights);
  ADD ("names-stay-in-their-comment", test_names_stay_in_comments);
  ADD ("head-tells-version-card-data-rate", test_head);
  ADD ("same-in-any-locale", test_any_locale);
  ADD ("schedule-of-scripts-is-the-runs", test_schedule);
  ADD ("slurm-time-follows-the-rate", test_slurm_time);
  ADD ("launch-scripts-line-by-line", test_launch_scripts);
  ADD ("samples-of-scripts", test_samples_of_scripts);
  ADD ("lines-that-follow-settings", test_lines_of_scripts);
  ADD ("names-of-a-settings-file", test_names_of_a_keyfile);
  g_test_add_func ("/export/yaml/lines", test_yaml_lines);
  g_test_add_func ("/export/quote/names", test_quotes);
  g_test_add_func ("/export/quote/numbers", test_numbers);
  g_test_add_func ("/export/measured/reads-back", test_measured_reads_back);
  g_test_add_func ("/export/json-of-a-search", test_json_of_a_search);
  g_test_add_func ("/export/formats/groups-are-left-out-with-a-hint",
                   test_groups_are_left_out_with_a_hint);
  g_test_add_func ("/export/json-of-a-switch-with-more", test_json_of_a_switch_with_more);
  g_test_add_func ("/export/measured/of-nothing-is-nothing", test_nothing_measured);
  return g_test_run ();
}
