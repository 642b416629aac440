/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files of the gpu layer: the instance, the inside of the device, and
 * the list of deferred frees.  Private to the layer.
 *
 * Buffers, commands, timers and kernels hold a reference to the device and use its queues and its
 * account; the device in turn, when it is idle or freed, waits for the queues (command.c), makes
 * the deferred frees (account.c) and frees the kernels (kernel.c).  So these files call each other
 * in circles; each calls only what the others declare here or in their headers.
 *
 * Locks, none held while another is taken: DynoQueueState.lock (submits), DynoDevice.account_lock
 * (memory account), .deferred_lock (deferred frees), and the locks of the kernel table and of the
 * shader compiler. */
#pragma once
#include "command.h"
#include "vk.h"

G_BEGIN_DECLS

typedef struct _DynoKernelTable DynoKernelTable;

/* An instance, with the validation layer where it is requested. */
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

/* A probed physical device: its info, and the further properties that opening it needs. */
typedef struct {
  DynoDeviceInfo info;
  VkPhysicalDevice handle;
  guint8 cache_uuid[VK_UUID_SIZE];
  guint32 compute_family;
  guint32 transfer_family;   /* = compute_family: there is no family only for transfers */
  guint32 timestamp_bits;    /* of the compute family */
  gboolean subgroup_control; /* a size can be required in compute shaders */
  gboolean full_subgroups;   /* computeFullSubgroups */
  gboolean maintenance4;
  gboolean synchronization2;
  gboolean statistics; /* VK_KHR_pipeline_executable_properties */
  /* VK_KHR_external_memory_fd, by which buffers can be imported and exported */
  gboolean external_memory;
  VkPhysicalDeviceFeatures features;
  VkPhysicalDeviceVulkan11Features features11;
  VkPhysicalDeviceVulkan12Features features12;
  char *lacks; /* the features that Dyno requires and the device lacks; NULL: none */
} DynoProbe;

/* Every physical device with a compute queue, in the order of preference; element type DynoProbe.
 * Errors: NO_DEVICE. */
GPtrArray *dyno_probe_all (DynoInstance *instance, GError **error);
/* The order of probes, for g_ptr_array_sort: devices that can be opened come first, so that index
 * -1 opens the first one. */
int dyno_probe_compare (gconstpointer a, gconstpointer b);

typedef struct {
  VkQueue handle;
  guint32 family;
  VkSemaphore timeline;
  GMutex lock;       /* VkQueue and submitted */
  guint64 submitted; /* the last timeline value given out */
} DynoQueueState;

/* Resources that are freed after the submissions that may use them. */
typedef struct {
  guint64 timeline_values[DYNO_QUEUE_N];
  VkBuffer buffer;
  VkDeviceMemory memory;
  guint64 account_bytes;
  guint64 host_bytes; /* page-locked; no budget limits them */
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
  gboolean statistics; /* kernels are compiled with statistics */
  int lost;            /* atomic: the driver reported the loss; nothing is submitted any more */
  gboolean over;       /* set when a lost device is freed: all submissions have ended */
  /* atomic: a wait exceeded its limit; submissions may still run, so nothing is waited for and
   * nothing is freed */
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

  VkPipelineLayout layout; /* of every kernel: only push constants */
  DynoKernelTable *kernels;
};

/* As dyno_device_query_usage, for a device that need not be open. */
gboolean dyno_physical_device_query_usage (DynoInstance *instance, VkPhysicalDevice handle,
                                           DynoMemoryUsage *usage);

/* The state of a queue; TRANSFER is COMPUTE where the device has only one queue. */
DynoQueueState *dyno_device_get_queue (DynoDevice *device, DynoQueue queue);

/* FALSE with DEVICE_LOST or TIMEOUT when the device can no longer be used. */
gboolean dyno_device_check_alive (DynoDevice *device, GError **error);

/* The last timeline value given out by a queue. */
guint64 dyno_queue_get_submitted (DynoDevice *device, DynoQueue queue);

/* Sets the error and records a loss of the device. */
void dyno_device_set_error (DynoDevice *device, GError **error, VkResult result, const char *call,
                            const char *object);

/* Takes ownership of the resources in `deferred`, and destroys them when their timeline values have
 * completed: now, or at a later collect. */
void dyno_device_defer_free (DynoDevice *device, const DynoDeferredFree *deferred);
void dyno_device_collect (DynoDevice *device);

/* Waits for all deferred frees, for an allocation that found no room.  FALSE when there were none,
 * or a wait failed. */
gboolean dyno_device_collect_all (DynoDevice *device);

/* The account: reserve fails with OVER_BUDGET; commit follows a reserve whose allocation succeeded
 * (it sets the peak). */
gboolean dyno_account_reserve (DynoDevice *device, DynoMemoryKind kind, guint64 size_bytes,
                               GError **error);
void dyno_account_commit (DynoDevice *device);
void dyno_account_add_host (DynoDevice *device, gint64 change_bytes);
void dyno_account_release (DynoDevice *device, DynoMemoryKind kind, guint64 size_bytes);

/* kernel.c: the table is made and freed with the device. */
gboolean dyno_kernel_table_init (DynoDevice *device, GError **error);
void dyno_kernel_table_clear (DynoDevice *device);

VkPipeline dyno_kernel_get_pipeline (DynoKernel *kernel);
VkBuffer dyno_buffer_get_handle (DynoBuffer *buffer);

/* A DEVICE buffer in memory that another API has allocated, of size_bytes, a multiple of
 * DYNO_BUFFER_GRANULARITY.  On success the driver owns the descriptor; on failure the caller still
 * owns it.  Errors: UNSUPPORTED, those of dyno_buffer_new. */
DynoBuffer *dyno_buffer_import (DynoDevice *device, guint64 size_bytes, DynoMemoryKind kind,
                                int descriptor, GError **error);
/* A descriptor of a SHARED buffer's memory for another API, which the caller closes; -1: an error.
 * Errors: UNSUPPORTED, OUT_OF_HOST_MEMORY. */
int dyno_buffer_export (DynoBuffer *buffer, GError **error);
VkQueryPool dyno_timer_get_pool (DynoTimer *timer);
guint dyno_timer_get_n_slots (DynoTimer *timer);

/* As dyno_command_copy, without the restriction to multiples of 4 bytes. */
void dyno_command_copy_bytes (DynoCommand *command, DynoBuffer *source, guint64 source_offset,
                              DynoBuffer *target, guint64 target_offset, guint64 size_bytes);

G_END_DECLS
