/* SPDX-License-Identifier: MIT */
/* safetensors: written files are read back; each fault of a file has its own error; a write is
 * complete or has no effect. */
#include "data-test.h"
#include "file.h"
#include "base-error.h"
#include "onnxfile.h"
#include "safetensors.h"
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
  return g_test_run ();
}
