/* SPDX-License-Identifier: MIT */
/* Reads the part of Python's pickle format that files of plain tensors use.  Nothing is ever called
 * or imported: names are looked up in a short list, and each listed name is a value of its own
 * kind.  Private to pth.c and pickle.c. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_PICKLE_NONE,
  DYNO_PICKLE_BOOL,
  DYNO_PICKLE_INT,
  DYNO_PICKLE_FLOAT,
  DYNO_PICKLE_STRING,
  DYNO_PICKLE_TUPLE,
  DYNO_PICKLE_LIST,
  DYNO_PICKLE_DICT, /* items: key, value, ... */
  DYNO_PICKLE_NAME, /* a name of the list */
  DYNO_PICKLE_STORAGE,
  DYNO_PICKLE_TENSOR,
  DYNO_PICKLE_MARK,
} DynoPickleKind;

/* The meaning of a name of the list. */
typedef enum {
  DYNO_PICKLE_ORDERED_DICT,
  DYNO_PICKLE_REBUILD_TENSOR,
  DYNO_PICKLE_REBUILD_PARAMETER,
  DYNO_PICKLE_SIZE,
  DYNO_PICKLE_STORAGE_TYPE,
} DynoPickleName;

typedef struct _DynoPickleValue DynoPickleValue;
struct _DynoPickleValue {
  DynoPickleKind kind;
  gint64 number; /* INT, BOOL; STORAGE: elements; TENSOR: its offset, in elements */
  char *text;    /* STRING; STORAGE: its key */
  DynoPickleName name;
  DynoTensorType type;      /* STORAGE, or the name of a storage type */
  GPtrArray *items;         /* TUPLE, LIST, DICT */
  DynoPickleValue *storage; /* TENSOR */
  guint n_dims;
  guint64 *shape, *stride; /* TENSOR: DYNO_SAFETENSORS_MAX_DIMS, n_dims of them used */
};

/* The value that the bytes describe.  The value, and all values to which it refers, possibly in
 * cycles, are added to `values` and live as long as that array.  Errors: CORRUPT; UNSUPPORTED,
 * which names an opcode or a name that is not listed. */
DynoPickleValue *dyno_pickle_read (const guint8 *bytes, gsize size, GPtrArray *values,
                                   GError **error);
void dyno_pickle_value_free (gpointer value); /* free function of `values` */

G_END_DECLS
