/* SPDX-License-Identifier: MIT */
/* Kernels by spec: compute pipelines over one pipeline layout, made once and kept until the device
 * is freed.
 *
 * A kernel that one thread is making is in the table already, without its pipeline; other threads
 * that need it wait.  A kernel that could not be made leaves the table, and a thread that waited
 * for it tries again itself.
 * Vulkan locks the pipeline cache itself, so pipelines are made in parallel. */
#include "device-private.h"
#include "cachefile.h"
#include "cores.h"
#include "hash.h"
#include "parallel.h"
#include "room.h"
#include "shader.h"
#include <string.h>

#define CACHE_MAGIC "DYNOPIPE"
#define MAX_THREADS 16
/* Memory that must be free for a compiler, and for each compiler that runs already: a deliberately
 * large guess, since llvmpipe's compiler ends the process where it gets no memory. */
#define ROOM_BYTES      (G_GUINT64_CONSTANT (320) << 20)
#define ROOM_EACH_BYTES (G_GUINT64_CONSTANT (96) << 20)

struct _DynoKernel {
  DynoKernelSpec spec; /* must be first: the table's keys are kernels read as specs */
  VkPipeline pipeline; /* null while it is being made */
};

struct _DynoKernelTable {
  DynoShaderCompiler *compiler;
  GMutex lock;
  GCond done;
  GHashTable *kernels; /* DynoKernel by its spec */
  VkPipelineCache cache;
  DynoCacheKey cache_key;
  guint64 saved_hash; /* of the cache on disk */
  gboolean changed;   /* pipelines were made since the cache was written */
};

static guint32
local_size (const DynoKernelSpec *spec, guint axis)
{
  return MAX (spec->local_size[axis], 1);
}

guint
dyno_kernel_spec_hash (gconstpointer data)
{
  const DynoKernelSpec *spec = data;
  const guint32 words[] = { local_size (spec, 0), local_size (spec, 1), local_size (spec, 2),
                            spec->subgroup_size,  spec->push_bytes,     spec->n_constants };
  guint64 hash = dyno_hash_string (DYNO_HASH_START, spec->shader);

  hash = dyno_hash_string (hash, spec->macros);
  hash = dyno_hash_bytes (hash, words, sizeof words);
  return (guint) dyno_hash_bytes (hash, spec->constants,
                                  spec->n_constants * sizeof spec->constants[0]);
}

gboolean
dyno_kernel_spec_equal (gconstpointer a, gconstpointer b)
{
  const DynoKernelSpec *x = a, *y = b;

  for (guint i = 0; i < 3; i++)
    if (local_size (x, i) != local_size (y, i))
      return FALSE;
  return x->subgroup_size == y->subgroup_size && x->push_bytes == y->push_bytes
         && x->n_constants == y->n_constants
         && memcmp (x->constants, y->constants, x->n_constants * sizeof x->constants[0]) == 0
         && strcmp (x->shader, y->shader) == 0 && strcmp (x->macros, y->macros) == 0;
}

const DynoKernelSpec *
dyno_kernel_get_spec (DynoKernel *kernel)
{
  return &kernel->spec;
}

VkPipeline
dyno_kernel_get_pipeline (DynoKernel *kernel)
{
  return kernel->pipeline;
}

static gboolean
create_layout (DynoDevice *device, GError **error)
{
  VkPushConstantRange range = { .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                .size = DYNO_PUSH_MAX_BYTES };
  VkPipelineLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                      .pushConstantRangeCount = 1,
                                      .pPushConstantRanges = &range };
  VkResult result = device->vk.CreatePipelineLayout (device->handle, &info, NULL, &device->layout);

  if (result != VK_SUCCESS)
    dyno_device_set_error (device, error, result, "vkCreatePipelineLayout", NULL);
  return result == VK_SUCCESS;
}

static gboolean
create_cache (DynoDevice *device, GError **error)
{
  DynoKernelTable *table = device->kernels;
  g_autofree char *path = dyno_cache_file_path ("pipelines", table->cache_key, ".bin");
  g_autoptr (GBytes) stored = dyno_cache_file_read (path, CACHE_MAGIC, table->cache_key);
  VkPipelineCacheCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO };
  VkResult result;

  if (stored)
    {
      info.pInitialData = g_bytes_get_data (stored, &info.initialDataSize);
      table->saved_hash =
          dyno_hash_bytes (DYNO_HASH_START, info.pInitialData, info.initialDataSize);
    }
  result = device->vk.CreatePipelineCache (device->handle, &info, NULL, &table->cache);
  if (result != VK_SUCCESS && stored)
    {
      info.initialDataSize = 0;
      info.pInitialData = NULL;
      result = device->vk.CreatePipelineCache (device->handle, &info, NULL, &table->cache);
    }
  if (result != VK_SUCCESS)
    dyno_device_set_error (device, error, result, "vkCreatePipelineCache", NULL);
  return result == VK_SUCCESS;
}

static DynoOptimise
choose_optimise (DynoDevice *device)
{
  const char *wish = g_getenv ("DYNO_SHADER_OPTIMISER");

  if (wish && *wish)
    return strcmp (wish, "0") != 0 ? DYNO_OPTIMISE_ALL : DYNO_OPTIMISE_NOTHING;
  return dyno_shader_get_optimise (&device->info);
}

gboolean
dyno_kernel_table_init (DynoDevice *device, GError **error)
{
  DynoKernelTable *table = g_new0 (DynoKernelTable, 1);

  device->kernels = table;
  g_mutex_init (&table->lock);
  g_cond_init (&table->done);
  table->kernels = g_hash_table_new (dyno_kernel_spec_hash, dyno_kernel_spec_equal);
  table->compiler = dyno_shader_compiler_new (device->info.api_version, choose_optimise (device));
  table->cache_key.words[0] = dyno_hash_string (DYNO_HASH_START, device->key);
  table->cache_key.words[1] = dyno_hash_string (~DYNO_HASH_START, device->key);
  return create_layout (device, error) && create_cache (device, error);
}

static void
kernel_free (DynoDevice *device, DynoKernel *kernel)
{
  device->vk.DestroyPipeline (device->handle, kernel->pipeline, NULL);
  g_free (kernel);
}

void
dyno_kernel_table_clear (DynoDevice *device)
{
  DynoKernelTable *table = device->kernels;
  GHashTableIter iter;
  gpointer kernel;

  if (!table)
    return;
  dyno_kernel_cache_save (device);
  g_hash_table_iter_init (&iter, table->kernels);
  while (g_hash_table_iter_next (&iter, &kernel, NULL))
    kernel_free (device, kernel);
  g_hash_table_unref (table->kernels);
  device->vk.DestroyPipelineCache (device->handle, table->cache, NULL);
  device->vk.DestroyPipelineLayout (device->handle, device->layout, NULL);
  dyno_shader_compiler_free (table->compiler);
  g_cond_clear (&table->done);
  g_mutex_clear (&table->lock);
  g_free (table);
  device->kernels = NULL;
}

void
dyno_kernel_cache_save (DynoDevice *device)
{
  DynoKernelTable *table = device->kernels;
  g_autofree char *path = NULL;
  g_autofree void *data = NULL;
  size_t size = 0;
  guint64 hash;

  g_mutex_lock (&table->lock);
  if (!table->changed || table->cache == VK_NULL_HANDLE
      || device->vk.GetPipelineCacheData (device->handle, table->cache, &size, NULL) != VK_SUCCESS
      || size == 0)
    {
      g_mutex_unlock (&table->lock);
      return;
    }
  data = g_malloc0 (size);
  if (device->vk.GetPipelineCacheData (device->handle, table->cache, &size, data) == VK_SUCCESS)
    {
      hash = dyno_hash_bytes (DYNO_HASH_START, data, size);
      path = hash != table->saved_hash
                 ? dyno_cache_file_path ("pipelines", table->cache_key, ".bin")
                 : NULL;
      dyno_cache_file_write (path, CACHE_MAGIC, table->cache_key, data, size);
      table->saved_hash = hash;
      table->changed = FALSE;
    }
  g_mutex_unlock (&table->lock);
}

static gboolean refuse (GError **error, const DynoKernelSpec *spec, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
refuse (GError **error, const DynoKernelSpec *spec, const char *format, ...)
{
  g_autofree char *cause = NULL;
  va_list args;

  va_start (args, format);
  cause = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER, "Kernel %s with macros “%s”: %s",
               spec->shader, spec->macros, cause);
  return FALSE;
}

static gboolean
check_spec (DynoDevice *device, const DynoKernelSpec *spec, GError **error)
{
  const DynoDeviceInfo *info = &device->info;
  guint64 invocations =
      (guint64) local_size (spec, 0) * local_size (spec, 1) * local_size (spec, 2);

  if (spec->push_bytes > DYNO_PUSH_MAX_BYTES || spec->push_bytes % 4 != 0)
    return refuse (error, spec, "%u bytes of push constants; at most %d, in multiples of 4",
                   spec->push_bytes, DYNO_PUSH_MAX_BYTES);
  if (spec->macros_cut)
    return refuse (error, spec, "there are more than fit into %d bytes", (int) sizeof spec->macros);
  if (spec->n_constants > DYNO_KERNEL_MAX_CONSTANTS)
    return refuse (error, spec, "%u constants; at most %d", spec->n_constants,
                   DYNO_KERNEL_MAX_CONSTANTS);
  if (invocations > info->max_invocations)
    return refuse (error, spec, "a workgroup of %" G_GUINT64_FORMAT "; the device takes %u",
                   invocations, info->max_invocations);
  if (spec->subgroup_size > 0
      && (spec->subgroup_size < info->subgroup_min || spec->subgroup_size > info->subgroup_max))
    return refuse (error, spec, "a subgroup of %u; the device takes %u to %u", spec->subgroup_size,
                   info->subgroup_min, info->subgroup_max);
  if (spec->subgroup_size > 0 && local_size (spec, 0) % spec->subgroup_size != 0)
    return refuse (error, spec, "LOCAL_X %u is no multiple of the subgroup size %u",
                   local_size (spec, 0), spec->subgroup_size);
  return TRUE;
}

/* The caller owns module.  Fails where the driver's compiler fails. */
static VkResult
create_pipeline (DynoDevice *device, const DynoKernelSpec *spec, VkShaderModule module,
                 VkPipeline *pipeline)
{
  VkSpecializationMapEntry entries[DYNO_KERNEL_MAX_CONSTANTS];
  VkSpecializationInfo constants = { .mapEntryCount = spec->n_constants,
                                     .pMapEntries = entries,
                                     .dataSize = spec->n_constants * sizeof spec->constants[0],
                                     .pData = spec->constants };
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
    .requiredSubgroupSize = spec->subgroup_size
  };
  VkComputePipelineCreateInfo info = {
    .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
    .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
               .stage = VK_SHADER_STAGE_COMPUTE_BIT,
               .module = module,
               .pName = "main",
               .pSpecializationInfo = spec->n_constants > 0 ? &constants : NULL },
    .layout = device->layout,
    .flags = device->statistics ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR : 0,
  };

  for (guint i = 0; i < spec->n_constants; i++)
    entries[i] = (VkSpecializationMapEntry){ .constantID = i, .offset = i * 4, .size = 4 };
  /* The only size of a device need not be required. */
  if (spec->subgroup_size > 0 && device->info.subgroup_min != device->info.subgroup_max)
    info.stage.pNext = &subgroup;
  if (spec->subgroup_size > 0 && device->probe->full_subgroups)
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  return device->vk.CreateComputePipelines (device->handle, device->kernels->cache, 1, &info, NULL,
                                            pipeline);
}

static gboolean
compile (DynoDevice *device, const DynoKernelSpec *spec, VkPipeline *pipeline, GError **error)
{
  g_autoptr (GBytes) spirv = NULL;
  VkShaderModuleCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO };
  VkShaderModule module = VK_NULL_HANDLE;
  VkResult result;

  if (!check_spec (device, spec, error))
    return FALSE;
  spirv = dyno_shader_compiler_get (device->kernels->compiler, spec->shader, spec->macros,
                                    spec->local_size, error);
  if (!spirv)
    return FALSE;
  info.pCode = g_bytes_get_data (spirv, &info.codeSize);
  result = device->vk.CreateShaderModule (device->handle, &info, NULL, &module);
  if (result != VK_SUCCESS)
    {
      dyno_device_set_error (device, error, result, "vkCreateShaderModule", spec->shader);
      return FALSE;
    }
  result = create_pipeline (device, spec, module, pipeline);
  device->vk.DestroyShaderModule (device->handle, module, NULL);
  if (result == VK_SUCCESS)
    return TRUE;
  *pipeline = VK_NULL_HANDLE;
  if (dyno_vk_result_code (result) == DYNO_GPU_ERROR_FAILED || result == VK_ERROR_INVALID_SHADER_NV)
    return refuse (error, spec,
                   "vkCreateComputePipelines: %s (%d), the driver's compiler failed; update the "
                   "driver",
                   dyno_vk_result_name (result), (int) result);
  dyno_device_set_error (device, error, result, "vkCreateComputePipelines", spec->shader);
  return FALSE;
}

/* Guards the number of compilers that run in this process, for all devices. */
static GMutex building_lock;
static GCond building_done;
static guint n_building;

/* A compiler that gets no memory ends the process instead of failing: where memory does not suffice
 * for one more compiler, the caller waits for a running one to end; where none runs, the call
 * fails. */
static gboolean
begin_building (const DynoKernelSpec *spec, GError **error)
{
  gboolean has;

  g_mutex_lock (&building_lock);
  while (!(has = dyno_room_has (ROOM_BYTES + n_building * ROOM_EACH_BYTES)) && n_building > 0)
    g_cond_wait (&building_done, &building_lock);
  n_building += has;
  g_mutex_unlock (&building_lock);
  if (!has)
    g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                 "The kernel “%s” is not compiled: the process can get less than %d MB of memory, "
                 "which the driver's compiler may need; raise the limit of the process (ulimit "
                 "-v), close other programs or use fewer workers",
                 spec->shader, (int) (ROOM_BYTES >> 20));
  return has;
}

static void
end_building (void)
{
  g_mutex_lock (&building_lock);
  n_building--;
  g_cond_broadcast (&building_done);
  g_mutex_unlock (&building_lock);
}

static gboolean
build (DynoDevice *device, const DynoKernelSpec *spec, VkPipeline *pipeline, GError **error)
{
  gboolean made;

  if (!begin_building (spec, error))
    return FALSE;
  made = compile (device, spec, pipeline, error);
  end_building ();
  return made;
}

DynoKernel *
dyno_kernel_get (DynoDevice *device, const DynoKernelSpec *spec, GError **error)
{
  DynoKernelTable *table = device->kernels;
  VkPipeline pipeline = VK_NULL_HANDLE;
  DynoKernel *kernel;
  gboolean made;

  g_return_val_if_fail (spec->shader && spec->n_constants <= DYNO_KERNEL_MAX_CONSTANTS, NULL);
  g_mutex_lock (&table->lock);
  while ((kernel = g_hash_table_lookup (table->kernels, spec))
         && kernel->pipeline == VK_NULL_HANDLE)
    g_cond_wait (&table->done, &table->lock);
  if (!kernel)
    {
      kernel = g_new0 (DynoKernel, 1);
      kernel->spec = *spec;
      g_hash_table_add (table->kernels, kernel);
      g_mutex_unlock (&table->lock);
      made = build (device, &kernel->spec, &pipeline, error);
      g_mutex_lock (&table->lock);
      if (made)
        {
          kernel->pipeline = pipeline;
          table->changed = TRUE;
        }
      else
        {
          g_hash_table_remove (table->kernels, kernel);
          g_clear_pointer (&kernel, g_free);
        }
      g_cond_broadcast (&table->done);
    }
  g_mutex_unlock (&table->lock);
  return kernel;
}

typedef struct {
  DynoDevice *device;
  const DynoKernelSpec *const *specs;
  DynoKernel **kernels;
  GError **problems; /* for each spec; NULL: the first problem ends the batch */
  GCancellable *cancellable;
  GAsyncQueue *finished;
  GMutex lock;
  GError *error; /* the first */
  int failed;    /* atomic */
} Batch;

static void
build_one (gpointer data, gpointer user_data)
{
  Batch *batch = user_data;
  guint index = GPOINTER_TO_UINT (data) - 1;
  g_autoptr (GError) error = NULL;

  if (!g_atomic_int_get (&batch->failed)
      && !g_cancellable_set_error_if_cancelled (batch->cancellable, &error))
    batch->kernels[index] = dyno_kernel_get (batch->device, batch->specs[index], &error);
  if (batch->problems && g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER))
    batch->problems[index] = g_steal_pointer (&error);
  if (error)
    {
      g_mutex_lock (&batch->lock);
      if (!batch->error)
        batch->error = g_steal_pointer (&error);
      g_mutex_unlock (&batch->lock);
      g_atomic_int_set (&batch->failed, 1);
    }
  g_async_queue_push (batch->finished, data);
}

static void
run_batch (Batch *batch, guint count, DynoKernelProgress progress, gpointer data)
{
  guint threads = MIN (MIN (dyno_cores_count (), MAX_THREADS), count);
  GThreadPool *pool = dyno_thread_pool_new (build_one, batch, threads);

  for (guint i = 0; i < count && pool; i++)
    g_thread_pool_push (pool, GUINT_TO_POINTER (i + 1), NULL);
  for (guint done = 1; done <= count; done++)
    {
      if (!pool)
        build_one (GUINT_TO_POINTER (done), batch);
      g_async_queue_pop (batch->finished);
      if (progress && !g_atomic_int_get (&batch->failed))
        progress (done, count, data);
    }
  if (pool)
    g_thread_pool_free (pool, FALSE, TRUE);
}

/* batch->kernels has room for count. */
static gboolean
make_many (Batch *batch, guint count, DynoKernelProgress progress, gpointer data, GError **error)
{
  if (progress)
    progress (0, count, data);
  if (count == 0)
    return TRUE;
  g_mutex_init (&batch->lock);
  batch->finished = g_async_queue_new ();
  run_batch (batch, count, progress, data);
  g_async_queue_unref (batch->finished);
  g_mutex_clear (&batch->lock);
  if (batch->error)
    g_propagate_error (error, batch->error);
  return !batch->error;
}

gboolean
dyno_kernel_get_many (DynoDevice *device, const DynoKernelSpec *const *specs, guint count,
                      DynoKernel **kernels, DynoKernelProgress progress, gpointer data,
                      GCancellable *cancellable, GError **error)
{
  g_autofree DynoKernel **made = g_new0 (DynoKernel *, count + 1);
  Batch batch = { .device = device, .specs = specs, .kernels = made, .cancellable = cancellable };

  if (!make_many (&batch, count, progress, data, error))
    return FALSE;
  if (kernels && count > 0)
    memcpy (kernels, made, count * sizeof *kernels);
  return TRUE;
}

gboolean
dyno_kernel_try_many (DynoDevice *device, const DynoKernelSpec *const *specs, guint count,
                      GError **problems, DynoKernelProgress progress, gpointer data,
                      GCancellable *cancellable, GError **error)
{
  g_autofree DynoKernel **made = g_new0 (DynoKernel *, count + 1);
  Batch batch = { .device = device,
                  .specs = specs,
                  .kernels = made,
                  .problems = problems,
                  .cancellable = cancellable };

  return make_many (&batch, count, progress, data, error);
}
