/* SPDX-License-Identifier: MIT */
/* The part of CUDA's driver API that peer.c uses: opened at run time, kept until the process ends.
 * Names and layouts follow NVIDIA's CUDA driver API reference, version 11.2 and later.  Private to
 * the gpu layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_CUDA_SUCCESS       0
#define DYNO_CUDA_OUT_OF_MEMORY 2
#define DYNO_CUDA_NOT_READY     600

/* CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD */
#define DYNO_CUDA_DESCRIPTOR 1
/* CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE */
#define DYNO_CUDA_PINNED     1
#define DYNO_CUDA_ON_DEVICE  1
#define DYNO_CUDA_READ_WRITE 3 /* CU_MEM_ACCESS_FLAGS_PROT_READWRITE */
#define DYNO_CUDA_APART      1 /* CU_STREAM_NON_BLOCKING */

typedef int DynoCudaDevice;
typedef guint64 DynoCudaAddress, DynoCudaMemory;
typedef struct _DynoCudaContext *DynoCudaContext;
typedef struct _DynoCudaStream *DynoCudaStream;
typedef struct _DynoCudaExternal *DynoCudaExternal;

typedef struct {
  guint8 bytes[16];
} DynoCudaUuid;

/* CUmemLocation, CUmemAllocationProp, CUmemAccessDesc */
typedef struct {
  int type, id;
} DynoCudaLocation;

typedef struct {
  int type, handle_types;
  DynoCudaLocation location;
  void *security;
  struct {
    guint8 compression, rdma;
    guint16 usage;
    guint8 reserved[4];
  } flags;
} DynoCudaProperties;

typedef struct {
  DynoCudaLocation location;
  int flags;
} DynoCudaAccess;

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
typedef struct {
  int type;
  union {
    int descriptor;
    struct {
      void *handle;
      const void *name;
    } other;
  } handle;
  guint64 size;
  guint32 flags, reserved[16];
} DynoCudaExternalParams;

typedef struct {
  guint64 offset, size;
  guint32 flags, reserved[16];
} DynoCudaExternalRange;

G_STATIC_ASSERT (sizeof (DynoCudaProperties) == 32 && sizeof (DynoCudaAccess) == 12);
G_STATIC_ASSERT (sizeof (DynoCudaExternalParams) == 104 && sizeof (DynoCudaExternalRange) == 88);

/* X (member, symbol, arguments): each returns a CUresult. */
#define DYNO_CUDA_FUNCTIONS(X)                                                                   \
  X (init, "cuInit", (unsigned int flags))                                                       \
  X (error_name, "cuGetErrorName", (int result, const char **name))                              \
  X (device_count, "cuDeviceGetCount", (int *count))                                             \
  X (device_get, "cuDeviceGet", (DynoCudaDevice * device, int index))                            \
  X (device_uuid, "cuDeviceGetUuid", (DynoCudaUuid * uuid, DynoCudaDevice device))               \
  X (context_retain, "cuDevicePrimaryCtxRetain",                                                 \
     (DynoCudaContext * context, DynoCudaDevice device))                                         \
  X (context_release, "cuDevicePrimaryCtxRelease_v2", (DynoCudaDevice device))                   \
  X (context_push, "cuCtxPushCurrent_v2", (DynoCudaContext context))                             \
  X (context_pop, "cuCtxPopCurrent_v2", (DynoCudaContext * context))                             \
  X (granularity, "cuMemGetAllocationGranularity",                                               \
     (gsize * bytes, const DynoCudaProperties *properties, int option))                          \
  X (memory_create, "cuMemCreate",                                                               \
     (DynoCudaMemory * memory, gsize size, const DynoCudaProperties *properties, guint64 flags)) \
  X (memory_release, "cuMemRelease", (DynoCudaMemory memory))                                    \
  X (memory_export, "cuMemExportToShareableHandle",                                              \
     (void *descriptor, DynoCudaMemory memory, int type, guint64 flags))                         \
  X (memory_import, "cuMemImportFromShareableHandle",                                            \
     (DynoCudaMemory * memory, void *descriptor, int type))                                      \
  X (address_reserve, "cuMemAddressReserve",                                                     \
     (DynoCudaAddress * address, gsize size, gsize alignment, DynoCudaAddress hint,              \
      guint64 flags))                                                                            \
  X (address_free, "cuMemAddressFree", (DynoCudaAddress address, gsize size))                    \
  X (map, "cuMemMap",                                                                            \
     (DynoCudaAddress address, gsize size, gsize offset, DynoCudaMemory memory, guint64 flags))  \
  X (unmap, "cuMemUnmap", (DynoCudaAddress address, gsize size))                                 \
  X (set_access, "cuMemSetAccess",                                                               \
     (DynoCudaAddress address, gsize size, const DynoCudaAccess *access, gsize count))           \
  X (external_import, "cuImportExternalMemory",                                                  \
     (DynoCudaExternal * external, const DynoCudaExternalParams *params))                        \
  X (external_map, "cuExternalMemoryGetMappedBuffer",                                            \
     (DynoCudaAddress * address, DynoCudaExternal external, const DynoCudaExternalRange *range)) \
  X (external_destroy, "cuDestroyExternalMemory", (DynoCudaExternal external))                   \
  X (memory_free, "cuMemFree_v2", (DynoCudaAddress address))                                     \
  X (stream_new, "cuStreamCreate", (DynoCudaStream * stream, unsigned int flags))                \
  X (stream_free, "cuStreamDestroy_v2", (DynoCudaStream stream))                                 \
  X (stream_query, "cuStreamQuery", (DynoCudaStream stream))                                     \
  X (stream_wait, "cuStreamSynchronize", (DynoCudaStream stream))                                \
  X (copy, "cuMemcpyDtoDAsync_v2",                                                               \
     (DynoCudaAddress target, DynoCudaAddress source, gsize size, DynoCudaStream stream))

#define DYNO_CUDA_MEMBER(member, symbol, arguments) int (*member) arguments;
typedef struct {
  DYNO_CUDA_FUNCTIONS (DYNO_CUDA_MEMBER)
} DynoCuda;
#undef DYNO_CUDA_MEMBER

/* All functions, initialised; NULL: UNSUPPORTED, whose message has the reason. */
const DynoCuda *dyno_cuda_open (GError **error);

/* TRUE where result is no error; else sets "cuMemMap: CUDA_ERROR_NOT_SUPPORTED (801)", as FAILED,
 * DEVICE_LOST, OUT_OF_DEVICE_MEMORY or UNSUPPORTED. */
gboolean dyno_cuda_check (const DynoCuda *cuda, int result, const char *call, GError **error);

G_END_DECLS
