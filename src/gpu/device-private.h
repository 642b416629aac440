/* SPDX-License-Identifier: MIT */
/* What the files of the gpu layer share: the instance, the device's inside, and the list of things
 * to free later.  Private to the layer.
 *
 * Buffers, commands, timers and kernels hold a reference to the device and use its queues and its
 * account; the device in turn, when it is idle or freed, waits for the queues (command.c), frees
 * what was deferred (account.c) and the kernels (kernel.c).  So these files call each other in
 * circles; each calls only what the others declare here or in their headers.
 *
 * Locks, none held while another is taken: DynoQueueState.lock (submits), DynoDevice.account_lock
 * (memory account), .deferred_lock (deferred frees), and those of the kernel table. */
#pragma once
#include "command.h"
#include "vk.h"

G_BEGIN_DECLS

typedef struct _DynoKernelTable DynoKernelTable;

/* An instance, with the validation layer where it was asked for. */
typedef struct {
  const DynoVkGlobal *global;
  DynoVkInstance vk;
  VkInstance handle;
  VkDebugUtilsMessengerEXT messenger;
  guint messages; /* atomic */
} DynoInstance;

DynoInstance *dyno_instance_new (gboolean validation, GError **error);
void dyno_instance_free (DynoInstance *instance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoInstance, dyno_instance_free)

/* A physical device as it was probed: its info, and what opening it needs to know besides. */
typedef struct {
  DynoDeviceInfo info;
  VkPhysicalDevice handle;
  guint8 cache_uuid[VK_UUID_SIZE];
  guint32 compute_family;
  guint32 transfer_family;   /* = compute_family: no family for transfers alone */
  guint32 timestamp_bits;    /* of the compute family */
  gboolean subgroup_control; /* a size can be required in compute shaders */
  gboolean full_subgroups;   /* computeFullSubgroups */
  gboolean maintenance4;
  gboolean synchronization2;
  gboolean statistics;      /* VK_KHR_pipeline_executable_properties */
  gboolean external_memory; /* VK_KHR_external_memory_fd, and buffers are taken and given by it */
  VkPhysicalDeviceFeatures features;
  VkPhysicalDeviceVulkan11Features features11;
  VkPhysicalDeviceVulkan12Features features12;
  char *lacks; /* NULL, or what Dyno cannot do without and this device has not */
} DynoProbe;

/* Every physical device with a compute queue, in the order of preference; element type DynoProbe.
 * Errors: NO_DEVICE. */
GPtrArray *dyno_probe_all (DynoInstance *instance, GError **error);
/* Their order, for g_ptr_array_sort: what can be opened first, so that the first is what index -1
 * opens. */
int dyno_probe_compare (gconstpointer a, gconstpointer b);

typedef struct {
  VkQueue handle;
  guint32 family;
  VkSemaphore timeline;
  GMutex lock;       /* VkQueue and submitted */
  guint64 submitted; /* the last timeline value given out */
} DynoQueueState;

/* What waits for the submissions that may use it. */
typedef struct {
  guint64 timeline_values[DYNO_QUEUE_N];
  VkBuffer buffer;
  VkDeviceMemory memory;
  guint64 account_bytes;
  guint64 host_bytes; /* page-locked, which no budget limits */
  DynoMemoryKind kind;
  VkCommandPool pool;
  VkQueryPool queries;
} DynoDeferredFree;

struct _DynoDevice {
  gatomicrefcount references;
  DynoInstance *instance;
  DynoDeviceInfo info;
  DynoProbe *probe;
  char *key;
  VkDevice handle;
  DynoVkDevice vk;
  DynoQueueState queues[DYNO_QUEUE_N];
  guint n_queues;
  VkPhysicalDeviceMemoryProperties memory;
  gboolean statistics; /* kernels are compiled so that they can be asked for theirs */
  int lost;            /* atomic: the driver said so; nothing is submitted any more */
  gboolean over;       /* of a lost one, when it is freed: what was submitted has ended */
  /* atomic: a wait passed its limit; what was submitted may run still, so nothing is waited for and
   * nothing freed */
  int hangs;
  int watchdog_ms; /* atomic; 0: the default */

  GMutex account_lock;
  guint64 budget_bytes;
  guint64 allocated[DYNO_MEMORY_N_KINDS];
  guint64 allocated_total;
  guint64 allocated_peak;
  guint64 allocated_host;

  GMutex deferred_lock;
  GArray *deferred; /* DynoDeferredFree */

  VkPipelineLayout layout; /* of every kernel: push constants alone */
  DynoKernelTable *kernels;
};

/* dyno_device_query_usage of a device that need not be open. */
gboolean dyno_physical_device_query_usage (DynoInstance *instance, VkPhysicalDevice handle,
                                           DynoMemoryUsage *usage);

/* The state of a queue; TRANSFER is COMPUTE where there is only one. */
DynoQueueState *dyno_device_get_queue (DynoDevice *device, DynoQueue queue);

/* FALSE with DEVICE_LOST or TIMEOUT when nothing can be done with the device any more. */
gboolean dyno_device_check_alive (DynoDevice *device, GError **error);

/* The last timeline value given out by a queue. */
guint64 dyno_queue_get_submitted (DynoDevice *device, DynoQueue queue);

/* Sets the error and remembers a loss. */
void dyno_device_set_error (DynoDevice *device, GError **error, VkResult result, const char *call,
                            const char *object);

/* Takes over what `deferred` names, and destroys it when its timeline values have completed: now,
 * or at a later collect. */
void dyno_device_defer_free (DynoDevice *device, const DynoDeferredFree *deferred);
void dyno_device_collect (DynoDevice *device);

/* Waits for all deferred frees; for an allocation that found no room.  FALSE when there was
 * nothing. */
gboolean dyno_device_collect_all (DynoDevice *device);

/* The account: reserve fails with OVER_BUDGET; commit follows a reserve that led to memory (it sets
 * the peak). */
gboolean dyno_account_reserve (DynoDevice *device, DynoMemoryKind kind, guint64 size_bytes,
                               GError **error);
void dyno_account_commit (DynoDevice *device);
void dyno_account_add_host (DynoDevice *device, gint64 change_bytes);
void dyno_account_release (DynoDevice *device, DynoMemoryKind kind, guint64 size_bytes);

/* kernel.c: made and freed with the device. */
gboolean dyno_kernel_table_init (DynoDevice *device, GError **error);
void dyno_kernel_table_clear (DynoDevice *device);

VkPipeline dyno_kernel_get_pipeline (DynoKernel *kernel);
VkBuffer dyno_buffer_get_handle (DynoBuffer *buffer);
DynoDevice *dyno_buffer_get_device (DynoBuffer *buffer);

/* A DEVICE buffer in memory that another API has made for it, of size_bytes, a multiple of
 * DYNO_BUFFER_GRANULARITY; the descriptor is the driver's where it succeeds, else still the
 * caller's.  Errors: UNSUPPORTED, those of dyno_buffer_new. */
DynoBuffer *dyno_buffer_import (DynoDevice *device, guint64 size_bytes, DynoMemoryKind kind,
                                int descriptor, GError **error);
/* A descriptor of a SHARED buffer's memory for another API, which the caller closes; -1: an error.
 * Errors: UNSUPPORTED, OUT_OF_HOST_MEMORY. */
int dyno_buffer_export (DynoBuffer *buffer, GError **error);
VkQueryPool dyno_timer_get_pool (DynoTimer *timer);
guint dyno_timer_get_n_slots (DynoTimer *timer);

/* dyno_command_copy without its rule of four bytes. */
void dyno_command_copy_bytes (DynoCommand *command, DynoBuffer *source, guint64 source_offset,
                              DynoBuffer *target, guint64 target_offset, guint64 size_bytes);

G_END_DECLS
