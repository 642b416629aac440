/* SPDX-License-Identifier: MIT */
/* Vulkan calls that fail, through the layer of tests/layer: the error names the failed call. */
#include "../gpu/gpu-test.h"
#include "gpu-error.h"
#include <gmodule.h>

static void (*set_faults) (const char *words);

/* One call fails for lack of host memory; the device works again afterwards. */
static void
check (const char *call, gpointer (*make) (DynoDevice *, GError **), void (*drop) (gpointer))
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  g_autofree char *words = g_strconcat ("fail=", call, NULL),
                  *begin = g_strconcat (call, ": ", NULL);
  gpointer object;

  set_faults (words);
  object = make (device, &error);
  g_assert_null (object);
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY);
  if (!g_str_has_prefix (error->message, begin))
    g_error ("%s failed, and the error is “%s”", call, error->message);
  g_clear_error (&error);
  set_faults ("");
  object = make (device, &error);
  g_assert_no_error (error);
  g_assert_nonnull (object);
  if (drop)
    drop (object);
  test_device_done (device);
}

static gpointer
make_command (DynoDevice *device, GError **error)
{
  return dyno_command_new (device, DYNO_QUEUE_COMPUTE, error);
}

static gpointer
make_buffer (DynoDevice *device, GError **error)
{
  return dyno_buffer_new (device, 4096, DYNO_MEMORY_OTHER, DYNO_BUFFER_UPLOAD, error);
}

static gpointer
make_kernel (DynoDevice *device, GError **error)
{
  DynoKernelSpec spec = test_scale_spec ("OP=+", 0, 0);

  return dyno_kernel_get (device, &spec, error);
}

static void
test_commands (void)
{
  check ("vkCreateCommandPool", make_command, (GDestroyNotify) dyno_command_free);
  check ("vkAllocateCommandBuffers", make_command, (GDestroyNotify) dyno_command_free);
  check ("vkBeginCommandBuffer", make_command, (GDestroyNotify) dyno_command_free);
}

/* A device that hangs is given up after the configured time, which its error states; 0 is the
 * software device's default of an hour. */
static void
test_watchdog (void)
{
  for (guint i = 0; i < 2; i++)
    {
      DynoDevice *device = test_device (0);
      g_autoptr (GError) error = NULL;
      DynoCommand *command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
      guint64 value;

      g_assert_no_error (error);
      dyno_command_end (command, &error);
      g_assert_no_error (error);
      dyno_device_set_watchdog (device, 8000);
      if (i == 1)
        dyno_device_set_watchdog (device, 0);
      set_faults ("hang=1");
      dyno_command_submit (command, NULL, 0, &value, &error);
      g_assert_no_error (error);
      g_assert_false (dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, value, 0, &error));
      g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT);
      g_assert_nonnull (strstr (error->message, i == 0 ? " for 8 s" : " for 3600 s"));
      /* The layer ends waits at once, so the test does not take an hour. */
      g_assert_null (strstr (error->message, "nothing for 3600 s"));
      dyno_command_free (command);
      dyno_device_unref (device);
      set_faults ("");
    }
}

static void
test_buffers (void)
{
  check ("vkBindBufferMemory", make_buffer, (GDestroyNotify) dyno_buffer_free);
  check ("vkMapMemory", make_buffer, (GDestroyNotify) dyno_buffer_free);
}

static void
test_kernels (void)
{
  check ("vkCreateShaderModule", make_kernel, NULL);
}

/* A device whose extensions cannot be listed does not count as lacking them. */
static void
test_extensions (void)
{
  DynoDeviceParams params = { .index = -1 };
  g_autoptr (GError) error = NULL;

  set_faults ("fail=vkEnumerateDeviceExtensionProperties");
  g_assert_null (dyno_device_open (&params, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "vkEnumerateDeviceExtensionProperties"));
  set_faults ("");
}

int
main (int argc, char **argv)
{
  GModule *module;

  g_test_init (&argc, &argv, NULL);
  module = g_module_open (g_getenv ("DYNO_FAULTS_LAYER"), G_MODULE_BIND_LAZY);
  g_assert_nonnull (module);
  g_assert_true (g_module_symbol (module, "dyno_faults_set", (gpointer *) &set_faults));
  g_test_add_func ("/faults/vulkan/command/error-names-the-call", test_commands);
  g_test_add_func ("/faults/vulkan/command/hangs-for-as-long-as-was-set", test_watchdog);
  g_test_add_func ("/faults/vulkan/buffer/error-names-the-call", test_buffers);
  g_test_add_func ("/faults/vulkan/kernel/error-names-the-call", test_kernels);
  g_test_add_func ("/faults/vulkan/probe/untold-extensions-are-said", test_extensions);
  return g_test_run ();
}
