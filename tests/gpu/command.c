/* SPDX-License-Identifier: MIT */
/* Submissions, timeline values, queues, timers, and freeing objects in use. */
#include "device-private.h"
#include "gpu-test.h"

#define LANES 256

static DynoKernel *
spin_kernel (DynoDevice *device)
{
  DynoKernelSpec spec = { .shader = "test/spin.comp",
                          .macros = "LANES=256",
                          .local_size = { 64 },
                          .push_bytes = sizeof (DynoProbePush) };

  return test_kernel (device, &spec);
}

static DynoCommand *
spin_command (DynoDevice *device, DynoBuffer *buffer, guint32 steps)
{
  g_autoptr (GError) error = NULL;
  DynoCommand *command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  DynoProbePush push = { .c = dyno_buffer_get_address (buffer), .count = steps };

  dyno_command_dispatch (command, spin_kernel (device), &push, LANES / 64, 1, 1);
  g_assert_true (dyno_command_end (command, &error));
  g_assert_no_error (error);
  return command;
}

static guint32
spin (guint32 x, guint64 rounds)
{
  for (guint64 i = 0; i < 64 * rounds; i++)
    x = x * 1664525u + 1013904223u;
  return x;
}

/* One command is submitted twice, and another after it: every submission sees the writes of the
 * previous one. */
static void
test_in_flight (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  DynoCommand *a = spin_command (device, buffer, 50000), *b = spin_command (device, buffer, 7);
  guint64 timeline_values[3];
  guint32 out[LANES];

  g_assert_true (dyno_buffer_fill (buffer, 0, LANES * 4, 5, &error));
  timeline_values[0] = test_submit (a, NULL, 0);
  timeline_values[1] = test_submit (a, NULL, 0);
  timeline_values[2] = test_submit (b, NULL, 0);
  g_assert_cmpuint (timeline_values[0], <, timeline_values[1]);
  g_assert_cmpuint (timeline_values[1], <, timeline_values[2]);
  test_wait (device, DYNO_QUEUE_COMPUTE, timeline_values[2]);
  g_assert_cmpuint (dyno_queue_get_completed (device, DYNO_QUEUE_COMPUTE), ==, timeline_values[2]);
  g_assert_true (dyno_buffer_read (buffer, 0, out, sizeof out, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < LANES; i++)
    g_assert_cmpuint (out[i], ==, spin (5, 100007));
  dyno_command_free (a);
  dyno_command_free (b);
  dyno_buffer_free (buffer);
  test_device_done (device);
}

/* upload -> device on the transfer queue, compute after it, device -> readback on the transfer
 * queue after that. */
static void
test_transfer (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *upload = test_buffer (device, LANES * 4, DYNO_BUFFER_UPLOAD);
  DynoBuffer *buffer = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  DynoBuffer *readback = test_buffer (device, LANES * 4, DYNO_BUFFER_READBACK);
  DynoCommand *in = dyno_command_new (device, DYNO_QUEUE_TRANSFER, &error);
  DynoCommand *out = dyno_command_new (device, DYNO_QUEUE_TRANSFER, &error);
  DynoCommand *compute = spin_command (device, buffer, 1000);
  guint32 *x = dyno_buffer_get_mapped (upload), *y = dyno_buffer_get_mapped (readback);
  DynoWait wait = { DYNO_QUEUE_TRANSFER, 0 };

  g_assert_no_error (error);
  dyno_command_copy (in, upload, 0, buffer, 0, LANES * 4);
  dyno_command_copy (out, buffer, 0, readback, 0, LANES * 4);
  g_assert_true (dyno_command_end (in, &error));
  g_assert_true (dyno_command_end (out, &error));
  for (guint round = 0; round < 3; round++)
    {
      for (guint i = 0; i < LANES; i++)
        x[i] = i * 17 + round;
      wait = (DynoWait){ DYNO_QUEUE_TRANSFER, test_submit (in, &wait, 1) };
      wait = (DynoWait){ DYNO_QUEUE_COMPUTE, test_submit (compute, &wait, 1) };
      wait = (DynoWait){ DYNO_QUEUE_TRANSFER, test_submit (out, &wait, 1) };
      test_wait (device, DYNO_QUEUE_TRANSFER, wait.timeline_value);
      for (guint i = 0; i < LANES; i++)
        g_assert_cmpuint (y[i], ==, spin (i * 17 + round, 1000));
    }
  dyno_command_free (in);
  dyno_command_free (out);
  dyno_command_free (compute);
  dyno_buffer_free (upload);
  dyno_buffer_free (buffer);
  dyno_buffer_free (readback);
  test_device_done (device);
}

/* Copy and fill between barriers inside one command. */
static void
test_copy_fill (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *a = test_buffer (device, 4096, DYNO_BUFFER_DEVICE),
             *b = test_buffer (device, 4096, DYNO_BUFFER_READBACK);
  DynoCommand *command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  guint32 *y = dyno_buffer_get_mapped (b);

  dyno_command_fill (command, a, 0, 4096, 1);
  dyno_command_fill (command, b, 0, 4096, 3);
  dyno_command_barrier (command);
  dyno_command_fill (command, a, 1024, 1024, 2);
  dyno_command_barrier (command);
  dyno_command_copy (command, a, 512, b, 0, 1024);
  g_assert_true (dyno_command_end (command, &error));
  test_wait (device, DYNO_QUEUE_COMPUTE, test_submit (command, NULL, 0));
  for (guint i = 0; i < 1024; i++)
    g_assert_cmpuint (y[i], ==, i < 128 ? 1 : i < 256 ? 2 : 3);
  dyno_command_free (command);
  dyno_buffer_free (a);
  dyno_buffer_free (b);
  test_device_done (device);
}

/* A barrier is recorded once, before the next command, for the kinds of work that precede it. */
static void
test_barriers (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  DynoCommand *command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  DynoProbePush push = { .c = dyno_buffer_get_address (buffer), .count = 3 };

  g_assert_no_error (error);
  dyno_command_fill (command, buffer, 0, LANES * 4, 5);
  /* after all earlier submissions */
  g_assert_cmpuint (dyno_command_get_barriers (command), ==, 1);
  dyno_command_barrier (command);
  g_assert_cmpuint (dyno_command_get_barriers (command), ==, 1);
  for (guint i = 0; i < 3; i++)
    {
      dyno_command_dispatch (command, spin_kernel (device), &push, LANES / 64, 1, 1);
      g_assert_cmpuint (dyno_command_get_barriers (command), ==, 2 + i);
      dyno_command_barrier (command);
      dyno_command_barrier (command);
    }
  dyno_command_fill (command, buffer, 0, 64, 7);
  g_assert_cmpuint (dyno_command_get_barriers (command), ==, 5);
  g_assert_true (dyno_command_end (command, &error));
  g_assert_cmpuint (dyno_command_get_barriers (command), ==, 6);
  dyno_command_free (command);
  dyno_buffer_free (buffer);
  test_device_done (device);
}

static void
test_timer (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  DynoTimer *timer = dyno_timer_new (device, 3, &error);
  DynoCommand *command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  DynoProbePush push = { .c = dyno_buffer_get_address (buffer), .count = 50000 };
  double time_us[3] = { 9, 9, 9 };

  g_assert_no_error (error);
  if (dyno_device_get_info (device)->timestamp_ns > 0)
    {
      g_assert_false (dyno_timer_read (timer, time_us, 3, &error));
      g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_FAILED);
      g_clear_error (&error);
    }
  dyno_command_timestamp (command, timer, 0);
  dyno_command_dispatch (command, spin_kernel (device), &push, LANES / 64, 1, 1);
  dyno_command_timestamp (command, timer, 1);
  dyno_command_barrier (command);
  dyno_command_dispatch (command, spin_kernel (device), &push, LANES / 64, 1, 1);
  dyno_command_timestamp (command, timer, 2);
  g_assert_true (dyno_command_end (command, &error));
  test_wait (device, DYNO_QUEUE_COMPUTE, test_submit (command, NULL, 0));
  g_assert_true (dyno_timer_read (timer, time_us, 3, &error));
  g_assert_no_error (error);
  g_test_message ("%g %g %g us", time_us[0], time_us[1], time_us[2]);
  g_assert_cmpfloat (time_us[0], ==, 0.0);
  g_assert_cmpfloat (time_us[1], >=, 0.0);
  g_assert_cmpfloat (time_us[2], >=, time_us[1]);
  if (dyno_device_get_info (device)->timestamp_ns > 0)
    g_assert_cmpfloat (time_us[2], >, 0.0);
  dyno_timer_free (timer);
  dyno_command_free (command);
  dyno_buffer_free (buffer);
  test_device_done (device);
}

/* Command and buffer are freed during execution, and the whole budget is allocated again: memory
 * counts until the work is done. */
static void
test_deferred_free (void)
{
  guint64 size_bytes = 3 * DYNO_BUFFER_GRANULARITY;
  DynoDevice *device = test_device (size_bytes);
  g_autoptr (GError) error = NULL;

  for (guint round = 0; round < 4; round++)
    {
      DynoBuffer *buffer =
          dyno_buffer_new (device, size_bytes, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, &error);
      DynoCommand *command;
      guint64 timeline_value = 0;
      g_assert_no_error (error);
      command = spin_command (device, buffer, 60000);
      /* Enough work to be still running when its objects are freed. */
      for (guint i = 0; i < 15; i++)
        timeline_value = test_submit (command, NULL, 0);
      dyno_buffer_free (buffer);
      dyno_command_free (command);
      if (dyno_device_get_allocated_total (device) == 0)
        g_assert_cmpuint (dyno_queue_get_completed (device, DYNO_QUEUE_COMPUTE), >=,
                          timeline_value);
    }
  test_device_done (device);
}

/* Objects that are freed while a submission uses them are neither released nor removed from the
 * account before this submission has ended. */
static void
test_memory_counts_until_the_work_is_done (void)
{
  DynoDevice *device = test_device (0);
  DynoBuffer *buffer = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  DynoCommand *command = spin_command (device, buffer, 60000);
  guint64 timeline_value = test_submit (command, NULL, 0);

  dyno_buffer_free (buffer);
  while (dyno_device_get_allocated_total (device) > 0)
    g_usleep (100);
  g_assert_cmpuint (dyno_queue_get_completed (device, DYNO_QUEUE_COMPUTE), >=, timeline_value);
  dyno_command_free (command);
  test_device_done (device);
}

/* Submits work and then a copy; the work takes so long that a host that does not wait accesses the
 * memory before the copy does. */
static void
submit_late_copy (DynoDevice *device, DynoBuffer *work, DynoBuffer *from, DynoBuffer *to)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoCommand) command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  DynoProbePush push = { .c = dyno_buffer_get_address (work), .count = 60000 };

  g_assert_no_error (error);
  dyno_command_dispatch (command, spin_kernel (device), &push, LANES / 64, 1, 1);
  dyno_command_barrier (command);
  dyno_command_copy (command, from, 0, to, 0, LANES * 4);
  g_assert_true (dyno_command_end (command, &error));
  test_submit (command, NULL, 0);
}

/* A write into host-visible memory waits for its readers, a read waits for its writers. */
static void
test_host_copies_wait_for_the_device (void)
{
  DynoDevice *device = test_device (0);
  DynoBuffer *upload = test_buffer (device, LANES * 4, DYNO_BUFFER_UPLOAD),
             *readback = test_buffer (device, LANES * 4, DYNO_BUFFER_READBACK),
             *work = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE),
             *copy = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  guint32 before[LANES], after[LANES] = { 0 }, out[LANES];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < LANES; i++)
    before[i] = i + 1;
  g_assert_true (dyno_buffer_fill (work, 0, LANES * 4, 5, &error));
  g_assert_true (dyno_buffer_write (upload, 0, before, sizeof before, &error));
  submit_late_copy (device, work, upload, copy);
  g_assert_true (dyno_buffer_write (upload, 0, after, sizeof after, &error));
  g_assert_true (dyno_buffer_read (copy, 0, out, sizeof out, &error));
  g_assert_cmpmem (out, sizeof out, before, sizeof before);

  submit_late_copy (device, work, copy, readback);
  g_assert_true (dyno_buffer_read (readback, 0, out, sizeof out, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (out, sizeof out, before, sizeof before);
  dyno_buffer_free (upload);
  dyno_buffer_free (readback);
  dyno_buffer_free (work);
  dyno_buffer_free (copy);
  test_device_done (device);
}

/* Nothing is recorded that would exceed the end of a buffer, by a word or by an overflow. */
static void
test_past_the_end_is_refused (void)
{
  static const struct {
    gint64 source, target, size;
    const char *words;
  } cases[] = { { 0, 4, 0, "*target_offset <= target_size*" },
                { 4, 0, 0, "*source_offset <= source_size*" },
                { 0, 8, 0, "*target_offset <= target_size*" },
                { 0, 0, 4, "*source_offset <= source_size*" },
                { 0, -4, 0, "*target_offset <= target_size*" } };
  DynoDevice *device = test_device (0);
  DynoBuffer *a = test_buffer (device, 4096, DYNO_BUFFER_DEVICE),
             *b = test_buffer (device, 4096, DYNO_BUFFER_DEVICE);
  guint64 size_bytes = dyno_buffer_get_size (a);
  g_autoptr (GError) error = NULL;
  DynoCommand *command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_expect_message ("dyno-gpu", G_LOG_LEVEL_CRITICAL, cases[i].words);
      dyno_command_copy (command, a, (guint64) cases[i].source, b, (guint64) cases[i].target,
                         size_bytes + (guint64) cases[i].size);
      g_test_assert_expected_messages ();
    }
  g_test_expect_message ("dyno-gpu", G_LOG_LEVEL_CRITICAL, "*offset <= size*");
  dyno_command_fill (command, a, 4, size_bytes, 1);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (dyno_command_get_barriers (command), ==, 0);
  dyno_command_copy (command, a, 0, b, 0, size_bytes);
  g_assert_cmpuint (dyno_command_get_barriers (command), ==, 1);
  g_assert_true (dyno_command_end (command, &error));
  dyno_command_free (command);
  dyno_buffer_free (a);
  dyno_buffer_free (b);
  test_device_done (device);
}

/* Everything is freed during execution; the device waits for the work by itself. */
static void
test_device_goes_last (void)
{
  DynoDevice *device = test_device (0);
  DynoBuffer *buffer = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  DynoCommand *command = spin_command (device, buffer, 60000);

  for (guint i = 0; i < 15; i++)
    test_submit (command, NULL, 0);
  dyno_device_unref (device);
  dyno_buffer_free (buffer);
  dyno_command_free (command);
}

static void
test_timeout (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = test_buffer (device, LANES * 4, DYNO_BUFFER_DEVICE);
  DynoCommand *command = spin_command (device, buffer, 60000);
  guint64 timeline_value = test_submit (command, NULL, 0);

  /* A fast device may have finished already; then there is no error. */
  if (!dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 1, &error))
    g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT);
  test_wait (device, DYNO_QUEUE_COMPUTE, timeline_value);
  test_wait (device, DYNO_QUEUE_COMPUTE, 0);
  dyno_command_free (command);
  dyno_buffer_free (buffer);
  test_device_done (device);
}

/* --- a device that finishes other work -------------------------------------------------------- */

/* The next answers of a driver whose waits end at once. */
static struct {
  guint waits, ends_after; /* the wait that succeeds, counted from 1; 0: none does */
  guint progress_each;     /* so many waits finish one submission; 0: none is finished */
} driver;

static VkResult VKAPI_CALL
answer_wait (VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout_ns)
{
  return ++driver.waits == driver.ends_after ? VK_SUCCESS : VK_TIMEOUT;
}

static VkResult VKAPI_CALL
answer_counter (VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
  *value = driver.progress_each > 0 ? driver.waits / driver.progress_each : 0;
  return VK_SUCCESS;
}

/* A device hangs when it has finished nothing for the limit, and not when a wait is longer than
 * that. */
static void
test_progress_is_no_hang (void)
{
  DynoDevice *device = test_device (0);
  PFN_vkWaitSemaphores wait = device->vk.WaitSemaphores;
  PFN_vkGetSemaphoreCounterValue counter = device->vk.GetSemaphoreCounterValue;
  g_autoptr (GError) error = NULL;

  dyno_device_set_watchdog (device, 1000); /* four waits */
  device->vk.WaitSemaphores = answer_wait;
  device->vk.GetSemaphoreCounterValue = answer_counter;
  for (guint i = 0; i < 2; i++)
    {
      driver.waits = 0;
      driver.progress_each = 3;
      driver.ends_after = 50;
      g_assert_true (dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, 1000, 0, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (driver.waits, ==, 50);
    }
  driver.waits = 0;
  driver.progress_each = 5;
  g_assert_false (dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, 1000, 0, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT);
  g_assert_cmpuint (driver.waits, ==, 4);
  device->hangs = 0;
  device->vk.WaitSemaphores = wait;
  device->vk.GetSemaphoreCounterValue = counter;
  dyno_device_set_watchdog (device, 0);
  test_device_done (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gpu/command/submissions-in-flight-are-ordered", test_in_flight);
  g_test_add_func ("/gpu/command/transfer-then-compute", test_transfer);
  g_test_add_func ("/gpu/command/copy-fill-barrier", test_copy_fill);
  g_test_add_func ("/gpu/command/barriers-are-recorded", test_barriers);
  g_test_add_func ("/gpu/command/timer-is-monotonic", test_timer);
  g_test_add_func ("/gpu/command/deferred-free", test_deferred_free);
  g_test_add_func ("/gpu/command/memory-counts-until-the-work-is-done",
                   test_memory_counts_until_the_work_is_done);
  g_test_add_func ("/gpu/command/host-copies-wait-for-the-device",
                   test_host_copies_wait_for_the_device);
  g_test_add_func ("/gpu/command/past-the-end-is-refused", test_past_the_end_is_refused);
  g_test_add_func ("/gpu/command/progress-is-no-hang", test_progress_is_no_hang);
  g_test_add_func ("/gpu/command/device-goes-last", test_device_goes_last);
  g_test_add_func ("/gpu/command/wait-times-out", test_timeout);
  return g_test_run ();
}
