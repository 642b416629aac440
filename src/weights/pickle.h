/* SPDX-License-Identifier: MIT */
/* The part of Python's pickle that a file of plain tensors is made of.  Nothing is ever called or
 * imported: names are looked up in a list of a few, and each of these is a value of its own kind
 * here.  Private to pth.c and pickle.c. */
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
  DYNO_PICKLE_NAME, /* one of the list */
  DYNO_PICKLE_STORAGE,
  DYNO_PICKLE_TENSOR,
  DYNO_PICKLE_MARK,
} DynoPickleKind;

/* What a name of the list stands for. */
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
  DynoTensorType type;      /* STORAGE, and a name that is one */
  GPtrArray *items;         /* TUPLE, LIST, DICT */
  DynoPickleValue *storage; /* TENSOR */
  guint n_dims;
  guint64 *shape, *stride; /* TENSOR: DYNO_SAFETENSORS_MAX_DIMS, n_dims of them used */
};

/* The value that the bytes describe.  It, and all that it refers to, which may be in circles, is
 * added to values and lives as long as it.  Errors: CORRUPT; UNSUPPORTED: an opcode, or a name,
 * that is not on the lists, named. */
DynoPickleValue *dyno_pickle_read (const guint8 *bytes, gsize size, GPtrArray *values,
                                   GError **error);
void dyno_pickle_value_free (gpointer value); /* of values */

G_END_DECLS
