/* SPDX-License-Identifier: MIT */
/* Kernels: values, macros, constants, errors, and damaged caches on disk. */
#include "cachefile.h"
#include "gpu-test.h"
#include "shader.h"
#include <glib/gstdio.h>

#define COUNT 1000

/* c = (a OP b) * 0.5 + k0 + k1 on the device, compared with the host. */
static void
check_scale (DynoDevice *device, const char *macros, char op, gint32 k0, float k1)
{
  g_autoptr (GError) error = NULL;
  DynoKernelSpec spec = test_scale_spec (macros, k0, k1);
  DynoKernel *kernel = test_kernel (device, &spec);
  g_autoptr (DynoBuffer) a = test_buffer (device, COUNT * 4, DYNO_BUFFER_UPLOAD);
  g_autoptr (DynoBuffer) b = test_buffer (device, COUNT * 4, DYNO_BUFFER_UPLOAD);
  g_autoptr (DynoBuffer) c = test_buffer (device, COUNT * 4, DYNO_BUFFER_DEVICE);
  g_autoptr (DynoCommand) command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  DynoProbePush push = { dyno_buffer_get_address (a), dyno_buffer_get_address (b),
                         dyno_buffer_get_address (c), COUNT - 1, 0.5f };
  float *x = dyno_buffer_get_mapped (a), *y = dyno_buffer_get_mapped (b);
  float out[COUNT];

  for (guint i = 0; i < COUNT; i++)
    {
      x[i] = (float) i;
      y[i] = (float) (i % 7) - 3.0f;
    }
  g_assert_true (dyno_buffer_fill (c, 0, COUNT * 4, 0x42f60000 /* 123.0 */, &error));
  dyno_command_dispatch (command, kernel, &push, (COUNT + 31) / 32, 1, 1);
  g_assert_true (dyno_command_end (command, &error));
  test_wait (device, DYNO_QUEUE_COMPUTE, test_submit (command, NULL, 0));
  g_assert_true (dyno_buffer_read (c, 0, out, sizeof out, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < COUNT - 1; i++)
    g_assert_cmpfloat (out[i], ==,
                       (op == '+' ? x[i] + y[i] : x[i] * y[i]) * 0.5f + (float) k0 + k1);
  g_assert_cmpfloat (out[COUNT - 1], ==, 123.0f);
}

static void
test_values (void)
{
  DynoDevice *device = test_device (0);

  check_scale (device, "OP=+", '+', 5, 0.25f);
  check_scale (device, "OP=*", '*', -3, 8.0f);
  check_scale (device, "OP=* UNUSED=1", '*', 0, 0.0f);
  test_device_done (device);
}

static void
test_same_spec (void)
{
  DynoDevice *device = test_device (0);
  DynoKernelSpec a = test_scale_spec ("OP=+", 1, 2.0f), b = a, c = a;
  DynoKernel *kernel = test_kernel (device, &a);

  b.local_size[1] = 1; /* 0 means 1 */
  b.constants[7] = 99; /* unused */
  c.constants[0] = 2;
  g_assert_true (test_kernel (device, &b) == kernel);
  g_assert_true (test_kernel (device, &c) != kernel);
  g_assert_true (dyno_kernel_spec_equal (&a, &b));
  g_assert_false (dyno_kernel_spec_equal (&a, &c));
  g_assert_cmpuint (dyno_kernel_spec_hash (&a), ==, dyno_kernel_spec_hash (&b));
  g_assert_cmpuint (dyno_kernel_get_spec (kernel)->constants[0], ==, 1);
  test_device_done (device);
}

static void
test_fp16_subgroup (void)
{
  DynoDevice *device = test_device (0);
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  g_autoptr (GError) error = NULL;
  DynoKernelSpec spec = { .shader = "test/subgroup.comp",
                          .local_size = { info->subgroup_max * 2 },
                          .subgroup_size = info->subgroup_max,
                          .push_bytes = sizeof (DynoProbePush) };
  guint count = info->subgroup_max * 4;
  g_autoptr (DynoBuffer) a = test_buffer (device, count * 2, DYNO_BUFFER_UPLOAD);
  g_autoptr (DynoBuffer) c = test_buffer (device, count * 8, DYNO_BUFFER_READBACK);
  g_autoptr (DynoCommand) command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  DynoProbePush push = { dyno_buffer_get_address (a), 0, dyno_buffer_get_address (c), count, 0.0f };
  guint16 *x = dyno_buffer_get_mapped (a);
  float *y = dyno_buffer_get_mapped (c);

  if (info->fp16)
    {
      for (guint i = 0; i < count; i++)
        x[i] = i / info->subgroup_max % 2 ? 0x4200 /* 3.0 */ : 0xb800 /* -0.5 */;
      dyno_command_dispatch (command, test_kernel (device, &spec), &push, 2, 1, 1);
      g_assert_true (dyno_command_end (command, &error));
      test_wait (device, DYNO_QUEUE_COMPUTE, test_submit (command, NULL, 0));
      for (guint i = 0; i < count; i++)
        {
          g_assert_cmpfloat (
              y[i], ==, (i / info->subgroup_max % 2 ? 3.0f : -0.5f) * (float) info->subgroup_max);
          g_assert_cmpfloat (y[count + i], ==, (float) info->subgroup_max);
        }
    }
  g_clear_pointer (&command, dyno_command_free);
  g_clear_pointer (&a, dyno_buffer_free);
  g_clear_pointer (&c, dyno_buffer_free);
  spec.subgroup_size = 1024 * 1024;
  g_assert_null (dyno_kernel_get (device, &spec, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER);
  g_clear_error (&error);
  spec.subgroup_size = info->subgroup_max;
  spec.local_size[0] = info->subgroup_max + 1;
  g_assert_null (dyno_kernel_get (device, &spec, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER);
  g_assert_nonnull (strstr (error->message, "no multiple of the subgroup size"));
  test_device_done (device);
}

static void
count_progress (guint done, guint count, gpointer data)
{
  guint *last = data;

  g_assert_cmpuint (done, <=, count);
  g_assert_true (done == 0 || done == *last + 1);
  *last = done;
}

static void
test_get_many (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  DynoKernelSpec specs[40];
  const DynoKernelSpec *pointers[40];
  DynoKernel *kernels[40] = { NULL };
  guint last = 99;

  for (guint i = 0; i < 40; i++)
    {
      specs[i] = test_scale_spec (i % 2 ? "OP=+" : "OP=*", (gint32) (i % 20), 0.0f);
      pointers[i] = &specs[i];
    }
  g_assert_true (dyno_kernel_get_many (device, pointers, 40, kernels, count_progress, &last,
                                       cancellable, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (last, ==, 40);
  for (guint i = 0; i < 40; i++)
    {
      g_assert_true (dyno_kernel_spec_equal (dyno_kernel_get_spec (kernels[i]), &specs[i]));
      g_assert_true (kernels[i] == kernels[(i + 20) % 40]);
    }

  specs[13] = test_scale_spec ("OP=+ BROKEN=1", 0, 0.0f);
  memset (kernels, 0, sizeof kernels);
  g_assert_false (dyno_kernel_get_many (device, pointers, 40, kernels, NULL, NULL, NULL, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER);
  g_assert_null (kernels[0]);
  g_clear_error (&error);

  g_cancellable_cancel (cancellable);
  g_assert_false (
      dyno_kernel_get_many (device, pointers, 40, kernels, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  test_device_done (device);
}

static void
test_syntax_error (void)
{
  DynoDevice *device = test_device (0);
  g_autoptr (GError) error = NULL;
  DynoKernelSpec spec = test_scale_spec ("OP=+ BROKEN=1", 0, 0.0f);

  g_assert_null (dyno_kernel_get (device, &spec, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER);
  g_assert_nonnull (strstr (error->message, "test/scale.comp:9:"));
  g_clear_error (&error);
  spec.shader = "test/missing.comp";
  g_assert_null (dyno_kernel_get (device, &spec, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER);
  g_assert_nonnull (strstr (error->message, "test/missing.comp"));
  test_device_done (device);
}

/* Truncates every file of a cache folder, changes one byte in its middle, or replaces it with text.
 * Returns their number. */
static guint
damage_files (const char *child, guint how)
{
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "dyno", child, NULL);
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;
  guint count = 0;

  while (folder && (name = g_dir_read_name (folder)))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      g_autofree char *data = NULL;
      gsize size;
      g_assert_true (g_file_get_contents (file, &data, &size, NULL));
      if (how == 0)
        size /= 2;
      else if (how == 1)
        data[size - 9] ^= 0x10;
      else
        size = g_strlcpy (data, "no cache", size);
      g_assert_true (g_file_set_contents (file, data, (gssize) size, NULL));
      count++;
    }
  return count;
}

/* The sum of all bytes of a folder's files, independent of their order. */
static guint64
sum_files (const char *child)
{
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "dyno", child, NULL);
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;
  guint64 sum = 0;

  while (folder && (name = g_dir_read_name (folder)))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      g_autofree char *data = NULL;
      gsize size;
      g_assert_true (g_file_get_contents (file, &data, &size, NULL));
      for (gsize i = 0; i < size; i++)
        sum += (guint8) data[i] * (guint64) (i % 1009 + 1);
    }
  return sum;
}

static void
test_damaged_caches (void)
{
  guint64 whole = 0;

  for (guint how = 0; how < 4; how++)
    {
      DynoDevice *device = test_device (0);
      check_scale (device, "OP=+", '+', 1, 0.5f);
      test_device_done (device);
      if (how == 0)
        whole = sum_files ("shaders");
      g_assert_cmpuint (sum_files ("shaders"), ==, whole);
      g_assert_cmpuint (damage_files ("shaders", how), ==, 1);
      g_assert_cmpuint (damage_files ("pipelines", how), ==, 1);
      g_assert_cmpuint (sum_files ("shaders"), !=, whole);
    }
}

static guint
count_files (const char *child)
{
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "dyno", child, NULL);
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  guint count = 0;

  while (folder && g_dir_read_name (folder))
    count++;
  return count;
}

static void
test_optimiser_by_driver (void)
{
  static const struct {
    DynoDeviceInfo info;
    DynoOptimise optimise;
  } cases[] = {
    { { .driver = "llvmpipe Mesa 22.3.6", .type = DYNO_DEVICE_TYPE_SOFTWARE },
      DYNO_OPTIMISE_NOTHING },
    { { .driver = "NVIDIA 580.159.04", .type = DYNO_DEVICE_TYPE_DISCRETE },
      DYNO_OPTIMISE_RECURRENT },
    { { .driver = "NVK Mesa 25.0.7", .vendor_id = 0x10de, .type = DYNO_DEVICE_TYPE_DISCRETE },
      DYNO_OPTIMISE_ALL },
    { { .driver = "radv Mesa 25.0.7", .type = DYNO_DEVICE_TYPE_INTEGRATED }, DYNO_OPTIMISE_ALL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (dyno_shader_get_optimise (&cases[i].info), ==, cases[i].optimise);
}

/* Optimised and unoptimised SPIR-V compute the same, and the cache keeps them apart. */
static void
test_optimiser (void)
{
  static const char *const macros = "OP=* OPTIMISER=1";
  g_autofree char *before = g_strdup (g_getenv ("DYNO_SHADER_OPTIMISER"));
  guint after_default;

  g_unsetenv ("DYNO_SHADER_OPTIMISER");
  DynoDevice *device = test_device (0);
  gboolean optimises =
      dyno_shader_get_optimise (dyno_device_get_info (device)) == DYNO_OPTIMISE_ALL;
  check_scale (device, macros, '*', 2, 0.5f);
  test_device_done (device);
  after_default = count_files ("shaders");

  for (guint other = 0; other < 2; other++)
    {
      g_setenv ("DYNO_SHADER_OPTIMISER", (other == 0) == optimises ? "1" : "0", TRUE);
      device = test_device (0);
      check_scale (device, macros, '*', 2, 0.5f);
      test_device_done (device);
      g_assert_cmpuint (count_files ("shaders"), ==, after_default + other);
    }
  if (before)
    g_setenv ("DYNO_SHADER_OPTIMISER", before, TRUE);
  else
    g_unsetenv ("DYNO_SHADER_OPTIMISER");
}

static void
test_compiler (void)
{
  DynoDevice *device = test_device (0);
  const DynoDeviceInfo *info = dyno_device_get_info (device);

  g_assert_true (g_str_has_prefix (dyno_shader_compiler_version (), "shaderc "));
  g_test_message ("%s", dyno_shader_compiler_version ());
  g_assert_cmpint (info->matrix, <=, dyno_shader_compiler_matrix ());
  if (info->matrix == DYNO_MATRIX_KHR)
    g_assert_true (info->matrix_khr_device);
  if (info->matrix == DYNO_MATRIX_NV)
    g_assert_true (info->matrix_nv_device);
  test_device_done (device);
}

/* One tile by the matrix units, exact in fp16, if the device and the compiler support them. */
static void
test_matrix (void)
{
  DynoDevice *device = test_device (0);
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  g_autoptr (GError) error = NULL;
  DynoKernelSpec spec = { .shader = "probe/matrix.comp",
                          .local_size = { info->subgroup_size },
                          .subgroup_size = info->subgroup_size,
                          .push_bytes = sizeof (DynoProbePush) };

  if (info->matrix == DYNO_MATRIX_NONE)
    {
      test_device_done (device);
      g_test_message ("no matrix units here");
      return;
    }
  for (int matrix = DYNO_MATRIX_NV; matrix <= (int) info->matrix; matrix++)
    {
      static const guint16 small[] = { 0x0000, 0x3c00, 0x4000, 0x4200 }; /* 0, 1, 2, 3 */
      g_autoptr (DynoBuffer) a = NULL;
      g_autoptr (DynoBuffer) b = NULL;
      g_autoptr (DynoBuffer) c = NULL;
      g_autoptr (DynoCommand) command = NULL;
      DynoProbePush push = { .scale = 2.0f };
      guint16 *x, *y;
      float *z;

      if (matrix == DYNO_MATRIX_NV ? !info->matrix_nv_device : !info->matrix_khr_device)
        continue;
      a = test_buffer (device, 512, DYNO_BUFFER_UPLOAD);
      b = test_buffer (device, 512, DYNO_BUFFER_UPLOAD);
      c = test_buffer (device, 1024, DYNO_BUFFER_READBACK);
      x = dyno_buffer_get_mapped (a);
      y = dyno_buffer_get_mapped (b);
      z = dyno_buffer_get_mapped (c);
      for (guint i = 0; i < 256; i++)
        {
          x[i] = small[(i * 5 + i / 16) % 4];
          y[i] = small[(i * 3 + i / 7) % 4];
          z[i] = (float) i;
        }
      push.a = dyno_buffer_get_address (a);
      push.b = dyno_buffer_get_address (b);
      push.c = dyno_buffer_get_address (c);
      g_strlcpy (spec.macros, matrix == DYNO_MATRIX_NV ? "MATRIX_NV=1" : "MATRIX_KHR=1",
                 sizeof spec.macros);
      command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
      dyno_command_dispatch (command, test_kernel (device, &spec), &push, 1, 1, 1);
      g_assert_true (dyno_command_end (command, &error));
      test_wait (device, DYNO_QUEUE_COMPUTE, test_submit (command, NULL, 0));
      for (guint r = 0; r < 16; r++)
        for (guint k = 0; k < 16; k++)
          {
            guint sum = r * 16 + k;
            for (guint i = 0; i < 16; i++)
              {
                guint ia = r * 16 + i, ib = i * 16 + k;
                sum += (ia * 5 + ia / 16) % 4 * ((ib * 3 + ib / 7) % 4);
              }
            g_assert_cmpfloat (z[r * 16 + k], ==, 2.0f * (float) sum);
          }
    }
  test_device_done (device);
}

/* Removes a folder with its contents, or a file, for which g_dir_open fails. */
static void
remove_tree (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      remove_tree (child);
    }
  g_remove (path);
}

/* A file at another key's path, or of another kind, is dropped; the requested one is read. */
static void
test_cache_of_another_key (void)
{
  static const char magic[8] = "DYNOTST", other_magic[8] = "DYNOTSU";
  const DynoCacheKey key = { { 1, 2 } }, first = { { 3, 2 } }, second = { { 1, 3 } };
  g_autofree char *path = dyno_cache_file_path ("test", key, ".bin");
  const struct {
    const char *magic;
    DynoCacheKey key;
    gboolean read;
  } cases[] = { { magic, first, FALSE },
                { magic, second, FALSE },
                { other_magic, key, FALSE },
                { magic, key, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = NULL;

      dyno_cache_file_write (path, magic, key, "content", 7);
      bytes = dyno_cache_file_read (path, cases[i].magic, cases[i].key);
      g_assert_cmpint (bytes != NULL, ==, cases[i].read);
      g_assert_cmpint (g_file_test (path, G_FILE_TEST_EXISTS), ==, cases[i].read);
      if (bytes != NULL)
        g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "content", 7);
    }
}

/* A kernel's statistics under the names of RADV, ANV and NVK, and of an unknown driver. */
static void
test_statistics_names (void)
{
  static const struct {
    const char *registers, *spills, *shared;
  } drivers[] = { { "VGPRs", "Spilled VGPRs", "LDS size" },
                  { "GRF registers", "Spill count", "Workgroup Memory Size" },
                  { "Number of GPRs", "Spills to memory", "Shared memory size" } };
  DynoKernelStatistics none = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (drivers); i++)
    {
      DynoKernelStatistics s = { 0 };
      dyno_kernel_statistics_add (&s, "Spilled SGPRs", 99);
      dyno_kernel_statistics_add (&s, drivers[i].registers, 256);
      dyno_kernel_statistics_add (&s, drivers[i].spills, 7);
      dyno_kernel_statistics_add (&s, drivers[i].shared, G_GUINT64_CONSTANT (1) << 40);
      g_assert_true (s.known);
      g_assert_cmpuint (s.registers, ==, 256);
      g_assert_cmpuint (s.spills, ==, 7);
      g_assert_cmpuint (s.shared_bytes, ==, G_MAXUINT32);
      g_assert_cmpuint (s.scratch_bytes, ==, 0);
    }
  dyno_kernel_statistics_add (&none, "Cycles of something", 1);
  g_assert_false (none.known);
}

/* A device opened for statistics makes the same kernels; one opened without returns none. */
static void
test_statistics_are_asked_for (void)
{
  DynoKernelSpec spec = test_scale_spec ("OP=+", 1, 2.0f);
  for (guint asked = 0; asked < 2; asked++)
    {
      DynoDeviceParams params = { .index = -1, .statistics = asked };
      g_autoptr (GError) error = NULL;
      DynoDevice *device = dyno_device_open (&params, &error);
      DynoKernelStatistics s = { .spills = 3 };
      g_assert_no_error (error);
      gboolean known = dyno_kernel_get_statistics (device, test_kernel (device, &spec), &s);
      g_assert_cmpint (known, ==, s.known);
      g_assert_cmpuint (s.spills, ==, 0);
      if (!asked)
        g_assert_false (known);
      check_scale (device, "OP=+", '+', 5, 0.25f);
      test_device_done (device);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *cache = g_dir_make_tmp ("dyno-test-XXXXXX", NULL);
  int status;

  /* The test has a cache of its own; drivers are found through the user's other folders. */
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gpu/kernel/damaged-caches-are-rebuilt", test_damaged_caches);
  g_test_add_func ("/gpu/kernel/cache-of-another-key-is-dropped", test_cache_of_another_key);
  g_test_add_func ("/gpu/kernel/values-macros-constants", test_values);
  g_test_add_func ("/gpu/kernel/same-spec-same-kernel", test_same_spec);
  g_test_add_func ("/gpu/kernel/fp16-and-subgroup-size", test_fp16_subgroup);
  g_test_add_func ("/gpu/kernel/get-many", test_get_many);
  g_test_add_func ("/gpu/kernel/syntax-error-names-line", test_syntax_error);
  g_test_add_func ("/gpu/kernel/compiler-abilities", test_compiler);
  g_test_add_func ("/gpu/kernel/optimiser-by-driver", test_optimiser_by_driver);
  g_test_add_func ("/gpu/kernel/optimiser-or-not", test_optimiser);
  g_test_add_func ("/gpu/kernel/matrix-tile", test_matrix);
  g_test_add_func ("/gpu/kernel/statistics-by-the-names-of-drivers", test_statistics_names);
  g_test_add_func ("/gpu/kernel/statistics-are-asked-for", test_statistics_are_asked_for);
  status = g_test_run ();
  remove_tree (cache);
  return status;
}
