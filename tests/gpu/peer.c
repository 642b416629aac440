/* SPDX-License-Identifier: MIT */
/* Copies between processes' devices, with the CUDA stub (fake-cuda.c); without it (--without) they
 * are refused. */
#include "peer.h"
#include "fake-cuda-test.h"
#include "gpu-test.h"
#include <string.h>
#include <unistd.h>

#define SIZE (2 * DYNO_PEER_GRANULARITY)

static guint32
value_of (guint64 i)
{
  return (guint32) i * 2654435761u + 1;
}

static void
wait_for_copies (DynoPeer *peer)
{
  gboolean done = FALSE;

  while (!done)
    g_assert_true (dyno_peer_poll (peer, &done, NULL));
}

/* Both ends in this process: the copied bytes are there, and no others have changed. */
static void
test_copies (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoPeer *peer = dyno_peer_open (device, &error);
  guint64 before = dyno_device_get_allocated (device, DYNO_MEMORY_GRADIENTS);
  DynoBuffer *source =
      dyno_buffer_new (device, SIZE, DYNO_MEMORY_GRADIENTS, DYNO_BUFFER_SHARED, &error);
  g_autofree guint32 *values = g_new (guint32, SIZE / 4);
  int descriptor = -1;
  guint from, to;
  gboolean done;

  g_assert_no_error (error);
  DynoBuffer *inbox = dyno_peer_new_inbox (peer, SIZE, DYNO_MEMORY_GRADIENTS, &descriptor, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_device_get_allocated (device, DYNO_MEMORY_GRADIENTS) - before, ==,
                    2 * SIZE);
  g_assert_true (dyno_peer_add_target (peer, descriptor, SIZE, &to, &error));
  g_assert_true (dyno_peer_add_source (peer, source, &from, &error));
  g_assert_no_error (error);
  close (descriptor);
  for (guint64 i = 0; i < SIZE / 4; i++)
    values[i] = value_of (i);
  g_assert_true (dyno_buffer_write (source, 0, values, SIZE, &error));
  g_assert_true (dyno_buffer_fill (inbox, 0, SIZE, 7, &error));

  fake_cuda_find ()->early = 0;
  g_assert_true (dyno_peer_copy (peer, from, 4096, to, 65536, 8192, &error));
  g_assert_true (dyno_peer_copy (peer, from, SIZE - 16, to, 0, 16, &error));
  g_assert_true (dyno_peer_poll (peer, &done, &error));
  g_assert_false (done);
  wait_for_copies (peer);
  g_assert_no_error (error);
  g_assert_true (dyno_buffer_read (inbox, 0, values, SIZE, &error));
  for (guint64 i = 0; i < SIZE / 4; i++)
    {
      guint32 wanted = i < 4                                      ? value_of (SIZE / 4 - 4 + i)
                       : i >= 65536 / 4 && i < (65536 + 8192) / 4 ? value_of (i - 65536 / 4 + 1024)
                                                                  : 7;
      g_assert_cmpuint (values[i], ==, wanted);
    }
  dyno_peer_free (peer);
  dyno_buffer_free (inbox);
  dyno_buffer_free (source);
  g_assert_cmpint (fake_cuda_find ()->open, ==, 0);
  test_device_done (device);
}

/* Each call of CUDA fails once: the error names it, and nothing stays allocated. */
static void
test_failures (void)
{
  static const char *const calls[] = {
    "cuDeviceGetUuid",
    "cuDevicePrimaryCtxRetain",
    "cuStreamCreate",
    "cuMemCreate",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemAddressReserve",
    "cuMemMap",
    "cuMemSetAccess",
    "cuImportExternalMemory",
    "cuExternalMemoryGetMappedBuffer",
    "cuMemcpyDtoDAsync_v2",
    "cuStreamQuery",
  };
  DynoDevice *device = test_device (0);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *name = g_strndup (calls[i], strcspn (calls[i], "_"));
      int descriptor = -1;
      guint from, to;
      gboolean done;

      *fake_cuda_find () = (FakeCuda){ .fail = calls[i], .fail_at = 1 };
      g_autoptr (DynoBuffer) source =
          dyno_buffer_new (device, SIZE, DYNO_MEMORY_GRADIENTS, DYNO_BUFFER_SHARED, NULL);
      DynoPeer *peer = dyno_peer_open (device, &error);
      g_autoptr (DynoBuffer) inbox =
          peer ? dyno_peer_new_inbox (peer, SIZE, DYNO_MEMORY_GRADIENTS, &descriptor, &error)
               : NULL;
      g_assert_false (inbox && dyno_peer_add_target (peer, descriptor, SIZE, &to, &error)
                      && dyno_peer_add_source (peer, source, &from, &error)
                      && dyno_peer_copy (peer, from, 0, to, 0, 4096, &error)
                      && dyno_peer_poll (peer, &done, &error));
      g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, name));
      if (descriptor >= 0)
        close (descriptor);
      dyno_peer_free (peer);
      g_assert_cmpint (fake_cuda_find ()->open, ==, 0);
    }
  *fake_cuda_find () = (FakeCuda){ 0 };
  test_device_done (device);
}

/* Beyond the device's budget no inbox is allocated. */
static void
test_budget (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoPeer *peer = dyno_peer_open (device, &error);
  int descriptor = -1;

  g_assert_true (
      dyno_device_set_budget (device, dyno_device_get_allocated_total (device) + SIZE / 2, &error));
  g_assert_null (dyno_peer_new_inbox (peer, SIZE, DYNO_MEMORY_GRADIENTS, &descriptor, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
  g_assert_cmpint (descriptor, ==, -1);
  dyno_peer_free (peer);
  g_assert_cmpint (fake_cuda_find ()->open, ==, 0);
  test_device_done (device);
}

static void
test_without (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_peer_open (device, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "libcuda.so.1"));
  test_device_done (device);
}

int
main (int argc, char **argv)
{
  gboolean without = argc > 1 && g_str_equal (argv[1], "--without");

  g_test_init (&argc, &argv, NULL);
  if (without)
    {
      g_test_add_func ("/gpu/peer/is-refused-without-cuda", test_without);
      return g_test_run ();
    }
  g_test_add_func ("/gpu/peer/copies-what-and-where-it-is-told", test_copies);
  g_test_add_func ("/gpu/peer/a-call-that-fails-is-named-and-leaves-nothing", test_failures);
  g_test_add_func ("/gpu/peer/inboxes-are-counted", test_budget);
  return g_test_run ();
}
