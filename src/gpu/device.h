/* SPDX-License-Identifier: MIT */
/* A Vulkan device: what it can do, its queues, and the account of its memory.
 *
 * Threads: dyno_device_list and _open from any thread; a DynoDevice may be used by several threads,
 * each function says when not.  Ownership: buffers, kernels, commands and timers hold a reference
 * to their device, so that it is destroyed last.
 * libvulkan.so.1 is opened at run time: a program that links this layer starts without it. */
#pragma once
#include "gpu-error.h"

G_BEGIN_DECLS

typedef struct _DynoDevice DynoDevice;

typedef enum {
  DYNO_DEVICE_TYPE_DISCRETE,
  DYNO_DEVICE_TYPE_INTEGRATED,
  DYNO_DEVICE_TYPE_VIRTUAL,
  DYNO_DEVICE_TYPE_OTHER,
  DYNO_DEVICE_TYPE_SOFTWARE, /* a CPU: trains, slowly */
} DynoDeviceType;

/* Matrix units, and by which extension this build reaches them. */
typedef enum {
  DYNO_MATRIX_NONE,
  DYNO_MATRIX_NV,  /* GL_NV_cooperative_matrix, fp16 x fp16 + fp32, 16x16x16, subgroup scope */
  DYNO_MATRIX_KHR, /* GL_KHR_cooperative_matrix, the same shape; faster where both are there */
} DynoMatrix;

/* What a device is and can do.  Plain data: the planner and the lowering of ops work from this
 * alone, so they run, and are tested, without a device. */
typedef struct {
  guint index; /* what --device takes: position in the order of preference, best first */
  char name[256];
  char driver[256]; /* driver name and version as the driver words them */
  guint32 vendor_id, device_id, api_version, driver_version;
  guint8 uuid[16];
  /* "0000:01:00.0", as /sys names it; empty: no PCI device, or the driver does not say */
  char pci[24];
  DynoDeviceType type;
  guint64 vram_bytes; /* device-local memory */
  gboolean fp16;      /* 16-bit storage and float16 arithmetic: AMP possible */
  /* best usable path: the device has it and this build's shader compiler knows it */
  DynoMatrix matrix;
  gboolean matrix_khr_device, matrix_nv_device; /* the device has it, whatever the compiler knows */
  char matrix_shapes
      [96]; /* of fp16 x fp16 + fp32 by the KHR extension: "16x16x16, 16x8x16"; empty: none */
  guint32 subgroup_size, subgroup_min, subgroup_max; /* min = max where the size cannot be chosen */
  guint32 shared_bytes;                              /* workgroup memory, 16 KiB at least */
  guint32 max_invocations;                           /* of a workgroup, 128 at least */
  guint32 max_groups_x;     /* workgroups of a dispatch in x (y and z: 65535) */
  guint32 processors;       /* SMs, compute units or shader cores; 0: the driver does not say */
  guint64 max_buffer_bytes; /* of one buffer: maxBufferSize, maxMemoryAllocationSize; 0: no limit */
  gboolean memory_budget;   /* VK_EXT_memory_budget */
  gboolean transfer_queue;  /* a queue family for transfers alone */
  /* Other processes' devices may write into its memory, where a link is between them (peer.h):
   * NVIDIA's; by DYNO_PEER_COPIES=0 or 1 none or any. */
  gboolean peer_memory;
  double timestamp_ns; /* nanoseconds a tick; 0: no timestamps */
} DynoDeviceInfo;

/* The device's processors, or, where its driver does not say, what devices of its type have: what
 * decides how many workgroups keep it busy. */
guint32 dyno_device_info_processors (const DynoDeviceInfo *info);

/* Which matrix units are used, or why none; g_free. */
char *dyno_device_info_matrix_words (const DynoDeviceInfo *info);

/* A number of workgroups or invocations that was measured to keep a card of 132 processors busy,
 * for this device; 1 at least. */
guint32 dyno_device_info_scale (const DynoDeviceInfo *info, guint32 count);

/* What a device memory block is for; the components of the VRAM bar. */
typedef enum {
  DYNO_MEMORY_WEIGHTS,     /* fp32 master weights, fp16 copy, running statistics */
  DYNO_MEMORY_GRADIENTS,   /* of weights */
  DYNO_MEMORY_OPTIMIZER,   /* momentum, second moment, loss-scaler state */
  DYNO_MEMORY_ACTIVATIONS, /* activations and their gradients, aliased by liveness */
  DYNO_MEMORY_WORKSPACE,   /* split-K partials, reduction scratch */
  DYNO_MEMORY_STAGING,     /* input batches on the device */
  /* the copy of weights and optimizer state that a checkpoint is written from */
  DYNO_MEMORY_SNAPSHOT,
  DYNO_MEMORY_OTHER,
  DYNO_MEMORY_N_KINDS
} DynoMemoryKind;

const char *dyno_memory_kind_name (
    DynoMemoryKind kind); /* "weights", "gradients", ...: for files and --json */

typedef struct {
  int index; /* -1: the best device */
  /* 0: none; else no allocation of device memory may take the total past this */
  guint64 budget_bytes;
  /* Khronos validation layer, its messages as g_warning and counted; also DYNO_VALIDATION=1 */
  gboolean validation;
  gboolean no_matrix;       /* pretend: no matrix units */
  gboolean no_matrix_khr;   /* pretend: only the NV extension */
  gboolean no_fp16;         /* pretend: no fp16 */
  guint32 shared_bytes;     /* pretend: at most this much workgroup memory; 0: as it is */
  guint64 max_buffer_bytes; /* pretend: no buffer larger than this; 0: as it is */
  /* kernels keep what dyno_kernel_get_statistics tells; compiling may take longer */
  gboolean statistics;
} DynoDeviceParams;

/* All devices with a compute queue, best first: discrete, integrated, virtual, software; within a
 * type by memory; last those that dyno_device_open refuses, so that the first is the one that index
 * -1 opens.  Element type DynoDeviceInfo (g_free'd by the array).  An empty list is an error.
 * Errors: NO_LOADER, NO_DEVICE. */
GPtrArray *dyno_device_list (GError **error);

/* params NULL: all zero but index -1.  Errors: NO_LOADER, NO_DEVICE, UNSUPPORTED, FAILED. */
DynoDevice *dyno_device_open (const DynoDeviceParams *params, GError **error);
DynoDevice *dyno_device_ref (DynoDevice *device);
void dyno_device_unref (DynoDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDevice, dyno_device_unref)

const DynoDeviceInfo *dyno_device_get_info (DynoDevice *device);

/* One stable text for device, driver and their versions: the key of caches on disk. */
const char *dyno_device_get_key (DynoDevice *device);

/* Device memory that Dyno holds, by kind, in bytes; exact, own account.  Any thread. */
guint64 dyno_device_get_allocated (DynoDevice *device, DynoMemoryKind kind);
guint64 dyno_device_get_allocated_total (DynoDevice *device);
guint64 dyno_device_get_allocated_peak (DynoDevice *device);

/* Page-locked host memory that Dyno holds for this device, in bytes; no part of the above.  Any
 * thread. */
guint64 dyno_device_get_allocated_host (DynoDevice *device);

/* Device memory used by all programs, and what may still be allocated; FALSE where the driver does
 * not say. */
gboolean dyno_device_query_memory (DynoDevice *device, guint64 *used_bytes,
                                   guint64 *available_bytes);

/* The same, and more of it. */
typedef struct {
  guint64 own_bytes;  /* of this process, by the driver's count: more than Dyno has asked for */
  guint64 used_bytes; /* by all programs, and by the driver for itself */
  guint64 available_bytes; /* to this process */
} DynoMemoryUsage;
gboolean dyno_device_query_usage (DynoDevice *device, DynoMemoryUsage *usage);

/* A new budget; FALSE with OVER_BUDGET when more is allocated already (the old one stays). */
gboolean dyno_device_set_budget (DynoDevice *device, guint64 budget_bytes, GError **error);

/* Waits until nothing runs on the device.  Errors: DEVICE_LOST, TIMEOUT. */
gboolean dyno_device_wait_idle (DynoDevice *device, GError **error);

/* Messages of the validation layer since opening; 0 without it.  Tests end with this at 0. */
guint dyno_device_get_validation_messages (DynoDevice *device);

G_END_DECLS
