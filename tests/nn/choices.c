/* SPDX-License-Identifier: MIT */
/* The table of choices on disk, and its use by a lowering. */
#include "hash.h"
#include "infos.h"
#include "lowering.h"
#include "file.h"
#include <glib/gstdio.h>
#include <string.h>

static DynoVariant
variant_of (const char *label)
{
  DynoVariant variant;
  g_assert_true (dyno_variant_parse (label, &variant));
  return variant;
}

static void
set (DynoChoices *choices, const char *key, const char *label, double time_us)
{
  DynoVariant variant = variant_of (label);
  dyno_choices_set (choices, key, &variant, time_us);
}

/* label NULL: the key is not known. */
static void
assert_choice (DynoChoices *choices, const char *key, const char *label)
{
  DynoVariant variant;
  char got[DYNO_VARIANT_LABEL];
  gboolean known = dyno_choices_get (choices, key, &variant);
  if (known)
    dyno_variant_print (&variant, got);
  g_assert_cmpstr (known ? got : NULL, ==, label);
}

static void
test_round_trip (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  set (choices, "conv a b", "f32 8x8x8", 12.5);
  set (choices, "conv a b", "khr-patch 16x8x8/8x8 k2", 11.5);
  set (choices, "wgrad", "lanes 4x4x4", 1e6);
  g_assert_true (dyno_choices_save (choices, "device one", &error));
  g_assert_no_error (error);
  g_autoptr (DynoChoices) again = dyno_choices_load ("device one");
  assert_choice (again, "conv a b", "khr-patch 16x8x8/8x8 k2");
  assert_choice (again, "wgrad", "lanes 4x4x4");
  assert_choice (again, "conv", NULL);
  g_autoptr (DynoChoices) other = dyno_choices_load ("device two");
  assert_choice (other, "wgrad", NULL);
}

static gboolean
refuse (DynoChoices *choices, const char *key, const char *label, const char *why)
{
  DynoVariant variant = variant_of (label);
  return dyno_choices_refuse (choices, key, &variant, why);
}

static void
test_refusals_round_trip (void)
{
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  g_assert_false (dyno_choices_decide (choices));
  g_assert_true (refuse (choices, "conv f16 n1 h2", "khr 8x8x16/8x8", "the\tcompiler\ndied"));
  g_assert_false (refuse (choices, "conv f16 n9", "khr 8x8x16/8x8", "again"));
  g_assert_true (refuse (choices, "conv f32 n1", "f32 4x4x4 k2", "sums"));
  set (choices, "conv f16 n1 h2", "f16 4x4x4", 2);
  g_assert_true (dyno_choices_save (choices, "device one", NULL));
  g_autoptr (DynoChoices) again = dyno_choices_load ("device one");
  g_assert_cmpuint (dyno_choices_count_refusals (again), ==, 2);
  static const struct {
    const char *key, *label, *why;
  } cases[] = {
    { "conv f16 n7 h7", "khr 8x8x16/8x8", "again" },
    /* A refusal applies to all splits of the tile. */
    { "conv f16 n7 h7", "khr 8x8x16/8x8 k4", "again" },
    { "conv f16", "khr 8x8x16/8x8", "again" },
    { "conv f16 n7 h7", "khr 8x8x16/8x4", NULL },
    { "conv f16 n7 h7", "khr-patch 8x8x16/8x8", NULL },
    { "conv f32 n7 h7", "khr 8x8x16/8x8", NULL },
    { "conv f32 n7 h7", "f32 4x4x4 k2", "sums" },
    { "conv f32 n7 h7", "f32 4x4x4", NULL },
    { "conv f32 n7 h7", "f32 4x4x4 k4", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoVariant variant = variant_of (cases[i].label);
      g_autofree char *why = dyno_choices_get_refusal (again, cases[i].key, &variant);
      g_assert_cmpstr (why, ==, cases[i].why);
    }
  /* With choices by rule, the table returns no stored choice but keeps it; refusals apply. */
  dyno_choices_go_by_rule (again);
  assert_choice (again, "conv f16 n1 h2", NULL);
  g_assert_true (dyno_choices_decide (again));
  dyno_choices_forget_refusals (again);
  g_assert_false (dyno_choices_decide (again));
  dyno_choices_keep (again);
  g_autoptr (DynoChoices) third = dyno_choices_load ("device one");
  assert_choice (third, "conv f16 n1 h2", "f16 4x4x4");
  g_assert_cmpuint (dyno_choices_count_refusals (third), ==, 0);
}

/* A tile that has passed its test has passed it with all splits, in its family. */
static void
test_passed_round_trip (void)
{
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  DynoVariant split = variant_of ("khr 8x8x16/8x8 k4"), whole = variant_of ("khr 8x8x16/8x8"),
              other = variant_of ("khr 8x8x16/8x4");
  dyno_choices_pass (choices, "conv f16 n1 h2", &split);
  g_assert_true (dyno_choices_save (choices, "device one", NULL));
  g_autoptr (DynoChoices) again = dyno_choices_load ("device one");
  g_assert_true (dyno_choices_has_passed (again, "conv f16 n9", &whole));
  g_assert_true (dyno_choices_has_passed (again, "conv f16 n9", &split));
  g_assert_false (dyno_choices_has_passed (again, "conv f16 n9", &other));
  g_assert_false (dyno_choices_has_passed (again, "conv f32 n9", &whole));
}

/* An undamaged file with a label that no variant has, perhaps of a later version. */
static void
test_no_variant_reads_as_empty (void)
{
  static const char *const lines[] = { "key\tkhr 8x8x16/8x8\t3\n", "key\tamd 8x8x16/8x8\t3\n",
                                       "!passed\tfamily\tamd 8x8x16/8x8\n",
                                       "!refused\tfamily\tamd 8x8x16/8x8\twhy\n" };
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  set (choices, "other", "f32 8x8x8", 3);
  g_assert_true (dyno_choices_save (choices, "device four", NULL));
  g_autofree char *folder = dyno_cache_dir ("choices"), *text = NULL;
  g_autofree char *name = g_strdup_printf ("%016" G_GINT64_MODIFIER "x.choices",
                                           dyno_hash_string (DYNO_HASH_START, "device four"));
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autofree char *body = g_strconcat (strchr (text, '\n') + 1, lines[i], NULL);
      g_autofree char *whole =
          g_strdup_printf ("dyno-choices 2 %016" G_GINT64_MODIFIER "x\n%s",
                           dyno_hash_bytes (DYNO_HASH_START, body, strlen (body)), body);
      g_assert_true (g_file_set_contents (path, whole, -1, NULL));
      g_autoptr (DynoChoices) loaded = dyno_choices_load ("device four");
      assert_choice (loaded, "other", i == 0 ? "f32 8x8x8" : NULL);
    }
  g_assert_cmpint (g_unlink (path), ==, 0);
}

/* Returns the only file in the folder. */
static char *
only_file (void)
{
  g_autofree char *folder = dyno_cache_dir ("choices");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name = g_dir_read_name (dir);
  g_assert_nonnull (name);
  g_assert_null (g_dir_read_name (dir));
  return g_build_filename (folder, name, NULL);
}

static void
test_corrupt_reads_as_empty (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  set (choices, "key", "f32 8x8x8", 3);
  g_assert_true (dyno_choices_save (choices, "device one", &error));
  g_autofree char *path = only_file (), *text = NULL;
  gsize length;
  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  for (gsize at = 0; at < length; at++)
    {
      g_autofree char *broken = g_memdup2 (text, length);
      broken[at] ^= 1;
      g_assert_true (g_file_set_contents (path, broken, (gssize) length, NULL));
      g_autoptr (DynoChoices) loaded = dyno_choices_load ("device one");
      /* Flipping one bit of a letter in the hexadecimal hash never gives the other case. */
      assert_choice (loaded, "key", NULL);
      g_assert_true (g_file_set_contents (path, text, (gssize) at, NULL)); /* truncated */
      g_autoptr (DynoChoices) cut = dyno_choices_load ("device one");
      assert_choice (cut, "key", NULL);
    }
}

/* An undamaged file for this device, but of another build's kernels. */
static void
test_other_kernels_read_as_empty (void)
{
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  set (choices, "key", "f32 8x8x8", 3);
  g_assert_true (dyno_choices_save (choices, "device one", NULL));
  g_autofree char *path = only_file (), *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  char *body = strchr (text, '\n') + 1, *kernels = strstr (body, "kernels ") + strlen ("kernels ");
  for (guint same = 0; same < 2; same++)
    {
      if (!same)
        kernels[0] = kernels[0] == '0' ? '1' : '0';
      else
        {
          g_autofree char *ours =
              g_strdup_printf ("%016" G_GINT64_MODIFIER "x", dyno_shader_sources_hash ());
          memcpy (kernels, ours, 16);
        }
      g_autofree char *whole =
          g_strdup_printf ("dyno-choices 2 %016" G_GINT64_MODIFIER "x\n%s",
                           dyno_hash_bytes (DYNO_HASH_START, body, strlen (body)), body);
      g_assert_true (g_file_set_contents (path, whole, -1, NULL));
      g_autoptr (DynoChoices) loaded = dyno_choices_load ("device one");
      assert_choice (loaded, "key", same ? "f32 8x8x8" : NULL);
    }
}

static void
nothing (DynoLowering *lowering, DynoNode *node)
{
}

static void
test_lowering_chooses (void)
{
  static const DynoOpClass op = { .name = "test", .lower = nothing };
  const DynoVariant variants[] = { variant_of ("f32 8x8x8"), variant_of ("f32 8x8x8 k2"),
                                   variant_of ("khr 8x8x8/8x8") };
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  DynoNode *node = dyno_graph_node (graph, &op, "node", NULL, 0, NULL, 0, NULL, 0);
  g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info_cpu, choices, NULL);
  GPtrArray *points = dyno_lowering_get_choice_points (lowering);
  const DynoChoicePoint *point;
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", variants, 3), ==, 0);
  set (choices, "key", "khr 8x8x8/8x8", 1);
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", variants, 3), ==, 2);
  set (choices, "key", "khr 16x16x16/8x8", 1); /* none of the variants */
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", variants, 3), ==, 0);
  set (choices, "key", "khr 8x8x8/8x8", 1);
  dyno_choices_refuse (choices, "key", &variants[1], "why"); /* only this split */
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", variants, 3), ==, 2);
  point = g_ptr_array_index (points, 3);
  g_assert_cmpuint (point->n_variants, ==, 2);
  g_assert_cmpuint (point->chosen, ==, 1);
  g_assert_true (dyno_variant_equal (&point->variants[1], &variants[2]));
  dyno_choices_refuse (choices, "key", &variants[2], "why"); /* the chosen variant */
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", variants, 3), ==, 0);
  g_assert_true (dyno_graph_check (graph, NULL));
  dyno_lowering_choose (lowering, node, "key", variants, 0);
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (graph, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_UNSUPPORTED);
}

/* A label is the printed form of a struct, and no other text parses as one. */
static void
test_variants_print_and_parse (void)
{
  static const struct {
    const char *label;
    DynoVariant variant;
  } good[] = {
    { "khr 128x128x32/64x64", { DYNO_PATH_KHR, DYNO_SCHEME_PLAIN, 128, 128, 32, 64, 64, 0 } },
    { "khr 128x128x32/64x64 k8", { DYNO_PATH_KHR, DYNO_SCHEME_PLAIN, 128, 128, 32, 64, 64, 8 } },
    { "nv-patch2 256x64x32/64x64 k2",
      { DYNO_PATH_NV, DYNO_SCHEME_PATCH_AHEAD, 256, 64, 32, 64, 64, 2 } },
    { "f16-first 128x32x16/32x32 k1",
      { DYNO_PATH_F16, DYNO_SCHEME_FIRST, 128, 32, 16, 32, 32, 1 } },
    { "nv-strip 256x64x16/64x32 k3", { DYNO_PATH_NV, DYNO_SCHEME_STRIP, 256, 64, 16, 64, 32, 3 } },
    { "khr-images 128x128x32/64x64",
      { DYNO_PATH_KHR, DYNO_SCHEME_IMAGES, 128, 128, 32, 64, 64, 0 } },
    { "lanes 32x64x32", { DYNO_PATH_LANES, DYNO_SCHEME_PLAIN, 32, 64, 32, 0, 0, 0 } },
  };
  static const char *const bad[] = { "",
                                     "khr",
                                     "khr 128x128",
                                     "khr 128x128x32/64",
                                     "khr 128x128x32/64x64 k",
                                     "khr 128x128x32/64x64 k08",
                                     "khr 128x128x32/64x64 k8 ",
                                     "khr 128x128x32/64x64x2",
                                     "khr-patches 128x128x32/64x64",
                                     "amd 128x128x32/64x64",
                                     " khr 128x128x32/64x64",
                                     "khr -1x128x32/64x64" };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      char label[DYNO_VARIANT_LABEL];
      DynoVariant got;
      dyno_variant_print (&good[i].variant, label);
      g_assert_cmpstr (label, ==, good[i].label);
      g_assert_true (dyno_variant_parse (label, &got));
      g_assert_cmpmem (&got, sizeof got, &good[i].variant, sizeof got);
      g_assert_cmpint (dyno_variant_same_tile (&got, &good[0].variant), ==, i < 2);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      DynoVariant got;
      g_assert_false (dyno_variant_parse (bad[i], &got));
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-choices-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/choices/labels-are-prints-of-variants", test_variants_print_and_parse);
  g_test_add_func ("/nn/choices/round-trip-by-device", test_round_trip);
  g_test_add_func ("/nn/choices/refused-variants-are-kept-by-family", test_refusals_round_trip);
  g_test_add_func ("/nn/choices/passed-tiles-are-kept-by-family", test_passed_round_trip);
  g_test_add_func ("/nn/choices/no-variant-reads-as-empty", test_no_variant_reads_as_empty);
  g_test_add_func ("/nn/choices/lowering-takes-known-variant-else-first", test_lowering_chooses);
  g_test_add_func ("/nn/choices/other-kernels-read-as-empty", test_other_kernels_read_as_empty);
  g_test_add_func ("/nn/choices/corrupt-file-reads-as-empty", test_corrupt_reads_as_empty);
  return g_test_run ();
}
