/* SPDX-License-Identifier: MIT */
/* Kernels: a compute shader of shaders/, compiled with macros and specialised with constants.
 *
 * A kernel is named by a DynoKernelSpec, plain data that needs no device.  Equal specs give the
 * same kernel.  GLSL comes from the GResource of the program (/io/github/gpudyno/Dyno/shaders/), is
 * compiled by shaderc, kept on disk (key: source, includes, macros, compiler version, target; with
 * size and hash in a header, replaced atomically; a corrupt or foreign file is dropped and
 * rebuilt), and made into a pipeline through a VkPipelineCache that is kept on disk too.
 * A kernel has no descriptor sets: all arguments are push constants (at most 128 bytes, buffer
 * addresses first).  Kernels belong to the device and live as long as it.  Any thread. */
#pragma once
#include "device.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_KERNEL_MAX_CONSTANTS 48
#define DYNO_PUSH_MAX_BYTES       128

typedef struct {
  const char *shader;  /* static string, path below shaders/: "conv2d/forward.comp" */
  char macros[256];    /* "NAME=VALUE NAME2=VALUE2": preprocessor macros, blank-separated */
  gboolean macros_cut; /* the macros did not fit: there is no kernel */
  guint32 n_constants;
  /* constant_id 0, 1, ...: 32-bit words (float by bit pattern) */
  guint32 constants[DYNO_KERNEL_MAX_CONSTANTS];
  /* workgroup size; given to the shader as macros LOCAL_X, LOCAL_Y, LOCAL_Z; 0 reads as 1 */
  guint32 local_size[3];
  /* required subgroup size with full subgroups; 0: the device's default */
  guint32 subgroup_size;
  guint32 push_bytes; /* size of the push constants, a multiple of 4 */
} DynoKernelSpec;

typedef struct _DynoKernel DynoKernel;

guint dyno_kernel_spec_hash (gconstpointer spec);
gboolean dyno_kernel_spec_equal (gconstpointer a, gconstpointer b);

/* The kernel of a spec, compiled now if it was never compiled.  The macros MATRIX_KHR and MATRIX_NV
 * are not defined automatically: a spec that uses matrix units names one.  Errors: SHADER (message:
 * file, line, the compiler's text), OUT_OF_HOST_MEMORY, DEVICE_LOST. */
DynoKernel *dyno_kernel_get (DynoDevice *device, const DynoKernelSpec *spec, GError **error);

/* Compiles count specs, several at a time, and fills kernels (may be NULL: only compile).  progress
 * (may be NULL) is called on the calling thread with done in [0, count]; cancellable may be NULL.
 * On error no kernel is given. */
typedef void (*DynoKernelProgress) (guint done, guint count, gpointer data);
gboolean dyno_kernel_get_many (DynoDevice *device, const DynoKernelSpec *const *specs, guint count,
                               DynoKernel **kernels, DynoKernelProgress progress, gpointer data,
                               GCancellable *cancellable, GError **error);

/* The same, but a kernel that cannot be made (SHADER) is no error of the call: problems[i], NULL on
 * entry, holds the reason why spec i has no kernel. */
gboolean dyno_kernel_try_many (DynoDevice *device, const DynoKernelSpec *const *specs, guint count,
                               GError **problems, DynoKernelProgress progress, gpointer data,
                               GCancellable *cancellable, GError **error);

const DynoKernelSpec *dyno_kernel_get_spec (DynoKernel *kernel);

/* The driver's statistics of a compiled kernel; 0: the value is zero, or the driver does not report
 * it. */
typedef struct {
  gboolean known;        /* the driver reports some value */
  guint32 registers;     /* of an invocation */
  guint32 spills;        /* values kept in memory for want of registers */
  guint32 scratch_bytes; /* memory of an invocation for spills and arrays */
  guint32 shared_bytes;  /* of a workgroup */
  guint32 subgroups;     /* number that a processor (on AMD's, one of its SIMDs) holds at once */
  guint32 subgroup_size;
} DynoKernelStatistics;

/* FALSE: the driver has no statistics, or the device was not opened for them
 * (DynoDeviceParams.statistics). */
gboolean dyno_kernel_get_statistics (DynoDevice *device, DynoKernel *kernel,
                                     DynoKernelStatistics *statistics);

/* Adds one number under the driver's name for it ("Spilled VGPRs"); unknown names are ignored. */
void dyno_kernel_statistics_add (DynoKernelStatistics *statistics, const char *name, guint64 value);

/* Writes the pipeline cache to disk now (also done when the device is destroyed). */
void dyno_kernel_cache_save (DynoDevice *device);

/* The shader compiler of this build, "shaderc 2023.2 (spirv-opt ...)", and the best matrix
 * extension that it supports. */
const char *dyno_shader_compiler_version (void);
DynoMatrix dyno_shader_compiler_matrix (void);

/* A hash of all shaders of this build: timings with other shaders are not valid for these. */
guint64 dyno_shader_sources_hash (void);

G_END_DECLS
