/* SPDX-License-Identifier: MIT */
/* Pickle, read without running anything (Python's Lib/pickletools.py has the opcodes).
 *
 * Invariants: an opcode makes one value at most and is a byte at least, so memory is bounded by the
 * file's size; nothing recurses; every operand is checked against the remaining bytes, every stack
 * access against the last mark. */
#include "pickle.h"
#include <string.h>

typedef struct {
  const guint8 *at, *end;
  GPtrArray *values; /* owns all values */
  GPtrArray *stack;
  GHashTable *memo; /* number to value */
  guint64 n_memoized;
} Reader;

static const struct {
  const char *module, *name;
  DynoPickleName what;
  DynoTensorType type;
} names[] = {
  { "collections", "OrderedDict", DYNO_PICKLE_ORDERED_DICT, 0 },
  { "torch._utils", "_rebuild_tensor_v2", DYNO_PICKLE_REBUILD_TENSOR, 0 },
  { "torch._utils", "_rebuild_parameter", DYNO_PICKLE_REBUILD_PARAMETER, 0 },
  { "torch", "Size", DYNO_PICKLE_SIZE, 0 },
  { "torch", "FloatStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_F32 },
  { "torch", "DoubleStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_F64 },
  { "torch", "HalfStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_F16 },
  { "torch", "BFloat16Storage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_BF16 },
  { "torch", "LongStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_I64 },
  { "torch", "IntStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_I32 },
  { "torch", "ShortStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_I16 },
  { "torch", "CharStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_I8 },
  { "torch", "ByteStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_U8 },
  { "torch", "BoolStorage", DYNO_PICKLE_STORAGE_TYPE, DYNO_TENSOR_BOOL },
};

void
dyno_pickle_value_free (gpointer data)
{
  DynoPickleValue *value = data;

  g_free (value->text);
  g_free (value->shape);
  g_free (value->stride);
  if (value->items)
    g_ptr_array_unref (value->items);
  g_free (value);
}

static gboolean
corrupt (GError **error, const char *what)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "its pickle is damaged: %s", what);
  return FALSE;
}

/* --- values and stack ------------------------------------------------------------------------- */

static DynoPickleValue *
new_value (Reader *r, DynoPickleKind kind)
{
  DynoPickleValue *value = g_new0 (DynoPickleValue, 1);

  value->kind = kind;
  if (kind == DYNO_PICKLE_TUPLE || kind == DYNO_PICKLE_LIST || kind == DYNO_PICKLE_DICT)
    value->items = g_ptr_array_new ();
  g_ptr_array_add (r->values, value);
  return value;
}

static DynoPickleValue *
push (Reader *r, DynoPickleKind kind)
{
  DynoPickleValue *value = new_value (r, kind);

  g_ptr_array_add (r->stack, value);
  return value;
}

static gboolean
push_number (Reader *r, DynoPickleKind kind, gint64 number)
{
  push (r, kind)->number = number;
  return TRUE;
}

/* The value on top of the stack; NULL: there is none, or it is a mark. */
static DynoPickleValue *
peek (Reader *r)
{
  DynoPickleValue *value =
      r->stack->len > 0 ? g_ptr_array_index (r->stack, r->stack->len - 1) : NULL;

  return value && value->kind != DYNO_PICKLE_MARK ? value : NULL;
}

static DynoPickleValue *
pop (Reader *r)
{
  DynoPickleValue *value = peek (r);

  if (value)
    g_ptr_array_set_size (r->stack, (gint) r->stack->len - 1);
  return value;
}

/* Moves the values above the last mark to items, and drops the mark; FALSE: there is no mark. */
static gboolean
pop_to_mark (Reader *r, GPtrArray *items)
{
  guint first = r->stack->len;

  while (first > 0
         && ((DynoPickleValue *) g_ptr_array_index (r->stack, first - 1))->kind != DYNO_PICKLE_MARK)
    first--;
  if (first == 0)
    return FALSE;
  for (guint i = first; i < r->stack->len; i++)
    g_ptr_array_add (items, g_ptr_array_index (r->stack, i));
  g_ptr_array_set_size (r->stack, (gint) first - 1);
  return TRUE;
}

/* --- operands --------------------------------------------------------------------------------- */

static gboolean
take (Reader *r, gsize n, const guint8 **bytes, GError **error)
{
  if ((gsize) (r->end - r->at) < n)
    return corrupt (error, "it ends early");
  *bytes = r->at;
  r->at += n;
  return TRUE;
}

/* Reads a little-endian number of n <= 8 bytes. */
static gboolean
take_uint (Reader *r, guint n, guint64 *number, GError **error)
{
  const guint8 *bytes;

  if (!take (r, n, &bytes, error))
    return FALSE;
  *number = 0;
  for (guint i = 0; i < n; i++)
    *number |= (guint64) bytes[i] << (8 * i);
  return TRUE;
}

static gboolean
push_text (Reader *r, guint length_bytes, GError **error)
{
  const guint8 *bytes;
  guint64 length;

  if (!take_uint (r, length_bytes, &length, error))
    return FALSE;
  if (length > G_MAXINT32)
    return corrupt (error, "a string is too long");
  if (!take (r, (gsize) length, &bytes, error))
    return FALSE;
  push (r, DYNO_PICKLE_STRING)->text = g_strndup ((const char *) bytes, (gsize) length);
  return TRUE;
}

static gboolean
push_long (Reader *r, GError **error)
{
  const guint8 *bytes;
  guint64 length, number = 0;

  if (!take_uint (r, 1, &length, error) || !take (r, (gsize) length, &bytes, error))
    return FALSE;
  if (length > 8)
    return corrupt (error, "a number is too large");
  if (length > 0 && (bytes[length - 1] & 0x80))
    number = ~G_GUINT64_CONSTANT (0);
  for (guint i = 0; i < length; i++)
    number = (number & ~(G_GUINT64_CONSTANT (0xff) << (8 * i))) | (guint64) bytes[i] << (8 * i);
  return push_number (r, DYNO_PICKLE_INT, (gint64) number);
}

/* --- names ------------------------------------------------------------------------------------ */

static gboolean
push_name (Reader *r, const char *module, const char *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].module, module) == 0 && strcmp (names[i].name, name) == 0)
      {
        DynoPickleValue *value = push (r, DYNO_PICKLE_NAME);
        value->name = names[i].what;
        value->type = names[i].type;
        return TRUE;
      }
  g_autofree char *shown_module = g_utf8_make_valid (module, -1),
                  *shown_name = g_utf8_make_valid (name, -1);
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
               "it asks for “%s.%s”, which a file of plain tensors does not need: nothing of it "
               "was run; save only the state_dict, by torch.save (model.state_dict (), ...)",
               shown_module, shown_name);
  return FALSE;
}

static gboolean
take_line (Reader *r, char **line, GError **error)
{
  const guint8 *end = memchr (r->at, '\n', (gsize) (r->end - r->at));

  if (!end)
    return corrupt (error, "a name has no end");
  *line = g_strndup ((const char *) r->at, (gsize) (end - r->at));
  r->at = end + 1;
  return TRUE;
}

static gboolean
read_global (Reader *r, GError **error)
{
  g_autofree char *module = NULL, *name = NULL;

  return take_line (r, &module, error) && take_line (r, &name, error)
         && push_name (r, module, name, error);
}

static gboolean
read_stack_global (Reader *r, GError **error)
{
  DynoPickleValue *name = pop (r), *module = name ? pop (r) : NULL;

  if (!module || name->kind != DYNO_PICKLE_STRING || module->kind != DYNO_PICKLE_STRING)
    return corrupt (error, "a name is no string");
  return push_name (r, module->text, name->text, error);
}

/* --- values of listed names ------------------------------------------------------------------- */

static DynoPickleValue *
item (const DynoPickleValue *tuple, guint place, DynoPickleKind kind)
{
  DynoPickleValue *value =
      place < tuple->items->len ? g_ptr_array_index (tuple->items, place) : NULL;

  return value && value->kind == kind ? value : NULL;
}

/* The operand is a tuple ('storage', type, key, place, elements). */
static gboolean
read_persistent (Reader *r, GError **error)
{
  DynoPickleValue *id = pop (r), *what, *type, *key, *count, *storage;

  if (!id || id->kind != DYNO_PICKLE_TUPLE)
    return corrupt (error, "a storage is named by no tuple");
  what = item (id, 0, DYNO_PICKLE_STRING);
  type = item (id, 1, DYNO_PICKLE_NAME);
  key = item (id, 2, DYNO_PICKLE_STRING);
  count = item (id, 4, DYNO_PICKLE_INT);
  if (!what || strcmp (what->text, "storage") != 0 || !type
      || type->name != DYNO_PICKLE_STORAGE_TYPE || !key || !count || count->number < 0)
    return corrupt (error, "a storage has no type, key and length");
  storage = push (r, DYNO_PICKLE_STORAGE);
  storage->type = type->type;
  storage->text = g_strdup (key->text);
  storage->number = count->number;
  return TRUE;
}

static gboolean
take_sizes (const DynoPickleValue *tuple, guint64 *sizes)
{
  if (!tuple || tuple->items->len > DYNO_SAFETENSORS_MAX_DIMS)
    return FALSE;
  for (guint i = 0; i < tuple->items->len; i++)
    {
      const DynoPickleValue *size = item (tuple, i, DYNO_PICKLE_INT);
      if (!size || size->number < 0)
        return FALSE;
      sizes[i] = (guint64) size->number;
    }
  return TRUE;
}

/* arguments: (storage, offset, shape, stride, ...). */
static gboolean
make_tensor (Reader *r, const DynoPickleValue *arguments, GError **error)
{
  DynoPickleValue *storage = item (arguments, 0, DYNO_PICKLE_STORAGE),
                  *offset = item (arguments, 1, DYNO_PICKLE_INT),
                  *shape = item (arguments, 2, DYNO_PICKLE_TUPLE),
                  *stride = item (arguments, 3, DYNO_PICKLE_TUPLE);
  DynoPickleValue *tensor = new_value (r, DYNO_PICKLE_TENSOR);

  tensor->shape = g_new0 (guint64, DYNO_SAFETENSORS_MAX_DIMS);
  tensor->stride = g_new0 (guint64, DYNO_SAFETENSORS_MAX_DIMS);
  if (!storage || !offset || offset->number < 0 || !take_sizes (shape, tensor->shape)
      || !take_sizes (stride, tensor->stride) || shape->items->len != stride->items->len)
    return corrupt (error, "a tensor has no storage, shape and stride");
  tensor->storage = storage;
  tensor->number = offset->number;
  tensor->n_dims = shape->items->len;
  g_ptr_array_add (r->stack, tensor);
  return TRUE;
}

static gboolean
reduce (Reader *r, GError **error)
{
  DynoPickleValue *arguments = pop (r), *name = arguments ? pop (r) : NULL, *made = NULL;

  if (!name || name->kind != DYNO_PICKLE_NAME || arguments->kind != DYNO_PICKLE_TUPLE)
    return corrupt (error, "something is called that is no name");
  switch (name->name)
    {
    case DYNO_PICKLE_ORDERED_DICT:
      if (arguments->items->len > 0)
        return corrupt (error, "an OrderedDict begins with something in it");
      push (r, DYNO_PICKLE_DICT);
      return TRUE;
    case DYNO_PICKLE_REBUILD_TENSOR:
      return make_tensor (r, arguments, error);
    case DYNO_PICKLE_REBUILD_PARAMETER:
      made = item (arguments, 0, DYNO_PICKLE_TENSOR);
      break;
    case DYNO_PICKLE_SIZE:
      made = item (arguments, 0, DYNO_PICKLE_TUPLE);
      break;
    case DYNO_PICKLE_STORAGE_TYPE:
      break;
    }
  if (!made)
    return corrupt (error, "a name is called with what it does not take");
  g_ptr_array_add (r->stack, made);
  return TRUE;
}

/* --- containers ------------------------------------------------------------------------------- */

static gboolean
make_tuple (Reader *r, guint n, GError **error)
{
  DynoPickleValue *tuple = new_value (r, DYNO_PICKLE_TUPLE);

  for (guint i = 0; i < n; i++)
    {
      DynoPickleValue *value = pop (r);
      if (!value)
        return corrupt (error, "a tuple has too few values");
      g_ptr_array_insert (tuple->items, 0, value);
    }
  g_ptr_array_add (r->stack, tuple);
  return TRUE;
}

static gboolean
make_marked_tuple (Reader *r, GError **error)
{
  DynoPickleValue *tuple = new_value (r, DYNO_PICKLE_TUPLE);

  if (!pop_to_mark (r, tuple->items))
    return corrupt (error, "a tuple has no mark");
  g_ptr_array_add (r->stack, tuple);
  return TRUE;
}

/* Adds the values above the mark, or with marked FALSE the n values on top, to the container
 * below. */
static gboolean
extend (Reader *r, DynoPickleKind kind, gboolean marked, guint n, GError **error)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  DynoPickleValue *container;

  if (marked && !pop_to_mark (r, items))
    return corrupt (error, "what is added has no mark");
  for (guint i = 0; !marked && i < n; i++)
    {
      DynoPickleValue *value = pop (r);
      if (!value)
        return corrupt (error, "what is added is missing");
      g_ptr_array_insert (items, 0, value);
    }
  container = peek (r);
  if (!container || container->kind != kind || (kind == DYNO_PICKLE_DICT && items->len % 2 != 0))
    return corrupt (error, "what is added to is no list or dict");
  g_ptr_array_extend (container->items, items, NULL, NULL);
  return TRUE;
}

/* The attributes of an object, such as a state_dict's _metadata, are ignored. */
static gboolean
build (Reader *r, GError **error)
{
  DynoPickleValue *state = pop (r), *object = state ? peek (r) : NULL;

  if (!object || (object->kind != DYNO_PICKLE_DICT && object->kind != DYNO_PICKLE_TENSOR))
    return corrupt (error, "something has attributes that is no dict");
  return TRUE;
}

static gboolean
remember (Reader *r, guint64 place, GError **error)
{
  DynoPickleValue *value = peek (r);

  if (!value)
    return corrupt (error, "nothing is there to be remembered");
  if (place > G_MAXUINT32)
    return corrupt (error, "too much is remembered");
  g_hash_table_insert (r->memo, GSIZE_TO_POINTER (place), value);
  r->n_memoized++;
  return TRUE;
}

static gboolean
recall (Reader *r, guint length, GError **error)
{
  DynoPickleValue *value;
  guint64 place;

  if (!take_uint (r, length, &place, error))
    return FALSE;
  value = g_hash_table_lookup (r->memo, GSIZE_TO_POINTER (place));
  if (!value)
    return corrupt (error, "something is recalled that was not remembered");
  g_ptr_array_add (r->stack, value);
  return TRUE;
}

/* --- opcodes ---------------------------------------------------------------------------------- */

static gboolean
step_number (Reader *r, guint8 opcode, gboolean *known, GError **error)
{
  const guint8 *bytes;
  guint64 number = 0;

  switch (opcode)
    {
    case 'J': /* BININT */
      return take_uint (r, 4, &number, error)
             && push_number (r, DYNO_PICKLE_INT, (gint32) (guint32) number);
    case 'K': /* BININT1 */
    case 'M': /* BININT2 */
      return take_uint (r, opcode == 'K' ? 1 : 2, &number, error)
             && push_number (r, DYNO_PICKLE_INT, (gint64) number);
    case 0x8a: /* LONG1 */
      return push_long (r, error);
    case 'G': /* BINFLOAT */
      return take (r, 8, &bytes, error) && push_number (r, DYNO_PICKLE_FLOAT, 0);
    case 'N': /* NONE */
      return push_number (r, DYNO_PICKLE_NONE, 0);
    case 0x88: /* NEWTRUE */
    case 0x89: /* NEWFALSE */
      return push_number (r, DYNO_PICKLE_BOOL, opcode == 0x88);
    case 'X':  /* BINUNICODE */
    case 0x8c: /* SHORT_BINUNICODE */
    case 0x8d: /* BINUNICODE8 */
    case 'C':  /* SHORT_BINBYTES */
    case 'B':  /* BINBYTES */
      return push_text (r, opcode == 0x8d ? 8 : opcode == 'X' || opcode == 'B' ? 4 : 1, error);
    default:
      *known = FALSE;
      return TRUE;
    }
}

static gboolean
step_structure (Reader *r, guint8 opcode, gboolean *known, GError **error)
{
  guint64 number = 0;

  switch (opcode)
    {
    case '(': /* MARK */
      push (r, DYNO_PICKLE_MARK);
      return TRUE;
    case '}': /* EMPTY_DICT */
    case ']': /* EMPTY_LIST */
    case ')': /* EMPTY_TUPLE */
      push (r, opcode == '}'   ? DYNO_PICKLE_DICT
               : opcode == ']' ? DYNO_PICKLE_LIST
                               : DYNO_PICKLE_TUPLE);
      return TRUE;
    case 't': /* TUPLE */
      return make_marked_tuple (r, error);
    case 0x85: /* TUPLE1, TUPLE2, TUPLE3 */
    case 0x86:
    case 0x87:
      return make_tuple (r, opcode - 0x84u, error);
    case 'a': /* APPEND, APPENDS */
    case 'e':
      return extend (r, DYNO_PICKLE_LIST, opcode == 'e', 1, error);
    case 's': /* SETITEM, SETITEMS */
    case 'u':
      return extend (r, DYNO_PICKLE_DICT, opcode == 'u', 2, error);
    case 'b': /* BUILD */
      return build (r, error);
    case 'c': /* GLOBAL */
      return read_global (r, error);
    case 0x93: /* STACK_GLOBAL */
      return read_stack_global (r, error);
    case 'Q': /* BINPERSID */
      return read_persistent (r, error);
    case 'R': /* REDUCE */
      return reduce (r, error);
    case 'q': /* BINPUT, LONG_BINPUT */
    case 'r':
      return take_uint (r, opcode == 'q' ? 1 : 4, &number, error) && remember (r, number, error);
    case 0x94: /* MEMOIZE */
      return remember (r, r->n_memoized, error);
    case 'h': /* BINGET, LONG_BINGET */
    case 'j':
      return recall (r, opcode == 'h' ? 1 : 4, error);
    default:
      *known = FALSE;
      return TRUE;
    }
}

static gboolean
run (Reader *r, GError **error)
{
  const guint8 *bytes;
  guint64 number;

  for (;;)
    {
      gboolean known = TRUE;
      guint8 opcode;

      if (!take (r, 1, &bytes, error))
        return FALSE;
      opcode = *bytes;
      if (opcode == '.') /* STOP */
        return TRUE;
      if (opcode == 0x80 || opcode == 0x95) /* PROTO, FRAME */
        {
          if (!take_uint (r, opcode == 0x80 ? 1 : 8, &number, error))
            return FALSE;
          continue;
        }
      if (!step_number (r, opcode, &known, error))
        return FALSE;
      if (known)
        continue;
      known = TRUE;
      if (!step_structure (r, opcode, &known, error))
        return FALSE;
      if (!known)
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                       "its pickle has the opcode 0x%02x, which a file of plain tensors does not "
                       "need",
                       opcode);
          return FALSE;
        }
    }
}

DynoPickleValue *
dyno_pickle_read (const guint8 *bytes, gsize size, GPtrArray *values, GError **error)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  g_autoptr (GHashTable) memo = g_hash_table_new (NULL, NULL);
  Reader reader = { bytes, bytes + size, values, stack, memo, 0 };
  DynoPickleValue *value;

  if (!run (&reader, error))
    return NULL;
  value = pop (&reader);
  if (!value)
    corrupt (error, "it describes nothing");
  return value;
}
