/* SPDX-License-Identifier: MIT */
/* Ceilings are stored on disk for each device, give lower bounds of times, and are measured on the
 * present device. */
#include "ceilings.h"
#include "buffer.h"
#include "file.h"
#include "infos.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const DynoCeilings some = {
  .copy_bytes_per_s = 4e12,
  .fma_flops_per_s = 6e13,
  .single_flops_per_s = 5e13,
  .matrix_flops_per_s = 6e14,
  .single_kernel = "f32 128x128x16",
  .matrix_kernel = "khr 128x256x32",
};

static void
test_round_trip (void)
{
  DynoCeilings got;
  DynoDeviceInfo other_driver = info_card, no_matrix = info_card;
  other_driver.driver_version++;
  no_matrix.matrix = DYNO_MATRIX_NONE;
  g_assert_false (dyno_ceilings_load (&info_card, &got));
  dyno_ceilings_keep (&info_card, &some);
  g_assert_true (dyno_ceilings_load (&info_card, &got));
  g_assert_cmpmem (&got, sizeof got, &some, sizeof some);
  g_assert_false (dyno_ceilings_load (&other_driver, &got));
  g_assert_false (dyno_ceilings_load (&no_matrix, &got));
  g_assert_false (dyno_ceilings_load (&info_cpu, &got));
  g_assert_cmpfloat (got.copy_bytes_per_s, ==, 0);
}

/* Damage anywhere in the file, and impossible figures. */
static void
test_damaged_reads_as_nothing (void)
{
  g_autofree char *folder = dyno_cache_dir ("ceilings");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  DynoCeilings got, odd = some;
  dyno_ceilings_keep (&info_card, &some);
  g_autofree char *path = g_build_filename (folder, g_dir_read_name (dir), NULL), *text = NULL;
  gsize length;
  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  for (gsize at = 0; at < length; at++)
    {
      text[at] ^= 1;
      g_assert_true (g_file_set_contents (path, text, (gssize) length, NULL));
      text[at] ^= 1;
      g_assert_false (dyno_ceilings_load (&info_card, &got));
      g_assert_true (g_file_set_contents (path, text, (gssize) at, NULL));
      g_assert_false (dyno_ceilings_load (&info_card, &got));
    }
  odd.fma_flops_per_s = -1;
  dyno_ceilings_keep (&info_card, &odd);
  g_assert_false (dyno_ceilings_load (&info_card, &got));
  odd = some;
  memset (odd.single_kernel, 'x', sizeof odd.single_kernel);
  dyno_ceilings_keep (&info_card, &odd);
  g_assert_false (dyno_ceilings_load (&info_card, &got));
}

static void
test_floor (void)
{
  DynoDispatch d = { .bytes = 8000000, .flops = 60000000 };
  /* its FLOPs would take 1 microsecond */
  g_assert_cmpfloat_with_epsilon (dyno_ceilings_floor_us (&some, &d), 2, 1e-9);
  d.flops = 600000000;
  g_assert_cmpfloat_with_epsilon (dyno_ceilings_floor_us (&some, &d), 10, 1e-9);
  dyno_kernel_spec_macro (&d.spec, "HALF=1");
  g_assert_false (dyno_ceilings_on_matrix (&d.spec));
  dyno_kernel_spec_macro (&d.spec, "MATRIX_KHR=1");
  g_assert_true (dyno_ceilings_on_matrix (&d.spec));
  g_assert_cmpfloat_with_epsilon (dyno_ceilings_floor_us (&some, &d), 2, 1e-9);
  g_assert_cmpfloat (dyno_ceilings_floor_us (&(DynoCeilings){ 0 }, &d), ==, 0);
}

static void
test_measure (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (NULL, &error);
  DynoCeilings got;
  g_assert_no_error (error);
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  dyno_ceilings_measure (device, &got, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (got.copy_bytes_per_s, >, 0);
  g_assert_cmpfloat (got.fma_flops_per_s, >, 0);
  g_assert_cmpfloat (got.single_flops_per_s, >, 0);
  g_assert_cmpstr (got.single_kernel, !=, "");
  g_assert_cmpint (got.matrix_flops_per_s > 0, ==, info->matrix != DYNO_MATRIX_NONE);
  g_assert_cmpint (*got.matrix_kernel != '\0', ==, info->matrix != DYNO_MATRIX_NONE);
  dyno_ceilings_keep (info, &got);
  g_assert_true (dyno_ceilings_load (info, &got));
  g_assert_true (dyno_device_wait_idle (device, &error));
  g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, 0);
  g_assert_cmpuint (dyno_device_get_validation_messages (device), ==, 0);
}

/* A measurement that exceeds the budget is an error, and leaves nothing allocated. */
static void
test_measure_past_the_budget (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (
      &(DynoDeviceParams){ .index = -1, .budget_bytes = DYNO_BUFFER_GRANULARITY }, &error);
  DynoCeilings got;
  g_assert_no_error (error);
  g_assert_false (dyno_ceilings_measure (device, &got, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
  g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, 0);
}

/* Uses a cache folder without ceilings, but with the kernels that are compiled already. */
static void
use_own_cache (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-ceilings-XXXXXX", NULL),
                  *dyno = g_build_filename (folder, "dyno", NULL);
  g_assert_cmpint (g_mkdir (dyno, 0755), ==, 0);
  static const char *const shared[] = { "dyno/shaders", "dyno/pipelines", "mesa_shader_cache" };
  for (guint i = 0; g_getenv ("XDG_CACHE_HOME") && i < G_N_ELEMENTS (shared); i++)
    {
      g_autofree char *from = g_build_filename (g_getenv ("XDG_CACHE_HOME"), shared[i], NULL),
                      *to = g_build_filename (folder, shared[i], NULL);
      g_assert_cmpint (g_mkdir_with_parents (from, 0755), ==, 0);
      g_assert_cmpint (symlink (from, to), ==, 0);
    }
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
}

int
main (int argc, char **argv)
{
  use_own_cache ();
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/ceilings/round-trip-by-device", test_round_trip);
  g_test_add_func ("/nn/ceilings/damaged-reads-as-nothing", test_damaged_reads_as_nothing);
  g_test_add_func ("/nn/ceilings/floor-is-the-longer-of-bytes-and-flops", test_floor);
  g_test_add_func ("/nn/ceilings/measures-what-the-device-has", test_measure);
  g_test_add_func ("/nn/ceilings/past-the-budget-is-an-error", test_measure_past_the_budget);
  return g_test_run ();
}
