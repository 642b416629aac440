/* SPDX-License-Identifier: MIT */
/* Blocking copies between host and buffers. */
#include "gpu-test.h"

#define COUNT 50000

static void
roundtrip (DynoBufferUsage usage)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = test_buffer (device, COUNT, usage);
  g_autofree guint8 *in = g_malloc (COUNT), *out = g_malloc0 (COUNT);

  for (guint i = 0; i < COUNT; i++)
    in[i] = (guint8) (i * 7 + i / 256);
  g_assert_true (dyno_buffer_fill (buffer, 0, COUNT, 0xa5a5a5a5, &error));
  g_assert_true (dyno_buffer_write (buffer, 3, in, 30001, &error));
  g_assert_true (dyno_buffer_read (buffer, 0, out, COUNT, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (out + 3, 30001, in, 30001);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (out[i], ==, 0xa5);
  for (guint i = 30004; i < COUNT; i++)
    g_assert_cmpuint (out[i], ==, 0xa5);
  g_assert_true (dyno_buffer_read (buffer, 1003, out, 5001, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (out, 5001, in + 1000, 5001);
  dyno_buffer_free (buffer);
  test_device_done (device);
}

static void
test_device_roundtrip (void)
{
  roundtrip (DYNO_BUFFER_DEVICE);
}

static void
test_upload_roundtrip (void)
{
  roundtrip (DYNO_BUFFER_UPLOAD);
}

static void
test_readback_roundtrip (void)
{
  roundtrip (DYNO_BUFFER_READBACK);
}

/* More than one staging buffer can hold. */
static void
test_large (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  gsize count = (gsize) 9 << 20;
  DynoBuffer *buffer = test_buffer (device, count * 4, DYNO_BUFFER_DEVICE);
  g_autofree guint32 *in = g_new (guint32, count), *out = g_new0 (guint32, count);

  for (gsize i = 0; i < count; i++)
    in[i] = (guint32) (i * 2654435761u);
  g_assert_true (dyno_buffer_write (buffer, 0, in, count * 4, &error));
  g_assert_true (dyno_buffer_read (buffer, 0, out, count * 4, &error));
  g_assert_no_error (error);
  g_assert_cmpint (memcmp (in, out, count * 4), ==, 0);
  dyno_buffer_free (buffer);
  test_device_done (device);
}

/* The reported limit of the largest buffer applies, and no larger buffer is requested. */
static void
test_largest_buffer (void)
{
  DynoDeviceParams params = { .index = -1, .max_buffer_bytes = (1 << 20) + 1 };
  g_autoptr (GError) error = NULL;
  DynoDevice *device = dyno_device_open (&params, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (dyno_device_get_info (device)->max_buffer_bytes, ==, (1 << 20) + 1);
  g_assert_cmpuint (dyno_buffer_get_limit (dyno_device_get_info (device)), ==, 1 << 20);
  dyno_buffer_free (test_buffer (device, 1 << 20, DYNO_BUFFER_DEVICE));
  g_assert_null (
      dyno_buffer_new (device, (1 << 20) + 1, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY);
  g_assert_nonnull (strstr (error->message, "1048576"));
  test_device_done (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gpu/buffer/device-write-read-fill", test_device_roundtrip);
  g_test_add_func ("/gpu/buffer/upload-write-read-fill", test_upload_roundtrip);
  g_test_add_func ("/gpu/buffer/readback-write-read-fill", test_readback_roundtrip);
  g_test_add_func ("/gpu/buffer/larger-than-staging", test_large);
  g_test_add_func ("/gpu/buffer/largest-is-known", test_largest_buffer);
  return g_test_run ();
}
