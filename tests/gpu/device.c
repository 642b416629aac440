/* SPDX-License-Identifier: MIT */
/* Listing and opening devices, and the account of memory. */
#include "device-private.h"
#include "gpu-test.h"
#include <string.h>

#define MIB (G_GUINT64_CONSTANT (1) << 20)

static void
test_list (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) infos = dyno_device_list (&error);

  g_assert_no_error (error);
  g_assert_cmpuint (infos->len, >, 0);
  for (guint i = 0; i < infos->len; i++)
    {
      const DynoDeviceInfo *info = infos->pdata[i];
      g_assert_cmpuint (info->index, ==, i);
      g_assert_cmpstr (info->name, !=, "");
      g_assert_cmpuint (info->vram_bytes, >, 0);
      g_assert_cmpuint (info->shared_bytes, >=, 16384);
      g_assert_cmpuint (info->max_invocations, >=, 128);
      g_assert_cmpuint (info->subgroup_min, <=, info->subgroup_size);
      g_assert_cmpuint (info->subgroup_size, <=, info->subgroup_max);
      g_test_message ("%u: %s, %s, matrix %d, fp16 %d, subgroup %u", i, info->name, info->driver,
                      info->matrix, info->fp16, info->subgroup_size);
    }
}

/* A discrete card that lacks a feature comes after a software device that has it: index -1 is the
 * first of the list. */
static void
test_order (void)
{
  DynoProbe probes[] = {
    { .info = { .name = "lacking", .type = DYNO_DEVICE_TYPE_DISCRETE, .vram_bytes = 80000 * MIB },
      .lacks = (char *) "shaderInt64" },
    { .info = { .name = "software",
                .type = DYNO_DEVICE_TYPE_SOFTWARE,
                .vram_bytes = 90000 * MIB } },
    { .info = { .name = "small", .type = DYNO_DEVICE_TYPE_DISCRETE, .vram_bytes = 1000 * MIB } },
    { .info = { .name = "large", .type = DYNO_DEVICE_TYPE_DISCRETE, .vram_bytes = 4000 * MIB } },
  };
  static const char *const order[] = { "large", "small", "software", "lacking" };
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (probes); i++)
    g_ptr_array_add (list, &probes[i]);
  g_ptr_array_sort (list, dyno_probe_compare);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    g_assert_cmpstr (((DynoProbe *) list->pdata[i])->info.name, ==, order[i]);
}

static void
test_open_bad_index (void)
{
  DynoDeviceParams params = { .index = 1000 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (&params, &error);

  g_assert_null (device);
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE);
  g_assert_nonnull (strstr (error->message, "1000"));
}

static void
test_pretend (void)
{
  DynoDeviceParams params = {
    .index = -1, .no_fp16 = TRUE, .no_matrix = TRUE, .shared_bytes = 8192
  };
  g_autoptr (GError) error = NULL;
  DynoDevice *device = dyno_device_open (&params, &error);

  g_assert_no_error (error);
  g_assert_false (dyno_device_get_info (device)->fp16);
  g_assert_cmpint (dyno_device_get_info (device)->matrix, ==, DYNO_MATRIX_NONE);
  g_assert_cmpuint (dyno_device_get_info (device)->shared_bytes, ==, 8192);
  g_assert_cmpstr (dyno_device_get_key (device), !=, "");
  test_device_done (device);
}

static void
test_account (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *weights =
      dyno_buffer_new (device, MIB + 1, DYNO_MEMORY_WEIGHTS, DYNO_BUFFER_DEVICE, &error);
  DynoBuffer *upload =
      dyno_buffer_new (device, MIB, DYNO_MEMORY_STAGING, DYNO_BUFFER_UPLOAD, &error);
  guint64 expected = MIB + DYNO_BUFFER_GRANULARITY;

  g_assert_no_error (error);
  g_assert_cmpuint (dyno_buffer_get_size (weights), ==, expected);
  g_assert_cmpuint (dyno_buffer_get_address (weights), !=, 0);
  g_assert_null (dyno_buffer_get_mapped (weights));
  g_assert_nonnull (dyno_buffer_get_mapped (upload));
  g_assert_cmpuint (dyno_device_get_allocated (device, DYNO_MEMORY_WEIGHTS), ==, expected);
  g_assert_cmpuint (dyno_device_get_allocated (device, DYNO_MEMORY_STAGING), ==, 0);
  g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, expected);
  dyno_buffer_free (weights);
  dyno_buffer_free (upload);
  g_assert_cmpuint (dyno_device_get_allocated (device, DYNO_MEMORY_WEIGHTS), ==, 0);
  g_assert_cmpuint (dyno_device_get_allocated_peak (device), ==, expected);
  test_device_done (device);
}

static void
test_budget (void)
{
  DynoDevice *device = test_device (4 * MIB);
  g_autoptr (GError) error = NULL;
  DynoBuffer *a = dyno_buffer_new (device, 3 * MIB, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, &error);
  DynoBuffer *b;

  g_assert_no_error (error);
  b = dyno_buffer_new (device, MIB + 1, DYNO_MEMORY_WEIGHTS, DYNO_BUFFER_DEVICE, &error);
  g_assert_null (b);
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
  g_clear_error (&error);
  g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, 3 * MIB);
  g_assert_cmpuint (dyno_device_get_allocated (device, DYNO_MEMORY_WEIGHTS), ==, 0);
  b = dyno_buffer_new (device, MIB, DYNO_MEMORY_WEIGHTS, DYNO_BUFFER_DEVICE, &error);
  g_assert_no_error (error);
  g_assert_false (dyno_device_set_budget (device, 4 * MIB - 1, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
  g_clear_error (&error);
  g_assert_true (dyno_device_set_budget (device, 4 * MIB, &error)); /* the memory in use */
  dyno_buffer_free (a);
  g_assert_true (dyno_device_set_budget (device, 2 * MIB, &error));
  g_assert_null (dyno_buffer_new (device, 2 * MIB, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
  dyno_buffer_free (b);
  g_assert_cmpuint (dyno_device_get_allocated_peak (device), ==, 4 * MIB);
  test_device_done (device);
}

static void
test_huge (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer =
      dyno_buffer_new (device, G_MAXUINT64 - 5, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, &error);

  g_assert_null (buffer);
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY);
  test_device_done (device);
}

static void
test_query_memory (void)
{
  DynoDevice *device = test_device (0);
  guint64 used = 0, available = 0;
  gboolean said = dyno_device_query_memory (device, &used, &available);

  g_assert_true (said == dyno_device_get_info (device)->memory_budget);
  if (said)
    g_assert_cmpuint (used + available, ==, dyno_device_get_info (device)->vram_bytes);
  test_device_done (device);
}

/* The description of matrix units for which no kernel is made, in `dynoctl devices`. */
static void
test_matrix_words (void)
{
  DynoDeviceInfo info = { .matrix = DYNO_MATRIX_NONE };
  g_autofree char *none = dyno_device_info_matrix_words (&info);
  g_assert_cmpstr (none, ==, "no units: FMA");
  g_strlcpy (info.matrix_shapes, "8x8x16, 8x16x16", sizeof info.matrix_shapes);
  g_autofree char *other = dyno_device_info_matrix_words (&info);
  g_assert_nonnull (strstr (other, "units of 8x8x16, 8x16x16"));
  g_assert_nonnull (strstr (other, "16x16x16: FMA"));
  info.matrix_khr_device = TRUE;
  g_autofree char *compiler = dyno_device_info_matrix_words (&info);
  g_assert_nonnull (strstr (compiler, "compiler does not know"));
  info.matrix = DYNO_MATRIX_KHR;
  g_autofree char *used = dyno_device_info_matrix_words (&info);
  g_assert_cmpstr (used, ==, "VK_KHR_cooperative_matrix");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gpu/device/list-is-in-order", test_list);
  g_test_add_func ("/gpu/device/order-puts-first-what-index-minus-1-opens", test_order);
  g_test_add_func ("/gpu/device/bad-index-is-no-device", test_open_bad_index);
  g_test_add_func ("/gpu/device/pretends-less", test_pretend);
  g_test_add_func ("/gpu/device/account-is-exact", test_account);
  g_test_add_func ("/gpu/device/budget-refuses", test_budget);
  g_test_add_func ("/gpu/device/huge-buffer-is-refused", test_huge);
  g_test_add_func ("/gpu/device/says-which-matrix-units", test_matrix_words);
  g_test_add_func ("/gpu/device/query-memory", test_query_memory);
  return g_test_run ();
}
