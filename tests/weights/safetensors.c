/* SPDX-License-Identifier: MIT */
/* safetensors: written files are read back; each fault of a file has its own error; a write is
 * complete or has no effect.  The pickles in PyTorch's files; weights as int8. */
#include "data-test.h"
#include "file.h"
#include "base-error.h"
#include "int8weights.h"
#include "onnxfile.h"
#include "pickle.h"
#include "safetensors.h"
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static DynoSafetensors *
parse (const char *header, gsize data_bytes, GError **error)
{
  guint64 length = GUINT64_TO_LE ((guint64) strlen (header));
  gsize size = 8 + strlen (header) + data_bytes;
  guint8 *bytes = g_malloc0 (size);

  memcpy (bytes, &length, 8);
  memcpy (bytes + 8, header, strlen (header));
  return dyno_safetensors_parse (bytes, size, error);
}

static void
test_reads_back (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = g_build_filename (folder, "w.safetensors", NULL);
  const char *const metadata[] = { "format", "pt", "note", "ü \"quoted\"\n", NULL };
  float weight[6] = { 1, 2, 3, 4, 5, 6.5f };
  guint8 flags[3] = { 7, 8, 9 };
  gint64 step = -12;
  DynoSafetensor tensors[] = {
    { .name = "flags",
      .type = DYNO_TENSOR_U8,
      .n_dims = 1,
      .shape = { 3 },
      .size_bytes = 3,
      .data = flags },
    { .name = "layer.0.weight",
      .type = DYNO_TENSOR_F32,
      .n_dims = 2,
      .shape = { 2, 3 },
      .size_bytes = 24,
      .data = weight },
    { .name = "step", .type = DYNO_TENSOR_I64, .size_bytes = 8, .data = &step },
    { .name = "none",
      .type = DYNO_TENSOR_F16,
      .n_dims = 2,
      .shape = { 0, 5 },
      .size_bytes = 0,
      .data = &step },
  };
  g_autoptr (DynoSafetensors) file = NULL;
  g_autoptr (GError) error = NULL;
  const DynoSafetensor *tensor;

  for (guint round = 0; round < 2; round++) /* the second replaces the first */
    g_assert_true (dyno_safetensors_write (path, tensors, 4, metadata, &error));
  file = dyno_safetensors_open (path, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_safetensors_get_count (file), ==, 4);
  g_assert_cmpstr (dyno_safetensors_get_metadata (file, "format"), ==, "pt");
  g_assert_cmpstr (dyno_safetensors_get_metadata (file, "note"), ==, metadata[3]);
  g_assert_null (dyno_safetensors_get_metadata (file, "nothing"));
  for (guint i = 0; i < 4; i++)
    {
      tensor = dyno_safetensors_lookup (file, tensors[i].name);
      g_assert_nonnull (tensor);
      g_assert_cmpint (tensor->type, ==, tensors[i].type);
      g_assert_cmpuint (tensor->n_dims, ==, tensors[i].n_dims);
      g_assert_cmpmem (tensor->shape, sizeof tensor->shape, tensors[i].shape, sizeof tensor->shape);
      g_assert_cmpmem (tensor->data, tensor->size_bytes, tensors[i].data, tensors[i].size_bytes);
    }
  g_assert_null (dyno_safetensors_lookup (file, "layer.0"));
  test_folder_remove (folder);
}

static void
test_each_fault_has_its_error (void)
{
  static const struct {
    const char *header;
    gsize data;
    DynoDataError code;
    const char *words;
  } cases[] = {
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"a\":{\"dtype\":\"F32\","
      "\"shape\":[2],\"data_"
      "offsets\":[0,8]}}",
      8, DYNO_DATA_ERROR_CORRUPT, "“a” twice" },
    { "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
      DYNO_DATA_ERROR_CORRUPT, "“dtype” twice" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12,
      DYNO_DATA_ERROR_CORRUPT, "hole of 4 bytes" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 12,
      DYNO_DATA_ERROR_CORRUPT, "hole: 4 bytes" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\","
      "\"shape\":[1],\"data_"
      "offsets\":[4,8]}}",
      8, DYNO_DATA_ERROR_CORRUPT, "“b” overlaps that of “a”" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7,
      DYNO_DATA_ERROR_CORRUPT, "“a” ends at byte 8|beyond the file" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8,
      DYNO_DATA_ERROR_CORRUPT, "ends before it begins" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8,
      DYNO_DATA_ERROR_CORRUPT, "needs 12 bytes|span 8" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4],\"data_offsets\":[0,8]}}", 8,
      DYNO_DATA_ERROR_TOO_LARGE, "overflows" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8,
      DYNO_DATA_ERROR_CORRUPT, "no shape" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8,
      DYNO_DATA_ERROR_CORRUPT, "no shape" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,9]}}", 8,
      DYNO_DATA_ERROR_CORRUPT, "data_offsets" },
    { "{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[8],\"data_offsets\":[0,8]}}", 8,
      DYNO_DATA_ERROR_UNSUPPORTED, "F8_E4M3" },
    { "{\"a\":{\"shape\":[8],\"data_offsets\":[0,8]}}", 8, DYNO_DATA_ERROR_CORRUPT, "no dtype" },
    { "{\"a\":3}", 0, DYNO_DATA_ERROR_CORRUPT, "not an object" },
    { "{\"__metadata__\":{\"a\":3}}", 0, DYNO_DATA_ERROR_CORRUPT, "not a string" },
    { "{\"__metadata__\":[]}", 0, DYNO_DATA_ERROR_CORRUPT, "map of strings" },
    { "[]", 0, DYNO_DATA_ERROR_CORRUPT, "not a JSON object" },
    { "{\"a\":", 0, DYNO_DATA_ERROR_CORRUPT, "not JSON" },
    { "{\"a\":[[[[[[]]]]]]}", 0, DYNO_DATA_ERROR_CORRUPT, "nested" },
    { "/* */ {}", 0, DYNO_DATA_ERROR_CORRUPT, "plain JSON" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (parse (cases[i].header, cases[i].data, &error));
      g_assert_error (error, DYNO_DATA_ERROR, (int) cases[i].code);
      test_has_words (error, cases[i].words);
    }
}

static void
test_header_length_is_checked (void)
{
  g_autofree char *folder = test_folder_new ();
  static const struct {
    const char *bytes;
    gsize size;
    DynoDataError code;
    const char *words;
  } cases[] = {
    { "\x02\0\0\0", 4, DYNO_DATA_ERROR_CORRUPT, "4 bytes" },
    { "\x09\0\0\0\0\0\0\0{}", 10, DYNO_DATA_ERROR_CORRUPT, "claims 9 bytes|has 2" },
    { "\0\xe1\xf5\x06\0\0\0\0{}", 10, DYNO_DATA_ERROR_TOO_LARGE, "116777216" },
    { "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, DYNO_DATA_ERROR_TOO_LARGE, "18446744073709551615" },
    { "# Weights\n\nOf a run.", 20, DYNO_DATA_ERROR_UNSUPPORTED, "no weights file" },
    { "# Weight", 8, DYNO_DATA_ERROR_UNSUPPORTED, "no weights file" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = test_write (folder, "x.safetensors", cases[i].bytes, cases[i].size);
      g_autoptr (GError) error = NULL;
      g_assert_null (dyno_safetensors_open (path, 0, &error));
      g_assert_error (error, DYNO_DATA_ERROR, (int) cases[i].code);
      test_has_words (error, cases[i].words);
      test_has_words (error, "x.safetensors");
    }
  test_folder_remove (folder);
}

static void
test_metadata_only_is_valid (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) file = parse ("{\"__metadata__\":{\"a\":\"b\"}}  ", 0, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (dyno_safetensors_get_count (file), ==, 0);
  g_assert_cmpuint (g_hash_table_size (dyno_safetensors_get_metadata_table (file)), ==, 1);
}

/* A file size limit ends the write early: the old file stays, no other file is left. */
static void
test_failed_write_keeps_the_old (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = g_build_filename (folder, "w.safetensors", NULL);
  g_autofree guint8 *data = g_malloc0 (1 << 20);
  DynoSafetensor small = { .name = "a",
                           .type = DYNO_TENSOR_U8,
                           .n_dims = 1,
                           .shape = { 16 },
                           .size_bytes = 16,
                           .data = data };
  DynoSafetensor large = { .name = "a",
                           .type = DYNO_TENSOR_U8,
                           .n_dims = 1,
                           .shape = { 1 << 20 },
                           .size_bytes = 1 << 20,
                           .data = data };
  g_autoptr (DynoSafetensors) file = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = NULL;
  struct rlimit old, limit;
  guint count = 0;

  g_assert_true (dyno_safetensors_write (path, &small, 1, NULL, NULL));
  dyno_file_ignore_size_signal ();
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &old), ==, 0);
  limit = old;
  limit.rlim_cur = 100000;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  g_assert_false (dyno_safetensors_write (path, &large, 1, NULL, &error));
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &old), ==, 0);
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_DISK);
  g_clear_error (&error);
  file = dyno_safetensors_open (path, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_safetensors_lookup (file, "a")->size_bytes, ==, 16);
  dir = g_dir_open (folder, 0, NULL);
  while (g_dir_read_name (dir))
    count++;
  g_assert_cmpuint (count, ==, 1);
  test_folder_remove (folder);
}

/* --- ONNX ------------------------------------------------------------------------------------- */

static void
proto (GByteArray *message, guint field, guint type, guint64 value, gconstpointer data)
{
  guint8 key = (guint8) (field << 3 | type), length[2] = { (guint8) (value & 0x7f), 0 };
  guint n = 1;

  if (value > 0x7f)
    {
      length[0] |= 0x80;
      length[n++] = (guint8) (value >> 7);
    }
  g_byte_array_append (message, &key, 1);
  g_byte_array_append (message, length, n);
  if (data)
    g_byte_array_append (message, data, (guint) value);
}

/* One initialiser (3, 2) of that type, with its values in that field; the shape is one packed field
 * or two fields. */
static GByteArray *
onnx (guint type, guint field, gsize size, gboolean packed, gboolean external)
{
  static const guint8 dims[] = { 3, 2 };
  g_autoptr (GByteArray) tensor = g_byte_array_new (), graph = g_byte_array_new ();
  GByteArray *model = g_byte_array_new ();
  g_autofree guint8 *values = g_malloc0 (size);

  for (gsize i = 0; i < size; i++)
    values[i] = (guint8) i;
  if (packed)
    proto (tensor, 1, 2, 2, dims);
  for (guint i = 0; i < 2 && !packed; i++)
    proto (tensor, 1, 0, dims[i], NULL);
  proto (tensor, 2, 0, type, NULL);
  if (external)
    proto (tensor, 14, 0, 1, NULL);
  proto (tensor, 8, 2, 9, "fc.weight");
  proto (tensor, field, 2, size, values);
  proto (graph, 2, 2, 5, "graph");
  proto (graph, 5, 2, tensor->len, tensor->data);
  proto (model, 1, 0, 8, NULL);
  proto (model, 2, 2, 7, "somebod");
  proto (model, 7, 2, graph->len, graph->data);
  return model;
}

static DynoSafetensors *
parse_onnx (GByteArray *model, gsize size, GError **error)
{
  return dyno_onnx_file_parse (g_memdup2 (model->data, size), size, NULL, error);
}

static void
test_onnx (void)
{
  static const struct {
    guint type, field;
    gsize size;
    DynoTensorType read;
  } rows[] = { { 1, 9, 24, DYNO_TENSOR_F32 },
               { 1, 4, 24, DYNO_TENSOR_F32 },
               { 10, 9, 12, DYNO_TENSOR_F16 },
               { 11, 9, 48, DYNO_TENSOR_F64 },
               { 16, 9, 12, DYNO_TENSOR_BF16 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GByteArray) model =
          onnx (rows[i / 2].type, rows[i / 2].field, rows[i / 2].size, i % 2, FALSE);
      g_autoptr (DynoSafetensors) file = parse_onnx (model, model->len, &error);
      const DynoSafetensor *tensor;

      g_assert_no_error (error);
      g_assert_true (dyno_onnx_file_matches (model->data, model->len));
      tensor = dyno_safetensors_lookup (file, "fc.weight");
      g_assert_true (tensor && tensor->type == rows[i / 2].read && tensor->n_dims == 2);
      g_assert_true (tensor->shape[0] == 3 && tensor->shape[1] == 2);
      g_assert_cmpuint (tensor->size_bytes, ==, rows[i / 2].size);
      for (gsize b = 0; b < tensor->size_bytes; b++)
        g_assert_cmpuint (((const guint8 *) tensor->data)[b], ==, b);
    }
}

/* Values as a list of numbers, each a byte here; 16-bit floats are stored as their bits. */
static void
test_onnx_lists (void)
{
  static const guint8 bits[] = { 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) halves = onnx (10, 5, 6, TRUE, FALSE), axes = onnx (7, 7, 6, TRUE, FALSE);
  g_autoptr (DynoSafetensors) file = parse_onnx (halves, halves->len, &error);
  const DynoSafetensor *tensor;

  g_assert_no_error (error);
  tensor = dyno_safetensors_lookup (file, "fc.weight");
  g_assert_true (tensor && tensor->type == DYNO_TENSOR_F16);
  g_assert_cmpmem (tensor->data, tensor->size_bytes, bits, sizeof bits);
  /* Tensors of int64 are shapes and axes, and the file has no others. */
  g_assert_null (parse_onnx (axes, axes->len, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
}

/* Nodes of other producers are not examined, and neither are tensors that are no weights, though
 * their values are in other files. */
static void
test_onnx_foreign (void)
{
  g_autoptr (GByteArray) model = g_byte_array_new (), graph = g_byte_array_new (),
                         texts = g_byte_array_new (), outside = g_byte_array_new (),
                         weight = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) file = NULL;

  proto (graph, 1, 2, 3, "\xff\xff\xff");
  proto (texts, 2, 0, 8, NULL);
  proto (texts, 8, 2, 1, "t");
  proto (graph, 5, 2, texts->len, texts->data);
  proto (outside, 1, 0, 100, NULL);
  proto (outside, 2, 0, 6, NULL);
  proto (outside, 14, 0, 1, NULL);
  proto (outside, 8, 2, 1, "o");
  proto (graph, 5, 2, outside->len, outside->data);
  proto (weight, 2, 0, 1, NULL);
  proto (weight, 8, 2, 1, "w");
  proto (weight, 9, 2, 4, "abcd");
  proto (graph, 5, 2, weight->len, weight->data);
  proto (model, 1, 0, 8, NULL);
  proto (model, 7, 2, graph->len, graph->data);
  file = parse_onnx (model, model->len, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_safetensors_get_count (file), ==, 1);
  g_assert_nonnull (dyno_safetensors_lookup (file, "w"));
}

static void
assert_onnx_fails (GByteArray *model, gsize size, DynoDataError code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (parse_onnx (model, size, &error));
  g_assert_error (error, DYNO_DATA_ERROR, (gint) code);
}

static void
test_broken_onnx (void)
{
  g_autoptr (GByteArray) whole = onnx (1, 9, 24, FALSE, FALSE),
                         small = onnx (1, 9, 20, FALSE, FALSE),
                         outside = onnx (1, 9, 24, FALSE, TRUE);

  for (gsize size = 0; size < whole->len; size++) /* the file has only one tensor */
    assert_onnx_fails (whole, size, DYNO_DATA_ERROR_CORRUPT);
  assert_onnx_fails (small, small->len, DYNO_DATA_ERROR_CORRUPT);
  assert_onnx_fails (outside, outside->len, DYNO_DATA_ERROR_UNSUPPORTED);
}

/* The metadata of Dyno's export describe the weights; keys of another producer have other
 * meanings. */
static void
test_onnx_metadata (void)
{
  static const char *const producers[] = { "pytorch", "Dyno", "Dyn", "" };

  for (guint i = 0; i < G_N_ELEMENTS (producers); i++)
    {
      g_autoptr (GByteArray) model = onnx (1, 9, 24, FALSE, FALSE), pair = g_byte_array_new ();
      g_autoptr (GError) error = NULL;

      proto (pair, 2, 2, 5, "1/255");
      proto (pair, 1, 2, 11, "input.scale");
      proto (model, 14, 2, pair->len, pair->data);
      proto (model, 2, 2, strlen (producers[i]), producers[i]); /* the last one counts */
      g_autoptr (DynoSafetensors) file = parse_onnx (model, model->len, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (dyno_safetensors_get_metadata (file, "input.scale"), ==,
                       i == 1 ? "1/255" : NULL);
      pair->data[3] = 0xff;
      proto (model, 14, 2, pair->len, pair->data);
      assert_onnx_fails (model, model->len, DYNO_DATA_ERROR_CORRUPT);
      proto (model, 14, 2, 1, "\x0a"); /* a key without its length */
      assert_onnx_fails (model, model->len, DYNO_DATA_ERROR_CORRUPT);
    }
}

/* --- pickles ---------------------------------------------------------------------------------- */

static void
describe (GString *text, const DynoPickleValue *value)
{
  static const char *const around[] = {
    [DYNO_PICKLE_TUPLE] = "()", [DYNO_PICKLE_LIST] = "[]", [DYNO_PICKLE_DICT] = "{}"
  };

  switch (value->kind)
    {
    case DYNO_PICKLE_NONE:
      g_string_append (text, "None");
      break;
    case DYNO_PICKLE_BOOL:
      g_string_append (text, value->number ? "True" : "False");
      break;
    case DYNO_PICKLE_INT:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, value->number);
      break;
    case DYNO_PICKLE_FLOAT:
      g_string_append (text, "float");
      break;
    case DYNO_PICKLE_STRING:
      g_string_append_printf (text, "'%s'", value->text);
      break;
    case DYNO_PICKLE_TUPLE:
    case DYNO_PICKLE_LIST:
    case DYNO_PICKLE_DICT:
      g_string_append_c (text, around[value->kind][0]);
      for (guint i = 0; i < value->items->len; i++)
        {
          g_string_append (text, i > 0 ? " " : "");
          describe (text, g_ptr_array_index (value->items, i));
        }
      g_string_append_c (text, around[value->kind][1]);
      break;
    case DYNO_PICKLE_NAME:
      g_string_append_printf (text, "name %d", (int) value->name);
      break;
    case DYNO_PICKLE_STORAGE:
      g_string_append_printf (text, "storage %s of %" G_GINT64_FORMAT " type %d", value->text,
                              value->number, (int) value->type);
      break;
    case DYNO_PICKLE_TENSOR:
      g_string_append_printf (text, "tensor at %" G_GINT64_FORMAT " of ", value->number);
      describe (text, value->storage);
      for (guint i = 0; i < value->n_dims; i++)
        g_string_append_printf (text, " %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, value->shape[i],
                                value->stride[i]);
      break;
    case DYNO_PICKLE_MARK:
    default:
      g_assert_not_reached ();
    }
}

/* The value of a pickle in words, or the error. */
static char *
read_pickle (const char *bytes, gsize size)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (dyno_pickle_value_free);
  g_autoptr (GError) error = NULL;
  /* A copy of this size, in which a sanitizer sees a byte read past the end. */
  g_autofree guint8 *copy = g_memdup2 (bytes, size);
  const DynoPickleValue *value = dyno_pickle_read (copy, size, values, &error);
  GString *text = g_string_new (NULL);

  if (value)
    describe (text, value);
  else
    g_string_append (text, error->message);
  return g_string_free (text, FALSE);
}

typedef struct {
  const char *bytes;
  gsize size;
  const char *words;
} Pickle;
#define PICKLE(bytes, words)         \
  {                                  \
    bytes, sizeof (bytes) - 1, words \
  }

/* "storage", its type, key, place and six elements. */
#define STORAGE                             \
  "(X\x07\0\0\0storage"                     \
  "ctorch\nHalfStorage\n\x8c\x02k1\x8c\x03" \
  "cpuK\x06tQ"
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"

static void
check_pickles (const Pickle *rows, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *words = read_pickle (rows[i].bytes, rows[i].size);

      g_assert_cmpstr (words, ==, rows[i].words);
    }
}

static void
test_pickles (void)
{
  static const Pickle rows[] = {
    PICKLE ("\x80\x02(J\xff\xff\xff\xffJ\xfe\xff\xff\x7fK\xffM\x01\x02t.",
            "(-1 2147483646 255 513)"),
    PICKLE ("(\x8a\0\x8a\1\x7f\x8a\1\x80\x8a\2\x00\xff\x8a\2\xff\x00\x8a\x08\1\2\3\4\5\6\7\x80t.",
            "(0 127 -128 -256 255 -9221395093405892095)"),
    PICKLE ("(G\0\0\0\0\0\0\0\0N\x88\x89t.", "(float None True False)"),
    PICKLE (
        "\x95\0\0\0\0\0\0\0\0(X\2\0\0\0ab\x8c\1c\x8d\3\0\0\0\0\0\0\0defC\1gB\2\0\0\0hiX\0\0\0\0t.",
        "('ab' 'c' 'def' 'g' 'hi' '')"),
    PICKLE ("(K\1\x85K\2K\3\x86K\4K\5K\6\x87)((tK\7tt.", "((1) (2 3) (4 5 6) () (() 7))"),
    PICKLE ("](K\1K\2eK\3a.", "[1 2 3]"),
    PICKLE ("}(K\1K\2K\3K\4uK\5K\6s.", "{1 2 3 4 5 6}"),
    PICKLE ("}(u}b.", "{}"),
    /* A second value at a place replaces the first; MEMOIZE counts what was remembered. */
    PICKLE ("(K\1q\0K\2q\0K\3\x94K\4r\1\1\0\0h\0h\2j\1\1\0\0t.", "(1 2 3 4 2 3 4)"),
    PICKLE ("\x8c\5torch\x8c\4Size\x93K\2K\3\x86\x85R.", "(2 3)"),
    PICKLE ("ccollections\nOrderedDict\n)R.", "{}"),
    PICKLE (STORAGE ".", "storage k1 of 6 type 5"),
    PICKLE (REBUILD "(" STORAGE "K\1K\2K\3\x86K\4K\1\x86\x89"
                    "ccollections\nOrderedDict\n)RtR.",
            "tensor at 1 of storage k1 of 6 type 5 2/4 3/1"),
    PICKLE ("ctorch._utils\n_rebuild_parameter\n(" REBUILD "(" STORAGE "K\0))tR\x88tR}b.",
            "tensor at 0 of storage k1 of 6 type 5"),
  };

  check_pickles (rows, G_N_ELEMENTS (rows));
}

/* Each type of storage has the type of its own elements. */
static void
test_pickled_types (void)
{
  static const struct {
    const char *name;
    DynoTensorType type;
  } rows[] = { { "Float", DYNO_TENSOR_F32 }, { "Double", DYNO_TENSOR_F64 },
               { "Half", DYNO_TENSOR_F16 },  { "BFloat16", DYNO_TENSOR_BF16 },
               { "Long", DYNO_TENSOR_I64 },  { "Int", DYNO_TENSOR_I32 },
               { "Short", DYNO_TENSOR_I16 }, { "Char", DYNO_TENSOR_I8 },
               { "Byte", DYNO_TENSOR_U8 },   { "Bool", DYNO_TENSOR_BOOL } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (dyno_pickle_value_free);
      g_autofree char *bytes = g_strdup_printf ("ctorch\n%sStorage\n.", rows[i].name);
      const DynoPickleValue *value =
          dyno_pickle_read ((const guint8 *) bytes, strlen (bytes), values, NULL);

      g_assert_nonnull (value);
      g_assert_cmpint (value->name, ==, DYNO_PICKLE_STORAGE_TYPE);
      g_assert_cmpint (value->type, ==, rows[i].type);
    }
}

static void
test_broken_pickles (void)
{
#define DAMAGED "its pickle is damaged: "
  static const Pickle rows[] = {
    PICKLE ("", DAMAGED "it ends early"),
    PICKLE (".", DAMAGED "it describes nothing"),
    PICKLE ("(.", DAMAGED "it describes nothing"),
    PICKLE ("K", DAMAGED "it ends early"),
    PICKLE ("M\1", DAMAGED "it ends early"),
    PICKLE ("K\1", DAMAGED "it ends early"),
    PICKLE ("X\2\0\0\0a", DAMAGED "it ends early"),
    PICKLE ("X\xff\xff\xff\x7f", DAMAGED "it ends early"),
    PICKLE ("X\0\0\0\x80", DAMAGED "a string is too long"),
    PICKLE ("\x8a\x09........\1.", DAMAGED "a number is too large"),
    PICKLE ("K\1t.", DAMAGED "a tuple has no mark"),
    PICKLE ("K\1\x86.", DAMAGED "a tuple has too few values"),
    PICKLE ("K\1(\x85.", DAMAGED "a tuple has too few values"),
    PICKLE ("]e.", DAMAGED "what is added has no mark"),
    PICKLE ("(a.", DAMAGED "what is added is missing"),
    PICKLE ("]a.", DAMAGED "what is added to is no list or dict"),
    PICKLE ("}(K\1u.", DAMAGED "what is added to is no list or dict"),
    PICKLE ("}K\1a.", DAMAGED "what is added to is no list or dict"),
    PICKLE ("]K\1K\2s.", DAMAGED "what is added to is no list or dict"),
    PICKLE ("K\1b.", DAMAGED "something has attributes that is no dict"),
    PICKLE ("]}b.", DAMAGED "something has attributes that is no dict"),
    PICKLE ("q\0.", DAMAGED "nothing is there to be remembered"),
    PICKLE ("(\x94.", DAMAGED "nothing is there to be remembered"),
    PICKLE ("K\1q\0h\1.", DAMAGED "something is recalled that was not remembered"),
    PICKLE ("cos", DAMAGED "a name has no end"),
    PICKLE ("cos\nsystem", DAMAGED "a name has no end"),
    PICKLE ("\x8c\1aK\1\x93.", DAMAGED "a name is no string"),
    PICKLE ("\x8c\1a\x93.", DAMAGED "a name is no string"),
    PICKLE (")Q.", DAMAGED "a storage has no type, key and length"),
    PICKLE ("]Q.", DAMAGED "a storage is named by no tuple"),
    PICKLE ("(\x8c\7storagectorch\nSize\n\x8c\1k\x8c\3cpuK\1tQ.",
            DAMAGED "a storage has no type, key and length"),
    PICKLE ("(\x8c\7storagectorch\nByteStorage\n\x8c\1k\x8c\3cpuJ\xff\xff\xff\xfftQ.",
            DAMAGED "a storage has no type, key and length"),
    PICKLE ("(\x8c\6bufferctorch\nByteStorage\n\x8c\1k\x8c\3cpuK\1tQ.",
            DAMAGED "a storage has no type, key and length"),
    PICKLE ("K\1)R.", DAMAGED "something is called that is no name"),
    PICKLE ("ctorch\nSize\n]R.", DAMAGED "something is called that is no name"),
    PICKLE ("ctorch\nSize\n)R.", DAMAGED "a name is called with what it does not take"),
    PICKLE ("ctorch\nByteStorage\n)R.", DAMAGED "a name is called with what it does not take"),
    PICKLE ("ccollections\nOrderedDict\nK\1\x85R.",
            DAMAGED "an OrderedDict begins with something in it"),
    PICKLE (REBUILD "(" STORAGE "K\1K\2K\3\x86K\4\x85tR.",
            DAMAGED "a tensor has no storage, shape and stride"),
    PICKLE (REBUILD "(" STORAGE "J\xff\xff\xff\xff))tR.",
            DAMAGED "a tensor has no storage, shape and stride"),
    PICKLE (REBUILD "(" STORAGE "K\0J\xff\xff\xff\xff\x85K\1\x85tR.",
            DAMAGED "a tensor has no storage, shape and stride"),
    PICKLE (REBUILD "(K\0K\0))tR.", DAMAGED "a tensor has no storage, shape and stride"),
    PICKLE ("0.", "its pickle has the opcode 0x30, which a file of plain tensors does not need"),
    PICKLE (
        "cos\nsystem\n.",
        "it asks for “os.system”, which a file of plain tensors does not need: nothing of it was "
        "run; save only the state_dict, by torch.save (model.state_dict (), ...)"),
    PICKLE ("ctorch\nOrderedDict\n.",
            "it asks for “torch.OrderedDict”, which a file of plain tensors does not need: nothing "
            "of it was run; save only the state_dict, by torch.save (model.state_dict (), ...)"),
  };

  check_pickles (rows, G_N_ELEMENTS (rows));
}

/* --- int8 ------------------------------------------------------------------------------------- */

/* Each row has a scale of its own, by its largest value of either sign; a row of zeros has none. */
static void
test_int8 (void)
{
  static const float values[] = { -254, 2, 127, 0, 0, 0, 0.25f, 1.27f, -1.27f };
  static const gint8 expected[] = { -127, 1, 64, 0, 0, 0, 25, 127, -127 };
  static const float bad[] = { -1, (float) NAN, (float) INFINITY };
  gint8 q[9];
  float scales[3], restored[9];

  dyno_int8_quantise (values, 3, 3, q, scales);
  g_assert_cmpmem (q, sizeof q, expected, sizeof expected);
  g_assert_true (scales[0] == 2 && scales[1] == 0 && scales[2] == 1.27f / 127);
  g_assert_true (dyno_int8_restore (q, scales, 3, 3, restored));
  for (guint i = 0; i < 9; i++)
    g_assert_true (restored[i] == (float) expected[i] * scales[i / 3]);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      scales[2] = bad[i];
      g_assert_false (dyno_int8_restore (q, scales, 3, 3, restored));
    }
  g_assert_true (dyno_int8_applies (&(DynoParameter){ .n_dims = 2 }));
  g_assert_false (dyno_int8_applies (&(DynoParameter){ .n_dims = 1 }));
  g_assert_false (dyno_int8_applies (&(DynoParameter){ .n_dims = 2, .is_state = TRUE }));
}

/* The scale of denormals is rounded, and no value leaves the range. */
static void
test_int8_of_denormals (void)
{
  float values[2] = { 190 * 0x1p-149f, -190 * 0x1p-149f }, scale;
  gint8 q[2];

  dyno_int8_quantise (values, 1, 2, q, &scale);
  g_assert_true (scale == 0x1p-149f);
  g_assert_true (q[0] == 127 && q[1] == -127);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/safetensors/reads-back", test_reads_back);
  g_test_add_func ("/weights/safetensors/each-fault-has-its-error", test_each_fault_has_its_error);
  g_test_add_func ("/weights/safetensors/header-length-is-checked", test_header_length_is_checked);
  g_test_add_func ("/weights/safetensors/metadata-only-is-valid", test_metadata_only_is_valid);
  g_test_add_func ("/weights/safetensors/failed-write-keeps-the-old",
                   test_failed_write_keeps_the_old);
  g_test_add_func ("/weights/onnx/reads-initialisers", test_onnx);
  g_test_add_func ("/weights/onnx/reads-values-in-lists", test_onnx_lists);
  g_test_add_func ("/weights/onnx/passes-over-foreign-parts", test_onnx_foreign);
  g_test_add_func ("/weights/onnx/metadata-of-own-files", test_onnx_metadata);
  g_test_add_func ("/weights/onnx/broken-is-an-error", test_broken_onnx);
  g_test_add_func ("/weights/pickle/every-kind", test_pickles);
  g_test_add_func ("/weights/pickle/types-of-storages", test_pickled_types);
  g_test_add_func ("/weights/pickle/each-fault-has-its-error", test_broken_pickles);
  g_test_add_func ("/weights/int8/rows-have-their-scale", test_int8);
  g_test_add_func ("/weights/int8/denormals-stay-in-range", test_int8_of_denormals);
  return g_test_run ();
}
