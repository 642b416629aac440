/* SPDX-License-Identifier: MIT */
/* A Vulkan device: its capabilities, its queues, and the account of its memory.
 *
 * Threads: dyno_device_list and _open from any thread; a DynoDevice may be used by several threads,
 * except where a function says otherwise.  Ownership: buffers, kernels, commands and timers hold a
 * reference to their device, so that it is destroyed last.
 * libvulkan.so.1 is opened at run time: a program that links this layer starts even without the
 * library. */
#pragma once
#include "gpu-error.h"

G_BEGIN_DECLS

typedef struct _DynoDevice DynoDevice;

typedef enum {
  DYNO_DEVICE_TYPE_DISCRETE,
  DYNO_DEVICE_TYPE_INTEGRATED,
  DYNO_DEVICE_TYPE_VIRTUAL,
  DYNO_DEVICE_TYPE_OTHER,
  DYNO_DEVICE_TYPE_SOFTWARE, /* a CPU: trains slowly */
} DynoDeviceType;

/* Matrix units, by the extension through which this build uses them. */
typedef enum {
  DYNO_MATRIX_NONE,
  DYNO_MATRIX_NV,  /* GL_NV_cooperative_matrix, fp16 x fp16 + fp32, 16x16x16, subgroup scope */
  DYNO_MATRIX_KHR, /* GL_KHR_cooperative_matrix, the same shape; faster where a device has both */
} DynoMatrix;

/* The identity and the capabilities of a device.  This is plain data: the planner and the lowering
 * of ops need nothing else, so they run, and are tested, without a device. */
typedef struct {
  guint index; /* argument of --device: position in the order of preference, best first */
  char name[256];
  char driver[256]; /* driver name and version, as the driver reports them */
  guint32 vendor_id, device_id, api_version, driver_version;
  guint8 uuid[16];
  /* "0000:01:00.0", as in /sys; empty: no PCI device, or the driver does not report it */
  char pci[24];
  DynoDeviceType type;
  guint64 vram_bytes; /* of the largest device-local heap */
  gboolean fp16;      /* 16-bit storage and float16 arithmetic: AMP possible */
  /* best usable path: the device has it and this build's shader compiler supports it */
  DynoMatrix matrix;
  /* the device has it, even where the compiler does not support it */
  gboolean matrix_khr_device, matrix_nv_device;
  char matrix_shapes
      [96]; /* of fp16 x fp16 + fp32 by the KHR extension: "16x16x16, 16x8x16"; empty: none */
  guint32 subgroup_size, subgroup_min, subgroup_max; /* min = max where the size cannot be chosen */
  guint32 shared_bytes;                              /* workgroup memory, 16 KiB at least */
  guint32 max_invocations;                           /* of a workgroup, 128 at least */
  guint32 max_groups_x; /* workgroups of a dispatch in x (y and z: 65535) */
  /* SMs, compute units or shader cores; 0: the driver does not report them */
  guint32 processors;
  guint64 max_buffer_bytes; /* of one buffer: maxBufferSize, maxMemoryAllocationSize; 0: no limit */
  gboolean memory_budget;   /* VK_EXT_memory_budget */
  gboolean transfer_queue;  /* it has a queue family only for transfers */
  /* Devices of other processes may write into its memory, where a link connects them (peer.h): TRUE
   * for NVIDIA's with VK_KHR_external_memory_fd; DYNO_PEER_COPIES=0 makes it FALSE, and 1 TRUE for
   * other makers' with that extension. */
  gboolean peer_memory;
  double timestamp_ns; /* nanoseconds per tick; 0: no timestamps */
} DynoDeviceInfo;

/* The number of the device's processors, or, where its driver does not report it, an estimate for
 * devices of its type.  It determines the number of workgroups that keep the device busy. */
guint32 dyno_device_info_processors (const DynoDeviceInfo *info);

/* A text that names the matrix units in use, or the reason why none are used; g_free. */
char *dyno_device_info_matrix_words (const DynoDeviceInfo *info);

/* Scales count, a number of workgroups or invocations that was measured to keep a card of 132
 * processors busy, to this device; at least 1. */
guint32 dyno_device_info_scale (const DynoDeviceInfo *info, guint32 count);

/* The purpose of a device memory block; the components of the VRAM bar. */
typedef enum {
  DYNO_MEMORY_WEIGHTS,     /* fp32 master weights, fp16 copy, running statistics */
  DYNO_MEMORY_GRADIENTS,   /* of weights */
  DYNO_MEMORY_OPTIMIZER,   /* momentum, second moment, loss-scaler state */
  DYNO_MEMORY_ACTIVATIONS, /* activations and their gradients, aliased by liveness */
  DYNO_MEMORY_WORKSPACE,   /* split-K partials, reduction scratch */
  DYNO_MEMORY_STAGING,     /* input batches on the device */
  /* the copy of weights and optimizer state from which a checkpoint is written */
  DYNO_MEMORY_SNAPSHOT,
  DYNO_MEMORY_OTHER,
  DYNO_MEMORY_N_KINDS
} DynoMemoryKind;

const char *dyno_memory_kind_name (
    DynoMemoryKind kind); /* "weights", "gradients", ..., used in files and --json */

typedef struct {
  int index; /* -1: the best device */
  /* 0: no budget; else no allocation of device memory may raise the total above it */
  guint64 budget_bytes;
  /* enables the Khronos validation layer, whose messages become g_warning and are counted;
   * DYNO_VALIDATION=1 does the same */
  gboolean validation;
  gboolean no_matrix;       /* pretend: no matrix units */
  gboolean no_matrix_khr;   /* pretend: only the NV extension */
  gboolean no_fp16;         /* pretend: no fp16 */
  guint32 shared_bytes;     /* pretend: at most this much workgroup memory; 0: the device's own */
  guint64 max_buffer_bytes; /* pretend: no buffer larger than this; 0: the device's own limit */
  /* kernels keep the data for dyno_kernel_get_statistics; compiling may take longer */
  gboolean statistics;
} DynoDeviceParams;

/* All devices with a compute queue, best first: discrete, integrated, virtual, other, software;
 * within a type by memory; devices that dyno_device_open refuses come last, so that index -1 opens
 * the first one.  Element type DynoDeviceInfo (g_free'd by the array).  An empty list is an error.
 * Errors: NO_LOADER, NO_DEVICE, OUT_OF_HOST_MEMORY. */
GPtrArray *dyno_device_list (GError **error);

/* params NULL: all zero except index -1.  Errors: NO_LOADER, NO_DEVICE, UNSUPPORTED,
 * OUT_OF_HOST_MEMORY, FAILED. */
DynoDevice *dyno_device_open (const DynoDeviceParams *params, GError **error);
DynoDevice *dyno_device_ref (DynoDevice *device);
void dyno_device_unref (DynoDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDevice, dyno_device_unref)

const DynoDeviceInfo *dyno_device_get_info (DynoDevice *device);

/* A stable text of device, driver and their versions: the key of caches on disk. */
const char *dyno_device_get_key (DynoDevice *device);

/* Device memory that Dyno holds, by kind, in bytes; exact, from Dyno's own account.  Any thread. */
guint64 dyno_device_get_allocated (DynoDevice *device, DynoMemoryKind kind);
guint64 dyno_device_get_allocated_total (DynoDevice *device);
guint64 dyno_device_get_allocated_peak (DynoDevice *device);

/* Page-locked host memory that Dyno holds for this device, in bytes; not included in the figures
 * above.  Any thread. */
guint64 dyno_device_get_allocated_host (DynoDevice *device);

/* Device memory that all programs use, and memory that may still be allocated; FALSE where the
 * driver does not report it, or its figures cannot be right. */
gboolean dyno_device_query_memory (DynoDevice *device, guint64 *used_bytes,
                                   guint64 *available_bytes);

/* The same, in more detail. */
typedef struct {
  guint64 own_bytes;  /* of this process, by the driver's count: more than Dyno has allocated */
  guint64 used_bytes; /* by all programs, and by the driver for itself */
  guint64 available_bytes; /* to this process */
} DynoMemoryUsage;
gboolean dyno_device_query_usage (DynoDevice *device, DynoMemoryUsage *usage);

/* Sets a new budget; FALSE with OVER_BUDGET when more is allocated already (the old budget
 * stays). */
gboolean dyno_device_set_budget (DynoDevice *device, guint64 budget_bytes, GError **error);

/* Waits until all submissions have completed.  Errors: DEVICE_LOST, TIMEOUT. */
gboolean dyno_device_wait_idle (DynoDevice *device, GError **error);

/* The number of messages of the validation layer since opening; 0 without the layer.  Tests check
 * at their end that it is 0. */
guint dyno_device_get_validation_messages (DynoDevice *device);

G_END_DECLS
