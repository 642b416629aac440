/* SPDX-License-Identifier: MIT */
/* The table of choices on disk, and how a lowering uses it. */
#include "hash.h"
#include "infos.h"
#include "lowering.h"
#include "file.h"
#include "variant.h"
#include <string.h>

static void
test_round_trip (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  dyno_choices_set (choices, "conv a b", "tile 8x8", 12.5);
  dyno_choices_set (choices, "conv a b", "tile 16x8", 11.5);
  dyno_choices_set (choices, "wgrad", "fma", 1e6);
  g_assert_true (dyno_choices_save (choices, "device one", &error));
  g_assert_no_error (error);
  g_autoptr (DynoChoices) again = dyno_choices_load ("device one");
  g_autofree char *a = dyno_choices_get (again, "conv a b"), *b = dyno_choices_get (again, "wgrad");
  g_assert_cmpstr (a, ==, "tile 16x8");
  g_assert_cmpstr (b, ==, "fma");
  g_assert_null (dyno_choices_get (again, "conv"));
  g_autoptr (DynoChoices) other = dyno_choices_load ("device two");
  g_assert_null (dyno_choices_get (other, "wgrad"));
}

static void
test_refusals_round_trip (void)
{
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  g_assert_false (dyno_choices_decide (choices));
  g_assert_true (
      dyno_choices_refuse (choices, "conv f16 n1 h2", "khr 8x8x16/8x8", "the\tcompiler\ndied"));
  g_assert_false (dyno_choices_refuse (choices, "conv f16 n9", "khr 8x8x16/8x8", "again"));
  g_assert_true (dyno_choices_refuse (choices, "conv f32 n1", "fma 4x4 k2", "sums"));
  dyno_choices_set (choices, "conv f16 n1 h2", "fma", 2);
  g_assert_true (dyno_choices_save (choices, "device one", NULL));
  g_autoptr (DynoChoices) again = dyno_choices_load ("device one");
  g_assert_cmpuint (dyno_choices_count_refusals (again), ==, 2);
  static const struct {
    const char *key, *label, *why;
  } cases[] = {
    { "conv f16 n7 h7", "khr 8x8x16/8x8", "again" },
    { "conv f16 n7 h7", "khr 8x8x16/8x8 k4", "again" }, /* a tile with all its splits */
    { "conv f16", "khr 8x8x16/8x8", "again" },
    { "conv f16 n7 h7", "khr 8x8x16/8x8/4x4", NULL },
    { "conv f32 n7 h7", "khr 8x8x16/8x8", NULL },
    { "conv f32 n7 h7", "fma 4x4 k2", "sums" },
    { "conv f32 n7 h7", "fma 4x4", NULL },
    { "conv f32 n7 h7", "fma 4x4 k4", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *why = dyno_choices_get_refusal (again, cases[i].key, cases[i].label);
      g_assert_cmpstr (why, ==, cases[i].why);
    }
  /* By rule choices are not told, but kept; refusals hold. */
  dyno_choices_go_by_rule (again);
  g_assert_null (dyno_choices_get (again, "conv f16 n1 h2"));
  g_assert_true (dyno_choices_decide (again));
  dyno_choices_forget_refusals (again);
  g_assert_false (dyno_choices_decide (again));
  dyno_choices_keep (again);
  g_autoptr (DynoChoices) third = dyno_choices_load ("device one");
  g_autofree char *kept = dyno_choices_get (third, "conv f16 n1 h2");
  g_assert_cmpstr (kept, ==, "fma");
  g_assert_cmpuint (dyno_choices_count_refusals (third), ==, 0);
}

/* The one file of the folder. */
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
  dyno_choices_set (choices, "key", "label", 3);
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
      g_autofree char *label = dyno_choices_get (loaded, "key");
      /* The hash's hex digits have two cases: flipping one bit of a letter never gives the
       * other. */
      g_assert_null (label);
      g_assert_true (g_file_set_contents (path, text, (gssize) at, NULL)); /* cut off */
      g_autoptr (DynoChoices) cut = dyno_choices_load ("device one");
      g_assert_null (dyno_choices_get (cut, "key"));
    }
}

/* A whole file of this device, of another build's kernels. */
static void
test_other_kernels_read_as_empty (void)
{
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  dyno_choices_set (choices, "key", "label", 3);
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
      g_autofree char *label = dyno_choices_get (loaded, "key");
      g_assert_cmpstr (label, ==, same ? "label" : NULL);
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
  const char *const labels[] = { NULL, "b", "c" }, *const none[] = { NULL, NULL };
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  DynoNode *node = dyno_graph_node (graph, &op, "node", NULL, 0, NULL, 0, NULL, 0);
  g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info_cpu, choices, NULL);
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", labels, 3), ==, 1);
  dyno_choices_set (choices, "key", "c", 1);
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", labels, 3), ==, 2);
  dyno_choices_set (choices, "key", "not a label", 1);
  g_assert_cmpuint (dyno_lowering_choose (lowering, node, "key", labels, 3), ==, 1);
  const DynoChoicePoint *point = g_ptr_array_index (dyno_lowering_get_choice_points (lowering), 1);
  g_assert_cmpuint (g_strv_length (point->labels), ==, 2);
  g_assert_cmpuint (point->chosen, ==, 1);
  g_assert_true (dyno_graph_check (graph, NULL));
  dyno_lowering_choose (lowering, node, "key", none, 2);
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (graph, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_UNSUPPORTED);
}

/* A label is the print of a struct, and only what is such a print reads as one. */
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
  g_test_add_func ("/nn/choices/lowering-takes-known-label-else-first", test_lowering_chooses);
  g_test_add_func ("/nn/choices/other-kernels-read-as-empty", test_other_kernels_read_as_empty);
  g_test_add_func ("/nn/choices/corrupt-file-reads-as-empty", test_corrupt_reads_as_empty);
  return g_test_run ();
}
