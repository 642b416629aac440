/* SPDX-License-Identifier: MIT */
/* Presets: the guides' numbers are unchanged, files may have any content, and advice becomes
 * settings. */
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
    {
      g_autofree char *words = dyno_preset_workload_describe (&preset->rows[i].workload);

      if (preset->rows[i].image_size == size && strcmp (words, workload) == 0)
        return &preset->rows[i];
    }
  return NULL;
}

/* own: the values that Dyno derived: "b" the recommended batch, "B" all three, "p" prefetch. */
static void
check_row (const DynoPresetRow *row, guint32 low, guint32 middle, guint32 high, const char *own)
{
  g_autofree char *derived = row ? g_strjoinv (";", row->derived) : NULL;

  g_assert_cmpuint (row ? row->batch_safe : 0, ==, low);
  g_assert_cmpuint (row ? row->batch_recommended : 0, ==, middle);
  g_assert_cmpuint (row ? row->batch_max : 0, ==, high);
  if (row)
    g_assert_cmpstr (derived, ==,
                     strcmp (own, "B") == 0   ? "batch_safe;batch_recommended;batch_max"
                     : strcmp (own, "b") == 0 ? "batch_recommended"
                                              : "");
}

/* The table of the guides, card by card, and values that Dyno derives where the guides have none;
 * 0: no such row. */
static void
test_table (void)
{
  static const struct {
    const char *id;
    guint64 gib, total_mib;
    guint32 low_512, middle_512, high_512, low_224, middle_224, high_224;
    const char *own_512, *own_224;
    guint32 workers_min, workers_max, prefetch;
    const char *derived;
  } cards[] = {
    { "rtx3060", 12, 12288, 0, 0, 0, 32, 48, 64, "", "b", 2, 4, 2, "pinned;persistent_workers" },
    { "rtx3080", 10, 10240, 6, 6, 8, 16, 20, 24, "b", "b", 4, 6, 2, "pinned;persistent_workers" },
    { "rtx3090", 24, 24576, 12, 14, 16, 24, 28, 32, "b", "b", 6, 8, 4, "pinned" },
    { "rtx4060", 8, 8188, 0, 0, 0, 64, 64, 64, "", "B", 8, 8, 6, "pinned;persistent_workers" },
    { "rtx4090", 24, 24564, 16, 20, 24, 32, 40, 48, "b", "b", 8, 12, 2,
      "pinned;persistent_workers" },
    { "t4", 16, 15360, 8, 10, 12, 16, 24, 32, "b", "b", 2, 4, 2, "pinned;persistent_workers" },
    { "v100", 16, 16384, 12, 14, 16, 16, 24, 32, "b", "B", 4, 8, 2, "pinned;persistent_workers" },
    { "a100", 40, 40960, 32, 40, 48, 64, 80, 96, "b", "B", 8, 12, 4,
      "prefetch;pinned;persistent_workers" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cards); i++)
    {
      g_autoptr (DynoPreset) preset = find (cards[i].id);
      g_autofree char *derived = g_strjoinv (";", preset->derived);

      g_test_message ("%s", cards[i].id);
      g_assert_cmpuint (preset->vram_bytes, ==, cards[i].gib * GIB);
      g_assert_cmpuint (preset->total_bytes, ==, cards[i].total_mib << 20);
      g_assert_cmpuint (preset->usable_bytes, ==,
                        dyno_preset_estimate_usable (cards[i].total_mib << 20));
      g_assert_nonnull (preset->vram_source);
      check_row (find_row (preset, 512, ""), cards[i].low_512, cards[i].middle_512,
                 cards[i].high_512, cards[i].own_512);
      check_row (find_row (preset, 224, ""), cards[i].low_224, cards[i].middle_224,
                 cards[i].high_224, cards[i].own_224);
      g_assert_cmpuint (preset->workers_min, ==, cards[i].workers_min);
      g_assert_cmpuint (preset->workers_max, ==, cards[i].workers_max);
      g_assert_cmpuint (preset->prefetch, ==, cards[i].prefetch);
      g_assert_cmpstr (derived, ==, cards[i].derived);
      g_assert_true (preset->amp);
      g_assert_cmpstr (preset->advice, !=, "");
    }
}

static void
test_special_rows (void)
{
  g_autoptr (DynoPreset) rtx3090 = find ("rtx3090"), rtx4060 = find ("rtx4060"),
                         rtx3060 = find ("rtx3060");

  check_row (find_row (rtx3090, 224, "biwi, values to predict"), 64, 64, 128, "");
  check_row (find_row (rtx3090, 224, "300w-lp, values to predict"), 96, 128, 256, "");
  check_row (find_row (rtx3090, 224, "headpose, values to predict"), 64, 64, 128, "b");
  g_assert_cmpuint (rtx3090->workers_cpu_bound, ==, 16);
  check_row (find_row (rtx4060, 0, "sequences"), 16, 64, 64, "");
  check_row (find_row (rtx3060, 224, "tensorflow"), 16, 24, 32, "b");
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
  dyno_preset_apply (preset, &(DynoPresetUse){ .level = DYNO_LEVEL_RECOMMENDED }, &settings);
  g_assert_cmpint (settings.vram_budget, ==, 0);
  for (guint i = 0; i < preset->n_rows; i++)
    g_assert_cmpuint (g_strv_length (preset->rows[i].derived), ==, 3);
  g_assert_null (dyno_preset_emulation_note (preset, &device));
  none = dyno_preset_find ("this-gpu", NULL, &error);
  g_assert_null (none);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET);
}

/* The batch for the present GPU is scaled by its memory, and halved where it computes in fp32. */
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

/* A card is recognised by the memory that its driver reports, whatever its name. */
static void
test_is_device (void)
{
  DynoDeviceInfo t4 = { .name = "Tesla T4", .vram_bytes = 15360ULL << 20 };
  g_autoptr (DynoPreset) preset = find ("t4"), other = find ("rtx3060");

  g_assert_true (dyno_preset_is_device (preset, &t4));
  g_assert_false (dyno_preset_is_device (other, &t4));
  t4.vram_bytes = (15360ULL << 20) * 87 / 100; /* of 16 GB, less than 85 % */
  g_assert_true (dyno_preset_is_device (preset, &t4));
  t4.vram_bytes = 8 * GIB;
  g_assert_false (dyno_preset_is_device (preset, &t4));
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
  g_assert_cmpuint (preset->total_bytes, ==, 6 * GIB);
  g_assert_cmpuint (preset->usable_bytes, ==, 6 * GIB - (512 << 20));
  g_assert_cmpuint (warnings->len, ==, 6);
  g_assert_nonnull (strstr (warnings->pdata[0], "mine.preset"));
  g_assert_nonnull (strstr (warnings->pdata[0], "workers=9-3"));
}

static guint
count_warnings (const char *text, const char *word, DynoPreset **preset)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  guint n = 0;

  *preset = parse (text, warnings, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < warnings->len; i++)
    {
      g_test_message ("%s", (const char *) warnings->pdata[i]);
      n += strstr (warnings->pdata[i], word) != NULL;
    }
  g_assert_cmpuint (n, ==, warnings->len);
  return n;
}

#define HEAD "[preset]\nname=Mine\nvram=6GB\n"

/* A row that requires something unknown is ignored, since it would otherwise apply to every job. */
static void
test_unknown_workloads (void)
{
  static const struct {
    const char *line, *word;
  } cases[] = {
    { "task=labels", "task=labels" },
    { "input=video", "input=video" },
    { "data=biwi;aflw;", "data=aflw" },
    { "workload=head pose", "workload" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf (HEAD "[row 1]\nimage_size=224\n%s\n"
                                                    "batch_safe=8\n",
                                               cases[i].line);
      g_autoptr (DynoPreset) preset = NULL;

      g_assert_cmpuint (count_warnings (text, cases[i].word, &preset), >=, 1);
      g_assert_cmpuint (preset->n_rows, ==, 0);
    }
}

static void
test_expected_numbers (void)
{
  static const char *const bad[] = { "samples_per_s=-3",        "samples_per_s=500-300",
                                     "samples_per_s=1e3",       "samples_per_s=nan",
                                     "samples_per_s=1-2-3",     "samples_per_s=",
                                     "utilisation_percent=101", "samples_per_s=.",
                                     "before_samples_per_s=82" };
  g_autoptr (DynoPreset) preset = NULL;
  const DynoPresetExpectation *e;

  g_assert_cmpuint (count_warnings (HEAD "[expected]\nsamples_per_s=105\nbefore_samples_per_s="
                                         "82.5\nutilisation_percent=43 - 49\nbatch=64\n",
                                    "", &preset),
                    ==, 0);
  g_assert_cmpuint (preset->n_expectations, ==, 1);
  e = &preset->expectations[0];
  g_assert_cmpfloat (e->now[DYNO_PRESET_SAMPLES_PER_S].least, ==, 105);
  g_assert_cmpfloat (e->now[DYNO_PRESET_SAMPLES_PER_S].most, ==, 105);
  g_assert_cmpfloat (e->before[DYNO_PRESET_SAMPLES_PER_S].most, ==, 82.5);
  g_assert_cmpfloat (e->now[DYNO_PRESET_UTILISATION].least, ==, 43);
  g_assert_cmpfloat (e->now[DYNO_PRESET_UTILISATION].most, ==, 49);
  g_assert_false (dyno_preset_range_is_given (&e->now[DYNO_PRESET_POWER]));
  g_assert_cmpuint (e->batch, ==, 64);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *text = g_strconcat (HEAD "[expected 2]\n", bad[i], "\n", NULL);
      g_autoptr (DynoPreset) none = NULL;

      g_assert_cmpuint (count_warnings (text, "[expected 2]", &none), >=, 1);
      g_assert_cmpuint (none->n_expectations, ==, 0);
    }
}

static void
test_memory_of_a_file (void)
{
  static const struct {
    const char *lines;
    guint64 total_mib, usable_mib;
    guint n_warnings;
  } cases[] = {
    { "", 6144, 5632, 0 },
    { "vram_total=6000MB\n", 6000, 5488, 0 },
    { "vram_total=6000MB\nvram_usable=5900MB\n", 6000, 5900, 0 },
    { "vram_usable=6001MB\nvram_total=6000MB\n", 6000, 5488, 1 }, /* more than the total */
    { "vram_total=7GB\n", 6144, 5632, 1 },
    { "vram_total=much\nvram_usable=0\n", 6144, 5632, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strconcat (HEAD, cases[i].lines, NULL);
      g_autoptr (DynoPreset) preset = NULL;

      g_assert_cmpuint (count_warnings (text, "vram_", &preset), ==, cases[i].n_warnings);
      g_assert_cmpuint (preset->total_bytes, ==, cases[i].total_mib << 20);
      g_assert_cmpuint (preset->usable_bytes, ==, cases[i].usable_mib << 20);
    }
}

/* An unknown key is not marked as derived. */
static void
test_derived_keys (void)
{
  g_autoptr (DynoPreset) preset = NULL;

  g_assert_cmpuint (count_warnings (HEAD "derived=prefetch;name;batch_safe;\n[row 1]\n"
                                         "batch_safe=8\nderived=batch_safe;prefetch;\n",
                                    "derived=", &preset),
                    ==, 3);
  g_assert_cmpuint (g_strv_length (preset->derived), ==, 1);
  g_assert_cmpstr (preset->derived[0], ==, "prefetch");
  g_assert_cmpuint (g_strv_length (preset->rows[0].derived), ==, 1);
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

/* Random bytes give an error or a preset, and no crash. */
static void
test_random_bytes (void)
{
  static const char seed_text[] = "[preset]\nname=Mine\nvram=6GB\nworkers=2-4\nmatch=a;b;\n[row "
                                  "1]\nimage_size=224\nbatch_safe=8\ntask=values\ndata=biwi;\n"
                                  "[expected]\nsamples_per_s=3-5\nvram_gb=2.07\n";
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
  g_test_add_func ("/tune/preset/table-is-the-guides-and-marks-the-rest", test_table);
  g_test_add_func ("/tune/preset/special-rows", test_special_rows);
  g_test_add_func ("/tune/preset/list-order", test_list_order);
  g_test_add_func ("/tune/preset/matches-the-card", test_match);
  g_test_add_func ("/tune/preset/this-gpu", test_this_gpu);
  g_test_add_func ("/tune/preset/this-gpu-follows-its-memory", test_this_gpu_follows_its_memory);
  g_test_add_func ("/tune/preset/bad-values-take-defaults", test_bad_values_take_defaults);
  g_test_add_func ("/tune/preset/is-a-device", test_is_device);
  g_test_add_func ("/tune/preset/unknown-workloads-are-no-rows", test_unknown_workloads);
  g_test_add_func ("/tune/preset/expected-numbers", test_expected_numbers);
  g_test_add_func ("/tune/preset/memory-of-a-file", test_memory_of_a_file);
  g_test_add_func ("/tune/preset/derived-keys", test_derived_keys);
  g_test_add_func ("/tune/preset/refuses-without-memory", test_refuses_without_memory);
  g_test_add_func ("/tune/preset/survives-random-bytes", test_random_bytes);
  g_test_add_func ("/tune/preset/reads-a-file", test_file);
  return g_test_run ();
}
