/* SPDX-License-Identifier: MIT */
/* The row of a preset that a job gets, its batch at the job's size, and advice that a device does
 * not follow. */
#include "preset-file.h"
#include "cores.h"
#include <string.h>

#define GIB G_GUINT64_CONSTANT (1073741824)

static const DynoDeviceInfo gpu = {
  .name = "Some card", .type = DYNO_DEVICE_TYPE_DISCRETE, .vram_bytes = 140 * GIB, .fp16 = TRUE
};
static const DynoDeviceInfo cpu = {
  .name = "llvmpipe", .type = DYNO_DEVICE_TYPE_SOFTWARE, .vram_bytes = 8 * GIB, .fp16 = TRUE
};

static DynoPreset *
find (const char *id)
{
  DynoPreset *preset = dyno_preset_find (id, NULL, NULL);
  g_assert_nonnull (preset);
  return preset;
}

/* Images of this size, or sequences with this many steps; n_values 0: with classes. */
static DynoDatasetInfo
make_data (const char *kind, gboolean sequences, guint32 size, guint32 n_values)
{
  DynoDatasetInfo data = { .kind = kind,
                           .min_width = size,
                           .max_width = size,
                           .min_height = sequences ? 1 : size,
                           .max_height = sequences ? 1 : size,
                           .resizable = !sequences,
                           .n_classes = n_values ? 0 : 10 };

  if (sequences)
    {
      dyno_schema_add (&data.schema, &(DynoBatchField){ .name = "sequence",
                                                        .role = DYNO_FIELD_INPUT,
                                                        .element = DYNO_ELEMENT_F32,
                                                        .n_axes = 2,
                                                        .shape = { size, 3 },
                                                        .axes = "TF",
                                                        .variable = TRUE });
      dyno_schema_add_target (&data.schema, n_values);
    }
  else
    data.schema = dyno_schema_image (DYNO_ELEMENT_U8, size, size, 3, n_values);
  return data;
}

static gint64
apply_batch (const DynoPreset *preset, DynoLevel level, const char *model,
             const DynoDatasetInfo *data)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoPresetUse use = { .level = level, .job = job, .data = data, .device = &gpu };
  DynoSettings settings = job->settings;

  g_free (job->model);
  job->model = g_strdup (model);
  dyno_preset_apply (preset, &use, &settings);
  return settings.batch_size;
}

/* Each row of every preset, with a job for it: the values that dynoctl presets shows are
 * applied. */
static void
test_rows_by_workload (void)
{
  static const struct {
    const char *id, *model, *kind;
    guint32 size, n_values;
    gint64 batch[3];
  } cases[] = {
    /* Not TensorFlow's batch of 16. */
    { "rtx3060", "resnet18", "image-folder", 224, 0, { 32, 48, 64 } },
    { "rtx3080", "resnet18", "image-folder", 512, 0, { 6, 6, 8 } },
    { "rtx3080", "resnet18", "image-folder", 224, 0, { 16, 20, 24 } },
    { "rtx3090", "resnet18", "image-folder", 512, 0, { 12, 14, 16 } },
    { "rtx3090", "resnet18", "image-folder", 224, 0, { 24, 28, 32 } },
    { "rtx3090", "resnet18", "manifest", 224, 3, { 24, 28, 32 } },
    { "rtx3090", "headpose_resnet18", "biwi", 224, 3, { 64, 64, 128 } },
    { "rtx3090", "mobilenetv2", "biwi", 224, 3, { 64, 64, 128 } },
    { "rtx3090", "headpose_resnet50", "300w-lp", 224, 3, { 96, 128, 256 } },
    { "rtx3090", "headpose_resnet18", "poses", 224, 3, { 64, 64, 128 } },
    { "rtx4060", "resnet18", "image-folder", 224, 0, { 64, 64, 64 } },
    { "rtx4090", "resnet18", "image-folder", 512, 0, { 16, 20, 24 } },
    { "rtx4090", "headpose_resnet18", "biwi", 224, 3, { 32, 40, 48 } },
    { "t4", "resnet18", "image-folder", 512, 0, { 8, 10, 12 } },
    { "t4", "resnet18", "image-folder", 224, 0, { 16, 24, 32 } },
    { "v100", "resnet18", "image-folder", 512, 0, { 12, 14, 16 } },
    { "v100", "resnet18", "image-folder", 224, 0, { 16, 24, 32 } },
    { "a100", "resnet18", "image-folder", 512, 0, { 32, 40, 48 } },
    { "a100", "resnet18", "image-folder", 224, 0, { 64, 80, 96 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoPreset) preset = find (cases[i].id);
      DynoDatasetInfo data = make_data (cases[i].kind, FALSE, cases[i].size, cases[i].n_values);

      g_test_message ("%s: %s on %s, %u", cases[i].id, cases[i].model, cases[i].kind,
                      cases[i].size);
      for (DynoLevel level = DYNO_LEVEL_SAFE; level <= DYNO_LEVEL_MAX; level++)
        g_assert_cmpint (apply_batch (preset, level, cases[i].model, &data), ==,
                         cases[i].batch[level]);
    }
}

static guint32
get_row (const DynoPreset *preset, const char *model, const DynoDatasetInfo *data)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoPresetUse use = { .job = job, .data = data };

  g_free (job->model);
  job->model = g_strdup (model);
  return dyno_preset_find_row (preset, &use)->batch_safe;
}

/* The row with the closer workload is used, whatever its size and its position in the file. */
static void
test_closest_workload (void)
{
  static const char text[] =
      "[preset]\nname=Mine\nvram=6GB\n"
      "[row 0]\nimage_size=224\ndata=biwi;\nframework=tensorflow\nbatch_safe=9\n"
      "[row 1]\nimage_size=224\ndata=biwi;\nbatch_safe=1\n"
      "[row 2]\nimage_size=224\ntask=values\ninput=image\nmodel=headpose;\nbatch_safe=2\n"
      "[row 3]\nimage_size=512\ninput=image\nbatch_safe=3\n"
      "[row 4]\nimage_size=224\ntask=values\nbatch_safe=4\n"
      "[row 5]\nimage_size=224\nbatch_safe=5\n"
      "[row 6]\nimage_size=224\nmodel=resnet1;\nbatch_safe=6\n";
  g_autoptr (DynoPreset) preset =
      dyno_preset_parse ("mine", "mine", text, strlen (text), NULL, NULL);
  DynoDatasetInfo biwi = make_data ("biwi", FALSE, 224, 3),
                  poses = make_data ("poses", FALSE, 224, 3),
                  photos = make_data ("image-folder", FALSE, 224, 0),
                  waves = make_data ("waves", TRUE, 64, 3);
  DynoDatasetInfo several = make_data ("manifest", FALSE, 224, 0);
  DynoPresetUse nothing = { .level = DYNO_LEVEL_SAFE };

  g_assert_cmpuint (preset->n_rows, ==, 7);
  g_assert_cmpuint (get_row (preset, "headpose_resnet18", &biwi), ==, 1);
  g_assert_cmpuint (get_row (preset, "headpose_resnet18", &poses), ==, 2);
  g_assert_cmpuint (get_row (preset, "headpose", &poses), ==, 2);
  g_assert_cmpuint (get_row (preset, "headposes", &poses), ==, 3);
  g_assert_cmpuint (get_row (preset, "resnet18", &photos), ==, 3);
  g_assert_cmpuint (get_row (preset, "cnnlstm", &waves), ==, 4);
  /* Several labels are classes and no values, though both are floats. */
  several.schema = dyno_schema_image_with_labels (DYNO_ELEMENT_U8, 224, 224, 3, 10);
  g_assert_cmpuint (get_row (preset, "headpose_resnet18", &several), ==, 3);
  /* No special row is applied to a job of unknown kind. */
  g_assert_cmpuint (dyno_preset_find_row (preset, &nothing)->batch_safe, ==, 5);
}

/* The number of steps is not the side of an image: the row's batch applies at 16 steps, at 64 and
 * at the number of an image's pixels; above, the batch falls in proportion, and it never rises. */
static void
test_sequences (void)
{
  static const struct {
    guint32 steps;
    gint64 rtx4060, rtx3060;
  } cases[] = { { 16, 64, 48 },          { 64, 64, 48 },        { 128, 64, 48 },
                { 4096, 64, 48 },        { 224 * 224, 64, 48 }, { 2 * 224 * 224, 32, 24 },
                { 16 * 224 * 224, 4, 3 } };
  g_autoptr (DynoPreset) rtx4060 = find ("rtx4060"), rtx3060 = find ("rtx3060");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoDatasetInfo data = make_data ("waves", TRUE, cases[i].steps, 0);

      g_assert_cmpint (apply_batch (rtx4060, DYNO_LEVEL_RECOMMENDED, "cnnlstm", &data), ==,
                       cases[i].rtx4060);
      g_assert_cmpint (apply_batch (rtx3060, DYNO_LEVEL_RECOMMENDED, "cnn1d", &data), ==,
                       cases[i].rtx3060);
    }
  {
    DynoDatasetInfo data = make_data ("waves", TRUE, 64, 0);

    g_assert_cmpint (apply_batch (rtx4060, DYNO_LEVEL_SAFE, "cnnlstm", &data), ==, 16);
    g_assert_cmpint (apply_batch (rtx4060, DYNO_LEVEL_MAX, "cnnlstm", &data), ==, 64);
  }
}

/* No row is near 64x64 or 1024x1024, so the batch is scaled by area, within limits. */
static void
test_scales_by_area (void)
{
  g_autoptr (DynoPreset) preset = find ("rtx3060");
  static const struct {
    DynoLevel level;
    guint32 size;
    gint64 batch;
  } cases[] = { { DYNO_LEVEL_RECOMMENDED, 112, 192 }, /* 48 * 4 */
                { DYNO_LEVEL_RECOMMENDED, 28, 256 },  /* 48 * 64 would only use more memory */
                { DYNO_LEVEL_SAFE, 28, 128 },
                { DYNO_LEVEL_MAX, 28, 512 },
                { DYNO_LEVEL_SAFE, 1024, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoDatasetInfo data = make_data ("image-folder", FALSE, cases[i].size, 0);

      /* the model has no minimum size */
      g_assert_cmpint (apply_batch (preset, cases[i].level, "mlp", &data), ==, cases[i].batch);
    }
  {
    DynoSettings settings;

    dyno_settings_init (&settings);
    dyno_preset_apply (preset, &(DynoPresetUse){ .level = DYNO_LEVEL_SAFE }, &settings);
    g_assert_cmpint (settings.batch_size, ==, 32); /* without a data set, as for 224x224 */
  }
}

static void
test_applies_a_level (void)
{
  g_autoptr (DynoPreset) preset = find ("rtx3090");
  DynoPresetUse use = { .level = DYNO_LEVEL_SAFE, .device = &gpu };
  DynoSettings settings;

  dyno_settings_init (&settings);
  dyno_preset_apply (preset, &use, &settings);
  g_assert_cmpint (settings.batch_size, ==, 24);
  g_assert_cmpint (settings.workers, ==, MIN (6, dyno_cores_count ()));
  g_assert_cmpint (settings.prefetch, ==, 4);
  g_assert_cmpint (settings.vram_budget, ==, (gint64) preset->usable_bytes);
  g_assert_true (settings.amp);
  use.level = DYNO_LEVEL_MAX;
  dyno_preset_apply (preset, &use, &settings);
  g_assert_cmpint (settings.batch_size, ==, 32);
  g_assert_cmpint (settings.workers, ==, MIN (8, dyno_cores_count ()));
}

/* A preset advises exactly the settings that the table marks as such. */
static void
test_apply_follows_the_table (void)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  g_autoptr (DynoPreset) preset = find ("rtx3090");

  preset->amp = preset->pinned = preset->persistent_workers = FALSE;
  preset->workers_max = 1;
  for (guint i = 0; i < n; i++)
    {
      DynoSettings settings, before;

      /* The value before differs from the advice. */
      dyno_settings_init (&before);
      if (table[i].by_preset)
        g_assert_true (dyno_settings_set_number (&before, table[i].key, table[i].maximum, NULL));
      settings = before;
      dyno_preset_apply (preset, &(DynoPresetUse){ .level = DYNO_LEVEL_MAX }, &settings);
      g_assert_cmpint (dyno_settings_get_number (&settings, table[i].key)
                           != dyno_settings_get_number (&before, table[i].key),
                       ==, table[i].by_preset);
    }
}

/* The budget of an emulation is the memory that a program gets on that card; on the card itself it
 * is the device's. */
static void
test_budget_is_usable_memory (void)
{
  static const struct {
    const char *id, *name;
    guint64 total_mib, usable_mib;
  } cards[] = {
    { "rtx3060", "NVIDIA GeForce RTX 3060", 12288, 11776 },
    { "rtx3080", "NVIDIA GeForce RTX 3080", 10240, 9728 },
    { "rtx3090", "NVIDIA GeForce RTX 3090", 24576, 24064 },
    { "rtx4060", "NVIDIA GeForce RTX 4060", 8188, 7676 },
    { "rtx4090", "NVIDIA GeForce RTX 4090", 24564, 24052 },
    { "t4", "Tesla T4", 15360, 14848 },
    { "v100", "Tesla V100-SXM2-16GB", 16384, 15872 },
    { "a100", "NVIDIA A100-SXM4-40GB", 40960, 40140 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cards); i++)
    {
      g_autoptr (DynoPreset) preset = find (cards[i].id);
      DynoDeviceInfo own = gpu;
      DynoSettings settings;

      dyno_settings_init (&settings);
      dyno_preset_apply (preset, &(DynoPresetUse){ .device = &gpu }, &settings);
      g_assert_cmpint (settings.vram_budget >> 20, ==, cards[i].usable_mib);
      dyno_preset_apply (preset, &(DynoPresetUse){ 0 }, &settings);
      g_assert_cmpint (settings.vram_budget >> 20, ==, cards[i].usable_mib);
      g_strlcpy (own.name, cards[i].name, sizeof own.name);
      own.vram_bytes = cards[i].total_mib << 20;
      dyno_preset_apply (preset, &(DynoPresetUse){ .device = &own }, &settings);
      g_assert_cmpint (settings.vram_budget, ==, 0);
    }
}

/* The reserve is 512 MiB, 2 % on large cards, an eighth on small ones. */
static void
test_usable_memory (void)
{
  g_assert_cmpuint (dyno_preset_estimate_usable (24 * GIB), ==, 24 * GIB - GIB / 2);
  g_assert_cmpuint (dyno_preset_estimate_usable (80 * GIB) >> 20, ==, 81920 - 1639);
  g_assert_cmpuint (dyno_preset_estimate_usable (2 * GIB), ==, 2 * GIB - GIB / 4);
  g_assert_cmpuint (dyno_preset_estimate_usable (1), ==, 1);
}

/* Features that a device executes badly stay off; other devices follow the preset. */
static void
test_amp (void)
{
  g_autoptr (DynoPreset) preset = find ("rtx3060");
  DynoDeviceInfo old = gpu;
  const struct {
    const DynoDeviceInfo *device;
    gboolean amp;
  } cases[] = { { &gpu, TRUE }, { NULL, TRUE }, { &cpu, FALSE }, { &old, FALSE } };

  old.fp16 = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoSettings settings;

      dyno_settings_init (&settings);
      settings.amp = TRUE;
      dyno_preset_apply (preset, &(DynoPresetUse){ .device = cases[i].device }, &settings);
      g_assert_cmpint (settings.amp, ==, cases[i].amp);
      g_assert_true ((dyno_preset_refuse_amp (cases[i].device) != NULL) == !cases[i].amp);
      g_assert_true ((dyno_preset_warn_of_amp (cases[i].device) != NULL) == !cases[i].amp);
    }
}

int
main (int argc, char **argv)
{
  g_setenv ("XDG_DATA_HOME", "/nonexistent", TRUE);
  g_setenv ("XDG_DATA_DIRS", "/nonexistent", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/preset-apply/rows-by-workload", test_rows_by_workload);
  g_test_add_func ("/tune/preset-apply/closest-workload", test_closest_workload);
  g_test_add_func ("/tune/preset-apply/sequences-are-not-scaled-by-area", test_sequences);
  g_test_add_func ("/tune/preset-apply/scales-by-area", test_scales_by_area);
  g_test_add_func ("/tune/preset-apply/a-level", test_applies_a_level);
  g_test_add_func ("/tune/preset-apply/what-the-table-says", test_apply_follows_the_table);
  g_test_add_func ("/tune/preset-apply/budget-is-usable-memory", test_budget_is_usable_memory);
  g_test_add_func ("/tune/preset-apply/usable-memory", test_usable_memory);
  g_test_add_func ("/tune/preset-apply/amp-where-the-device-does-it-well", test_amp);
  return g_test_run ();
}
