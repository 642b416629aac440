/* SPDX-License-Identifier: MIT */
/* Presets in words: the origin of each value, the meaning of an emulation, and numbers of a guide
 * beside measured ones. */
#include "preset-file.h"
#include "cores.h"
#include <math.h>
#include <string.h>

#define GIB G_GUINT64_CONSTANT (1073741824)

static DynoPreset *
find (const char *id)
{
  DynoPreset *preset = dyno_preset_find (id, NULL, NULL);
  g_assert_nonnull (preset);
  return preset;
}

static const DynoDatasetInfo *
biwi (void)
{
  static DynoDatasetInfo data = { .kind = "biwi",
                                  .min_width = 224,
                                  .max_width = 224,
                                  .min_height = 224,
                                  .max_height = 224,
                                  .resizable = TRUE };

  data.schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 3);
  return &data;
}

static DynoJob *
make_job (const char *model)
{
  DynoJob *job = dyno_job_new ();

  g_free (job->model);
  job->model = g_strdup (model);
  return job;
}

/* The origin of the batch: the guide, Dyno, or the row for another size. */
static void
test_batch (void)
{
  g_autoptr (DynoPreset) rtx3090 = find ("rtx3090"), none = find ("rtx3060");
  g_autoptr (DynoJob) job = make_job ("headpose_resnet18");
  DynoPresetUse use = { .level = DYNO_LEVEL_RECOMMENDED, .job = job, .data = biwi () };
  g_autofree char *guide = dyno_preset_describe_batch (rtx3090, &use), *own = NULL, *scaled = NULL;

  g_assert_cmpstr (
      guide, ==,
      "Batch 64 comes from RTX 3090's row for biwi, values to predict, 224x224 (safe 64, "
      "recommended 64, max 128)");
  use.job = NULL;
  use.data = NULL;
  own = dyno_preset_describe_batch (rtx3090, &use);
  g_assert_true (g_str_has_suffix (own, ", derived: no guide gives it"));
  g_assert_true (g_str_has_prefix (own, "Batch 28 "));
  job->settings.image_size = 112;
  use.job = job;
  use.data = biwi ();
  scaled = dyno_preset_describe_batch (rtx3090, &use);
  g_assert_true (g_str_has_prefix (scaled, "Batch 256 "));
  g_assert_true (g_str_has_suffix (scaled, "derived from 64 for samples of this size"));
  none->n_rows = 0; /* a preset without rows; restored below */
  g_assert_null (dyno_preset_describe_batch (none, &use));
  none->n_rows = 2;
}

static void
test_derived (void)
{
  g_autoptr (DynoPreset) a100 = find ("a100"), rtx3090 = find ("rtx3090");
  DynoDeviceInfo device = { .name = "Some card", .vram_bytes = GIB };
  g_autoptr (DynoPreset) this_gpu = dyno_preset_find ("this-gpu", &device, NULL);
  g_autofree char *many = dyno_preset_describe_derived (a100),
                  *one = dyno_preset_describe_derived (rtx3090),
                  *all = dyno_preset_describe_derived (this_gpu);

  g_assert_cmpstr (many, ==, "Prefetch, Pinned memory, Persistent workers");
  g_assert_cmpstr (one, ==, "Pinned memory");
  g_assert_nonnull (strstr (all, "Workers"));
  g_strfreev (rtx3090->derived);
  rtx3090->derived = g_new0 (char *, 1);
  g_assert_null (dyno_preset_describe_derived (rtx3090));
}

static void
test_emulation_note (void)
{
  DynoDeviceInfo h200 = { .name = "NVIDIA H200", .vram_bytes = 140 * GIB };
  DynoDeviceInfo small = { .name = "Small", .vram_bytes = 4 * GIB };
  DynoDeviceInfo near = { .name = "Near", .vram_bytes = 11800ULL << 20 };
  DynoDeviceInfo own = { .name = "NVIDIA GeForce RTX 3060", .vram_bytes = 12 * GIB };
  g_autoptr (DynoPreset) preset = find ("rtx3060");
  g_autofree char *emulated = dyno_preset_emulation_note (preset, &h200),
                  *limited = dyno_preset_emulation_note (preset, &small),
                  *enough = dyno_preset_emulation_note (preset, &near);

  g_assert_nonnull (strstr (emulated, "Emulates the 11.5 GB that a program gets of the 12 GB of "
                                      "RTX 3060 on NVIDIA H200"));
  g_assert_nonnull (strstr (limited, "only 4 GB"));
  /* Less than 12 GB, but enough for everything that counts. */
  g_assert_nonnull (strstr (enough, "Emulates"));
  g_assert_null (dyno_preset_emulation_note (preset, &own));
}

/* The notes that are present, each identified by a word. */
static char *
list_notes (const DynoPreset *preset, const DynoPresetUse *use, const DynoSettings *settings)
{
  static const char *const words[] = { "Batch ", "Emulates", "AMP is left off", "cores", NULL };
  g_auto (GStrv) notes = dyno_preset_list_notes (preset, use, settings);
  GString *found = g_string_new (NULL);

  for (guint i = 0; notes[i]; i++)
    for (guint k = 0; words[k]; k++)
      if (strstr (notes[i], words[k]))
        g_string_append_printf (found, "%u", k);
  g_assert_cmpuint (found->len, ==, g_strv_length (notes));
  return g_string_free (found, FALSE);
}

/* There is a note on each matter in which the settings follow the preset, and on none in which they
 * differ. */
static void
test_notes (void)
{
  DynoDeviceInfo cpu = {
    .name = "llvmpipe", .type = DYNO_DEVICE_TYPE_SOFTWARE, .vram_bytes = 64 * GIB, .fp16 = TRUE
  };
  g_autoptr (DynoPreset) preset = find ("rtx3090");
  DynoPresetUse use = { .level = DYNO_LEVEL_RECOMMENDED, .device = &cpu };
  DynoSettings settings;
  g_autofree char *all = NULL, *few = NULL;

  preset->workers_max = dyno_cores_count () + 1;
  dyno_settings_init (&settings);
  dyno_preset_apply (preset, &use, &settings);
  all = list_notes (preset, &use, &settings);
  g_assert_cmpstr (all, ==, "0123");
  settings.batch_size++;
  settings.vram_budget = 5;
  settings.amp = TRUE;
  settings.workers = 0;
  few = list_notes (preset, &use, &settings);
  g_assert_cmpstr (few, ==, "");
}

static char *
compare (const DynoPreset *preset, const DynoPresetUse *use, const double *measured)
{
  DynoPresetRange expected[DYNO_PRESET_N_QUANTITIES];

  dyno_preset_list_expected (preset, use, expected);
  return dyno_preset_compare (expected, measured);
}

/* The numbers of the guides are shown unchanged. */
static void
test_expected (void)
{
  g_autoptr (DynoPreset) rtx3060 = find ("rtx3060"), rtx3090 = find ("rtx3090"),
                         rtx4060 = find ("rtx4060"), t4 = find ("t4");
  g_autoptr (DynoJob) job = make_job ("headpose_resnet18");
  DynoPresetUse any = { 0 }, head_pose = { .job = job, .data = biwi () };
  g_autofree char *a = dyno_preset_describe_expected (rtx3060, &any),
                  *b = dyno_preset_describe_expected (rtx3090, &any),
                  *c = dyno_preset_describe_expected (rtx4060, &any),
                  *d = dyno_preset_describe_expected (rtx3090, &head_pose);

  g_assert_cmpstr (a, ==, "70 samples/s, 1.66 GB, 8 s an epoch, 10-15 times as fast as the CPU");
  g_assert_cmpstr (b, ==, "300-500 samples/s, 90-100 % GPU utilisation, 18-22 GB, 350 W");
  g_assert_cmpstr (c, ==,
                   "105 samples/s (82 before: 1.28 times as fast), 43-49 % GPU utilisation (28-32 "
                   "before), 2.07 GB (1.82 before)");
  g_assert_cmpstr (d, ==,
                   "300-500 samples/s, 90-100 % GPU utilisation, 18-22 GB, 350 W\n"
                   "a mean error of 4-6 degrees\n"
                   "batch 64: 20 min of training (45 before: 2.25 times as fast)");
  g_assert_null (dyno_preset_describe_expected (t4, &any));
}

/* A comparison needs both numbers; there is none for a job of another kind. */
static void
test_compare (void)
{
  g_autoptr (DynoPreset) preset = find ("rtx3090"), t4 = find ("t4");
  g_autoptr (DynoJob) job = make_job ("headpose_resnet18");
  DynoPresetUse any = { 0 }, head_pose = { .job = job, .data = biwi () };
  double measured[DYNO_PRESET_N_QUANTITIES];
  g_autofree char *general = NULL, *special = NULL;

  for (guint i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    measured[i] = (double) NAN;
  g_assert_null (compare (preset, &any, measured));
  measured[DYNO_PRESET_SAMPLES_PER_S] = 412;
  measured[DYNO_PRESET_VRAM] = 3.1;
  measured[DYNO_PRESET_EPOCH] = 9; /* the guide has no number for it */
  measured[DYNO_PRESET_ERROR] = 5.5;
  general = compare (preset, &any, measured);
  g_assert_cmpstr (general, ==, "412 samples/s (expected 300-500), 3.1 GB (expected 18-22)");
  special = compare (preset, &head_pose, measured);
  g_assert_true (g_str_has_suffix (special, "a mean error of 5.5 degrees (expected 4-6)"));
  g_assert_null (compare (t4, &any, measured));
  g_assert_cmpfloat (dyno_preset_find_expected (preset, &head_pose, DYNO_PRESET_TRAINING)->least,
                     ==, 20);
  g_assert_null (dyno_preset_find_expected (preset, &any, DYNO_PRESET_TRAINING));
}

int
main (int argc, char **argv)
{
  g_setenv ("XDG_DATA_HOME", "/nonexistent", TRUE);
  g_setenv ("XDG_DATA_DIRS", "/nonexistent", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/preset-words/whose-the-batch-is", test_batch);
  g_test_add_func ("/tune/preset-words/whose-the-rest-is", test_derived);
  g_test_add_func ("/tune/preset-words/emulation-note", test_emulation_note);
  g_test_add_func ("/tune/preset-words/notes-of-what-is-followed", test_notes);
  g_test_add_func ("/tune/preset-words/expected-of-the-guides", test_expected);
  g_test_add_func ("/tune/preset-words/expected-beside-measured", test_compare);
  return g_test_run ();
}
