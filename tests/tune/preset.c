/* SPDX-License-Identifier: MIT */
/* Presets: the guides' numbers as they are, files of any content, and advice into settings. */
#include "preset-file.h"
#include <glib/gstdio.h>
#include <string.h>

#define GIB G_GUINT64_CONSTANT (1073741824)

static DynoPreset *
parse (const char *text, GPtrArray *warnings, GError **error)
{
  return dyno_preset_parse ("mine", "mine.preset", text, strlen (text), warnings, error);
}

static DynoPreset *
find (const char *id)
{
  g_autoptr (GError) error = NULL;
  DynoPreset *preset = dyno_preset_find (id, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (preset);
  return preset;
}

static const DynoPresetRow *
find_row (const DynoPreset *preset, guint32 size, const char *workload)
{
  for (guint i = 0; i < preset->n_rows; i++)
    if (preset->rows[i].image_size == size && strcmp (preset->rows[i].workload, workload) == 0)
      return &preset->rows[i];
  return NULL;
}

/* The table of the guides, card by card; 0: no such row. */
static void
test_table (void)
{
  static const struct {
    const char *id;
    guint64 gib;
    guint32 low_512, high_512, low_224, high_224, workers_min, workers_max, prefetch;
  } cards[] = {
    { "rtx3060", 12, 0, 0, 32, 64, 2, 4, 2 },    { "rtx3080", 10, 6, 8, 16, 24, 4, 6, 2 },
    { "rtx3090", 24, 12, 16, 24, 32, 6, 8, 4 },  { "rtx4060", 8, 0, 0, 64, 64, 8, 8, 6 },
    { "rtx4090", 24, 16, 24, 32, 48, 8, 12, 2 }, { "t4", 16, 8, 12, 16, 32, 2, 4, 2 },
    { "v100", 16, 12, 16, 16, 32, 4, 8, 2 },     { "a100", 40, 32, 48, 64, 96, 8, 12, 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cards); i++)
    {
      g_autoptr (DynoPreset) preset = find (cards[i].id);
      const DynoPresetRow *large = find_row (preset, 512, ""), *small = find_row (preset, 224, "");

      g_assert_cmpuint (preset->vram_bytes, ==, cards[i].gib * GIB);
      g_assert_cmpuint (large ? large->batch_safe : 0, ==, cards[i].low_512);
      g_assert_cmpuint (large ? large->batch_max : 0, ==, cards[i].high_512);
      g_assert_nonnull (small);
      g_assert_cmpuint (small->batch_safe, ==, cards[i].low_224);
      g_assert_cmpuint (small->batch_max, ==, cards[i].high_224);
      g_assert_cmpuint (preset->workers_min, ==, cards[i].workers_min);
      g_assert_cmpuint (preset->workers_max, ==, cards[i].workers_max);
      g_assert_cmpuint (preset->prefetch, ==, cards[i].prefetch);
      g_assert_true (preset->amp);
      g_assert_cmpstr (preset->advice, !=, "");
    }
}

static void
test_special_rows (void)
{
  g_autoptr (DynoPreset) rtx3090 = find ("rtx3090"), rtx4060 = find ("rtx4060"),
                         rtx3060 = find ("rtx3060");
  const DynoPresetRow *row = find_row (rtx3090, 224, "head pose (300W-LP)");

  g_assert_nonnull (row);
  g_assert_cmpuint (row->batch_safe, ==, 96);
  g_assert_cmpuint (row->batch_recommended, ==, 128);
  g_assert_cmpuint (row->batch_max, ==, 256);
  g_assert_cmpuint (rtx3090->workers_cpu_bound, ==, 16);
  g_assert_nonnull (strstr (rtx3090->expected, "300-500 samples/s"));
  row = find_row (rtx4060, 0, "sequences");
  g_assert_nonnull (row);
  g_assert_cmpuint (row->batch_safe, ==, 16);
  g_assert_cmpuint (row->batch_max, ==, 64);
  g_assert_nonnull (find_row (rtx3060, 224, "TensorFlow"));
}

static void
test_list_order (void)
{
  DynoDeviceInfo device = { .name = "Some Card", .vram_bytes = 16 * GIB, .fp16 = TRUE };
  g_autoptr (GPtrArray) without = dyno_preset_list (NULL), with = dyno_preset_list (&device);

  g_assert_cmpuint (without->len, >=, 8);
  g_assert_cmpstr (((DynoPreset *) without->pdata[0])->id, ==, "rtx3060");
  g_assert_cmpstr (((DynoPreset *) without->pdata[7])->id, ==, "a100");
  g_assert_cmpuint (with->len, ==, without->len + 1);
  g_assert_cmpstr (((DynoPreset *) with->pdata[0])->id, ==, "this-gpu");
  g_assert_cmpuint (((DynoPreset *) with->pdata[0])->vram_bytes, ==, 16 * GIB);
}

static const char *
match (const char *name, guint64 vram_bytes)
{
  static char id[32];
  DynoDeviceInfo device = { .vram_bytes = vram_bytes };
  g_autoptr (GPtrArray) presets = dyno_preset_list (NULL);
  const DynoPreset *preset;

  g_strlcpy (device.name, name, sizeof device.name);
  preset = dyno_preset_match (presets, &device);
  g_strlcpy (id, preset ? preset->id : "", sizeof id);
  return id;
}

static void
test_match (void)
{
  g_assert_cmpstr (match ("NVIDIA GeForce RTX 3060", 12 * GIB), ==, "rtx3060");
  g_assert_cmpstr (match ("NVIDIA GeForce RTX 3060", 8 * GIB), ==, "");
  g_assert_cmpstr (match ("NVIDIA GeForce RTX 3080 Ti", 10 * GIB), ==, "");
  g_assert_cmpstr (match ("NVIDIA GeForce RTX 4060 Laptop GPU", 8 * GIB), ==, "");
  g_assert_cmpstr (match ("Tesla T4", 15 * GIB), ==, "t4");
  g_assert_cmpstr (match ("NVIDIA A100-SXM4-40GB", 40 * GIB), ==, "a100");
  g_assert_cmpstr (match ("NVIDIA A100-SXM4-80GB", 80 * GIB), ==, "");
  g_assert_cmpstr (match ("NVIDIA H200", 140 * GIB), ==, "");
}

static void
test_apply (void)
{
  g_autoptr (DynoPreset) preset = find ("rtx3090");
  DynoSettings settings;

  dyno_settings_init (&settings);
  dyno_preset_apply (preset, DYNO_LEVEL_SAFE, 224, &settings);
  g_assert_cmpint (settings.batch_size, ==, 24);
  g_assert_cmpint (settings.workers, ==, MIN (6, g_get_num_processors ()));
  g_assert_cmpint (settings.prefetch, ==, 4);
  g_assert_cmpint (settings.vram_budget, ==, (gint64) (24 * GIB));
  g_assert_true (settings.amp);
  dyno_preset_apply (preset, DYNO_LEVEL_MAX, 512, &settings);
  g_assert_cmpint (settings.batch_size, ==, 16);
  g_assert_cmpint (settings.workers, ==, MIN (8, g_get_num_processors ()));
}

/* What a preset advises are the settings that the table calls so, and no other. */
static void
test_apply_follows_the_table (void)
{
  g_autoptr (DynoPreset) preset = find ("rtx3090");
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  preset->amp = preset->pinned = preset->persistent_workers = FALSE;
  preset->workers_max = 1;
  for (guint i = 0; i < n; i++)
    {
      DynoSettings settings, before;

      /* From a value that differs from the advice. */
      dyno_settings_init (&before);
      if (table[i].by_preset)
        g_assert_true (dyno_settings_set_number (&before, table[i].key, table[i].maximum, NULL));
      settings = before;
      dyno_preset_apply (preset, DYNO_LEVEL_MAX, 512, &settings);
      g_assert_cmpint (dyno_settings_get_number (&settings, table[i].key)
                           != dyno_settings_get_number (&before, table[i].key),
                       ==, table[i].by_preset);
    }
}

/* No row is near 64x64 or 1024x1024: scaled by area, within limits. */
static void
test_apply_scales_by_area (void)
{
  g_autoptr (DynoPreset) preset = find ("rtx3060");
  DynoSettings settings;

  dyno_settings_init (&settings);
  dyno_preset_apply (preset, DYNO_LEVEL_RECOMMENDED, 112, &settings);
  g_assert_cmpint (settings.batch_size, ==, 192); /* 48 * 4 */
  dyno_preset_apply (preset, DYNO_LEVEL_RECOMMENDED, 28, &settings);
  g_assert_cmpint (settings.batch_size, ==, 256); /* 48 * 64 would only fill memory */
  dyno_preset_apply (preset, DYNO_LEVEL_SAFE, 1024, &settings);
  g_assert_cmpint (settings.batch_size, ==, 1);
  dyno_preset_apply (preset, DYNO_LEVEL_SAFE, 0, &settings);
  g_assert_cmpint (settings.batch_size, ==, 32);
}

static void
test_this_gpu (void)
{
  DynoDeviceInfo device = {
    .name = "llvmpipe", .type = DYNO_DEVICE_TYPE_SOFTWARE, .vram_bytes = 8 * GIB, .fp16 = TRUE
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoPreset) preset = dyno_preset_find ("this-gpu", &device, &error), none = NULL;
  DynoSettings settings;

  g_assert_no_error (error);
  g_assert_false (preset->amp);
  dyno_settings_init (&settings);
  settings.vram_budget = 5;
  dyno_preset_apply (preset, DYNO_LEVEL_RECOMMENDED, 224, &settings);
  g_assert_cmpint (settings.vram_budget, ==, 0);
  g_assert_null (dyno_preset_emulation_note (preset, &device));
  none = dyno_preset_find ("this-gpu", NULL, &error);
  g_assert_null (none);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET);
}

/* A batch of this GPU follows its memory, and is half as large where it computes in fp32. */
static void
test_this_gpu_follows_its_memory (void)
{
  for (guint fp16 = 0; fp16 < 2; fp16++)
    for (guint64 gib = 8; gib <= 16; gib *= 2)
      {
        DynoDeviceInfo device = { .name = "Some card",
                                  .type = DYNO_DEVICE_TYPE_DISCRETE,
                                  .vram_bytes = gib * GIB,
                                  .fp16 = fp16 };
        g_autoptr (GError) error = NULL;
        g_autoptr (DynoPreset) preset = dyno_preset_find ("this-gpu", &device, &error);
        const DynoPresetRow *row;
        guint64 unit = fp16 ? gib : gib / 2;

        g_assert_no_error (error);
        g_assert_cmpint (preset->amp, ==, fp16);
        g_assert_cmpuint (preset->n_rows, ==, 2);
        row = &preset->rows[1];
        g_assert_cmpuint (row->image_size, ==, 224);
        g_assert_cmpuint (row->batch_safe, ==, 2 * unit);
        g_assert_cmpuint (row->batch_recommended, ==, 3 * unit / 8 * 8);
        g_assert_cmpuint (row->batch_max, ==, 4 * unit);
      }
}

static void
test_emulation_note (void)
{
  DynoDeviceInfo h200 = { .name = "NVIDIA H200", .vram_bytes = 140 * GIB };
  DynoDeviceInfo small = { .name = "Small", .vram_bytes = 4 * GIB };
  DynoDeviceInfo own = { .name = "NVIDIA GeForce RTX 3060", .vram_bytes = 12 * GIB };
  g_autoptr (DynoPreset) preset = find ("rtx3060");
  g_autofree char *emulated = dyno_preset_emulation_note (preset, &h200),
                  *limited = dyno_preset_emulation_note (preset, &small);

  g_assert_nonnull (strstr (emulated, "Emulates the 12 GB of RTX 3060 on NVIDIA H200"));
  g_assert_nonnull (strstr (limited, "only 4 GB"));
  g_assert_null (dyno_preset_emulation_note (preset, &own));
}

static void
test_bad_values_take_defaults (void)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoPreset) preset =
      parse ("[preset]\nname=Mine\nvram=6GB\nworkers=9-3\nprefetch=-1\namp=maybe\nwidth=1e99\n"
             "[row 1]\nimage_size=224\nbatch_safe=nan\nbatch_recommended=16\nbatch_max=8\n"
             "[row 2]\nimage_size=224\nbatch_recommended=16\n",
             warnings, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (preset->vram_bytes, ==, 6 * GIB);
  g_assert_cmpuint (preset->workers_max, ==, 4);
  g_assert_cmpuint (preset->prefetch, ==, 2);
  g_assert_true (preset->amp);
  g_assert_cmpuint (preset->n_rows, ==, 1);
  g_assert_cmpuint (preset->rows[0].batch_max, ==, 16);
  g_assert_cmpuint (warnings->len, ==, 6);
  g_assert_nonnull (strstr (warnings->pdata[0], "mine.preset"));
  g_assert_nonnull (strstr (warnings->pdata[0], "workers=9-3"));
}

static void
test_refuses_without_memory (void)
{
  static const char *const bad[] = {
    "",
    "\x01\xff\xfe",
    "[preset]\nvram=6GB\n",
    "[preset]\nname=x\n",
    "[preset]\nname=x\nvram=nan\n",
    "[preset]\nname=x\nvram=-1\n",
    "[preset]\nname=x\nvram=1e99\n",
    "[preset]\nname=x\nvram=0\n",
    "[other]\nname=x\nvram=6GB\n",
    "name=x\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (parse (bad[i], NULL, &error));
      g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET);
      g_assert_nonnull (strstr (error->message, "mine.preset"));
    }
}

/* Any bytes: no crash, and an error or a preset. */
static void
test_random_bytes (void)
{
  static const char seed_text[] = "[preset]\nname=Mine\nvram=6GB\nworkers=2-4\nmatch=a;b;\n[row "
                                  "1]\nimage_size=224\nbatch_safe=8\n";
  GRand *rand = g_rand_new_with_seed (7);

  for (guint round = 0; round < 3000; round++)
    {
      g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strdup (seed_text);
      gsize size = strlen (text);
      guint changes = (guint) g_rand_int_range (rand, 1, round % 2 ? 4 : 60);

      for (guint i = 0; i < changes; i++)
        text[g_rand_int_range (rand, 0, (gint32) size)] = (char) g_rand_int_range (rand, 0, 256);
      {
        g_autoptr (DynoPreset) preset = dyno_preset_parse ("x", "x", text, size, warnings, &error);
        g_assert_true ((!preset) == (error != NULL));
      }
    }
  g_rand_free (rand);
}

static void
test_file (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("dyno-preset-XXXXXX", NULL),
                  *path = g_build_filename (folder, "mine.preset", NULL);
  g_autoptr (DynoPreset) preset = NULL, none = NULL;

  g_assert_true (g_file_set_contents (path, "[preset]\nname=Mine\nvram=6GB\n", -1, NULL));
  preset = dyno_preset_find (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (preset->id, ==, "mine");
  none = dyno_preset_find ("rtx9999", NULL, &error);
  g_assert_null (none);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET);
  g_assert_nonnull (strstr (error->message, "rtx3060"));
  g_remove (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_setenv ("XDG_DATA_HOME", "/nonexistent", TRUE);
  g_setenv ("XDG_DATA_DIRS", "/nonexistent", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/preset/table-is-the-guides", test_table);
  g_test_add_func ("/tune/preset/special-rows", test_special_rows);
  g_test_add_func ("/tune/preset/list-order", test_list_order);
  g_test_add_func ("/tune/preset/matches-the-card", test_match);
  g_test_add_func ("/tune/preset/applies-a-level", test_apply);
  g_test_add_func ("/tune/preset/applies-what-the-table-says", test_apply_follows_the_table);
  g_test_add_func ("/tune/preset/scales-by-area", test_apply_scales_by_area);
  g_test_add_func ("/tune/preset/this-gpu", test_this_gpu);
  g_test_add_func ("/tune/preset/this-gpu-follows-its-memory", test_this_gpu_follows_its_memory);
  g_test_add_func ("/tune/preset/emulation-note", test_emulation_note);
  g_test_add_func ("/tune/preset/bad-values-take-defaults", test_bad_values_take_defaults);
  g_test_add_func ("/tune/preset/refuses-without-memory", test_refuses_without_memory);
  g_test_add_func ("/tune/preset/survives-random-bytes", test_random_bytes);
  g_test_add_func ("/tune/preset/reads-a-file", test_file);
  return g_test_run ();
}
