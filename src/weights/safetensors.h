/* SPDX-License-Identifier: MIT */
/* Reader and writer of the safetensors format (github.com/huggingface/safetensors, "Format"): named
 * tensors and a map of strings.  Weights and checkpoints use this format. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_TENSOR_BOOL,
  DYNO_TENSOR_U8,
  DYNO_TENSOR_I8,
  DYNO_TENSOR_U16,
  DYNO_TENSOR_I16,
  DYNO_TENSOR_F16,
  DYNO_TENSOR_BF16,
  DYNO_TENSOR_U32,
  DYNO_TENSOR_I32,
  DYNO_TENSOR_F32,
  DYNO_TENSOR_U64,
  DYNO_TENSOR_I64,
  DYNO_TENSOR_F64,
} DynoTensorType;

#define DYNO_SAFETENSORS_MAX_DIMS   8
#define DYNO_SAFETENSORS_MAX_HEADER (100 * 1000 * 1000)

/* The name of a type, such as "F32"; and the bytes of an element. */
const char *dyno_tensor_type_get_name (DynoTensorType type);
gsize dyno_tensor_type_get_bytes (DynoTensorType type);

typedef struct {
  const char *name;
  DynoTensorType type;
  guint n_dims; /* 0: a single number */
  guint64 shape[DYNO_SAFETENSORS_MAX_DIMS];
  gsize size_bytes;
  const void *data; /* little-endian, C order; when read it may be unaligned: use memcpy */
} DynoSafetensor;

typedef struct _DynoSafetensors DynoSafetensors;

/* Reads a whole file into memory; it is immutable afterwards.  A .pth of PyTorch (pth.h), which has
 * no metadata, and the initialisers of an ONNX file (onnxfile.h) are read as well.  max_bytes: 0:
 * limited only by memory.  Each fault of the header has its own error message, and data after or
 * between tensors is refused.  Errors: NOT_FOUND, READ, CORRUPT, UNSUPPORTED (an element type),
 * TOO_LARGE, NO_MEMORY. */
DynoSafetensors *dyno_safetensors_open (const char *path, guint64 max_bytes, GError **error);

/* The same for a file's bytes, which are taken over and freed with g_free. */
DynoSafetensors *dyno_safetensors_parse (guint8 *bytes, gsize size, GError **error);
void dyno_safetensors_free (DynoSafetensors *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSafetensors, dyno_safetensors_free)

/* Tensors in the order of their data; NULL when there is none of this name. */
guint dyno_safetensors_get_count (DynoSafetensors *file);
const DynoSafetensor *dyno_safetensors_get (DynoSafetensors *file, guint place);
const DynoSafetensor *dyno_safetensors_lookup (DynoSafetensors *file, const char *name);

/* A string of __metadata__, or NULL; and all of them (char * to char *; owned by file). */
const char *dyno_safetensors_get_metadata (DynoSafetensors *file, const char *key);
GHashTable *dyno_safetensors_get_metadata_table (DynoSafetensors *file);

/* Writes tensors in the given order, without a copy in memory, into a temporary file that replaces
 * path only when it is complete and synced.  metadata: "key", "value", ..., NULL; or NULL.  Names
 * must be unique and size_bytes fit type and shape.  Errors: DYNO_BASE_ERROR_DISK,
 * DYNO_BASE_ERROR_IO, as of dyno_file_write_atomic. */
gboolean dyno_safetensors_write (const char *path, const DynoSafetensor *tensors, guint n_tensors,
                                 const char *const *metadata, GError **error);

/* The same in two halves: the file is complete and on the disk, beside path, and dyno_file_replace
 * renames it to path.  *temporary: g_free. */
gboolean dyno_safetensors_write_temporary (const char *path, const DynoSafetensor *tensors,
                                           guint n_tensors, const char *const *metadata,
                                           char **temporary, GError **error);

G_END_DECLS
