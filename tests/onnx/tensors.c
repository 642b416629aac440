/* SPDX-License-Identifier: MIT */
/* Tensors of a model: every encoding of values in a file gives the same dense bytes, also in
 * external files; values that do not fit the shape and files outside of the folder are refused. */
#include "onnx-test.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static GByteArray *
file_of (GByteArray *tensor)
{
  GByteArray *graph = onnx_test_graph ();

  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, tensor);
  return onnx_test_file (graph);
}

/* The values of the only initialiser. */
static GBytes *
read_values (GByteArray *tensor, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = onnx_test_parse (file_of (tensor), folder, &error);
  GBytes *bytes;

  g_assert_no_error (error);
  bytes = dyno_onnx_tensor_read (model, model->initializers, &error);
  g_assert_no_error (error);
  return bytes; /* the bytes outlive the model */
}

/* --- encodings -------------------------------------------------------------------------------- */

typedef struct {
  guint type, field, bytes;
  guint64 values[2];    /* as stored in a list */
  const char *expected; /* little-endian */
} Encoding;

static const Encoding encodings[] = {
  { DYNO_ONNX_FLOAT,
    DYNO_ONNX_TENSOR_FLOATS,
    4,
    { 0x3f800000, 0xc0000000 },
    "\x00\x00\x80\x3f\x00\x00\x00\xc0" },
  { DYNO_ONNX_DOUBLE,
    DYNO_ONNX_TENSOR_DOUBLES,
    8,
    { G_GUINT64_CONSTANT (0x3ff0000000000001), G_GUINT64_CONSTANT (0xc000000000000000) },
    "\x01\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0" },
  { DYNO_ONNX_INT8, DYNO_ONNX_TENSOR_INT32S, 1, { 127, (guint64) -128 }, "\x7f\x80" },
  { DYNO_ONNX_UINT8, DYNO_ONNX_TENSOR_INT32S, 1, { 0, 255 }, "\x00\xff" },
  { DYNO_ONNX_INT16, DYNO_ONNX_TENSOR_INT32S, 2, { 0x1234, (guint64) -2 }, "\x34\x12\xfe\xff" },
  { DYNO_ONNX_UINT16, DYNO_ONNX_TENSOR_INT32S, 2, { 1, 0xffff }, "\x01\x00\xff\xff" },
  { DYNO_ONNX_INT32,
    DYNO_ONNX_TENSOR_INT32S,
    4,
    { 0x12345678, (guint64) G_MININT32 },
    "\x78\x56\x34\x12\x00\x00\x00\x80" },
  { DYNO_ONNX_BOOL, DYNO_ONNX_TENSOR_INT32S, 1, { 1, 0 }, "\x01\x00" },
  { DYNO_ONNX_FLOAT16, DYNO_ONNX_TENSOR_INT32S, 2, { 0x3c00, 0xfc01 }, "\x00\x3c\x01\xfc" },
  { DYNO_ONNX_BFLOAT16, DYNO_ONNX_TENSOR_INT32S, 2, { 0x3f80, 0xc000 }, "\x80\x3f\x00\xc0" },
  { DYNO_ONNX_INT64,
    DYNO_ONNX_TENSOR_INT64S,
    8,
    { 5, (guint64) -1 },
    "\x05\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff" },
  { DYNO_ONNX_UINT32,
    DYNO_ONNX_TENSOR_UINT64S,
    4,
    { 1, G_MAXUINT32 },
    "\x01\x00\x00\x00\xff\xff\xff\xff" },
  { DYNO_ONNX_UINT64,
    DYNO_ONNX_TENSOR_UINT64S,
    8,
    { 2, G_MAXUINT64 },
    "\x02\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff" },
};

static gboolean
is_fixed (const Encoding *e)
{
  return e->type == DYNO_ONNX_FLOAT || e->type == DYNO_ONNX_DOUBLE;
}

/* n values in a list, as one packed field or as several fields. */
static GByteArray *
typed (const Encoding *e, guint n, gboolean packed)
{
  static const gint64 dims[] = { 2, 1 };
  GByteArray *tensor = onnx_test_tensor ("w", e->type, dims, 2);

  if (packed && is_fixed (e))
    dyno_proto_bytes (tensor, e->field, e->expected, (gsize) n * e->bytes);
  else if (packed)
    dyno_proto_packed (tensor, e->field, e->values, n);
  for (guint i = 0; i < n && !packed; i++)
    if (!is_fixed (e))
      dyno_proto_uint (tensor, e->field, e->values[i]);
    else if (e->bytes == 4)
      dyno_proto_float (tensor, e->field, i == 0 ? 1 : -2);
    else
      dyno_proto_double (tensor, e->field, i == 0 ? 1.0000000000000002 : -2);
  return tensor;
}

static GByteArray *
raw (const Encoding *e, gsize size)
{
  static const gint64 dims[] = { 2, 1 };
  GByteArray *tensor = onnx_test_tensor ("w", e->type, dims, 2);

  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, e->expected, size);
  return tensor;
}

static void
test_encodings (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++)
    {
      const Encoding *e = &encodings[i];

      g_assert_cmpuint (dyno_onnx_type_get_bytes (e->type), ==, e->bytes);
      g_assert_nonnull (dyno_onnx_type_get_name (e->type));
      for (guint k = 0; k < 3; k++)
        {
          g_autoptr (GBytes) values =
              read_values (k < 2 ? typed (e, 2, k == 1) : raw (e, 2 * (gsize) e->bytes), NULL);

          g_assert_cmpmem (g_bytes_get_data (values, NULL), g_bytes_get_size (values), e->expected,
                           2 * e->bytes);
        }
    }
}

static void
test_wrong_counts (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++)
    {
      const Encoding *e = &encodings[i];
      g_autofree char *small = g_strdup_printf ("tensor “w” has %u *, its shape asks for %u",
                                                2 * e->bytes - 1, 2 * e->bytes);

      onnx_test_fails (file_of (raw (e, 2 * (gsize) e->bytes - 1)), NULL, DYNO_ONNX_ERROR_CORRUPT,
                       small);
      for (guint packed = 0; packed < 2; packed++)
        onnx_test_fails (file_of (typed (e, 1, packed)), NULL, DYNO_ONNX_ERROR_CORRUPT,
                         "tensor “w” has 1 value, its shape asks for 2");
    }
}

/* One value more than the shape has, and none. */
static void
test_more_and_none (void)
{
  GByteArray *tensor = typed (&encodings[0], 2, TRUE);

  dyno_proto_float (tensor, DYNO_ONNX_TENSOR_FLOATS, 1);
  onnx_test_fails (file_of (tensor), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "tensor “w” has 3 values, its shape asks for 2");
  onnx_test_fails (file_of (typed (&encodings[0], 0, FALSE)), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "tensor “w” has 0 bytes, its shape asks for 8");
  tensor = typed (&encodings[0], 2, TRUE);
  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, "abcdefgh", 8);
  onnx_test_fails (file_of (tensor), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "tensor “w” has its values twice");
}

static void
test_ranges (void)
{
  static const struct {
    guint type, field;
    guint64 value;
  } rows[] = {
    { DYNO_ONNX_INT8, DYNO_ONNX_TENSOR_INT32S, 128 },
    { DYNO_ONNX_INT8, DYNO_ONNX_TENSOR_INT32S, (guint64) -129 },
    { DYNO_ONNX_UINT8, DYNO_ONNX_TENSOR_INT32S, 256 },
    { DYNO_ONNX_UINT8, DYNO_ONNX_TENSOR_INT32S, (guint64) -1 },
    { DYNO_ONNX_BOOL, DYNO_ONNX_TENSOR_INT32S, 2 },
    { DYNO_ONNX_FLOAT16, DYNO_ONNX_TENSOR_INT32S, 0x10000 },
    { DYNO_ONNX_BFLOAT16, DYNO_ONNX_TENSOR_INT32S, (guint64) -1 },
    { DYNO_ONNX_INT16, DYNO_ONNX_TENSOR_INT32S, 0x8000 },
    { DYNO_ONNX_INT32, DYNO_ONNX_TENSOR_INT32S, G_GUINT64_CONSTANT (0x80000000) },
    { DYNO_ONNX_UINT32, DYNO_ONNX_TENSOR_UINT64S, G_GUINT64_CONSTANT (0x100000000) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Encoding e = { rows[i].type, rows[i].field, 0, { 0, rows[i].value }, NULL };

      onnx_test_fails (file_of (typed (&e, 2, TRUE)), NULL, DYNO_ONNX_ERROR_CORRUPT,
                       "value 1 of tensor “w” does not fit *");
    }
}

/* A list of another type, such as floats in int32_data. */
static void
test_wrong_lists (void)
{
  const Encoding e = { DYNO_ONNX_INT64, DYNO_ONNX_TENSOR_INT32S, 0, { 1, 2 }, NULL };

  onnx_test_fails (file_of (typed (&e, 2, TRUE)), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "tensor “w” is of int64, its values are in a list of another type");
}

static void
test_shapes (void)
{
  static const gint64 negative[] = { 2, -1 }, empty[] = { 3, 0 },
                      large[] = { 1ll << 40, 1ll << 40 }, product[] = { 1 << 20, 1 << 20 };
  static const gint64 many[DYNO_ONNX_MAX_DIMS + 1] = { 0 };
  GByteArray *tensor;
  g_autoptr (GBytes) none = NULL, one = NULL;
  static const guint64 packed[] = { 1, 1 };

  onnx_test_fails (file_of (onnx_test_tensor ("w", DYNO_ONNX_FLOAT, negative, 2)), NULL,
                   DYNO_ONNX_ERROR_CORRUPT, "the shape of a tensor is negative, at byte *");
  onnx_test_fails (file_of (onnx_test_tensor ("w", DYNO_ONNX_FLOAT, large, 2)), NULL,
                   DYNO_ONNX_ERROR_LIMIT, "tensor “w” is too large");
  onnx_test_fails (file_of (onnx_test_tensor ("w", DYNO_ONNX_FLOAT, product, 2)), NULL,
                   DYNO_ONNX_ERROR_LIMIT, "tensor “w” is too large");
  onnx_test_fails (file_of (onnx_test_tensor ("w", DYNO_ONNX_FLOAT, many, DYNO_ONNX_MAX_DIMS + 1)),
                   NULL, DYNO_ONNX_ERROR_LIMIT, "tensor “w” has more than 16 axes");
  none = read_values (onnx_test_tensor ("w", DYNO_ONNX_FLOAT, empty, 2), NULL);
  g_assert_cmpuint (g_bytes_get_size (none), ==, 0);
  tensor = onnx_test_tensor ("w", DYNO_ONNX_UINT8, NULL, 0);
  dyno_proto_packed (tensor, DYNO_ONNX_TENSOR_DIMS, packed, 2);
  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, "!", 1);
  one = read_values (tensor, NULL);
  g_assert_cmpuint (g_bytes_get_size (one), ==, 1);
}

static void
test_unsupported (void)
{
  GByteArray *tensor = raw (&encodings[0], 8);

  onnx_test_fails (file_of (onnx_test_tensor ("w", DYNO_ONNX_STRING, NULL, 0)), NULL,
                   DYNO_ONNX_ERROR_UNSUPPORTED,
                   "tensor “w” is of ONNX's element type 8, which is not read");
  g_assert_null (dyno_onnx_type_get_name (DYNO_ONNX_STRING));
  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_SEGMENT, "", 0);
  onnx_test_fails (file_of (tensor), NULL, DYNO_ONNX_ERROR_UNSUPPORTED,
                   "tensor “w” is in segments, which are not read");
  tensor = raw (&encodings[0], 8);
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_LOCATION, 2);
  onnx_test_fails (file_of (tensor), NULL, DYNO_ONNX_ERROR_UNSUPPORTED,
                   "the values of tensor “w” are at an unknown place");
}

/* Tensors that are valid separately, but exceed the limit together. */
static void
test_sum (void)
{
  static const gint64 dims[] = { G_GINT64_CONSTANT (1) << 35 };
  g_autofree char *folder = g_dir_make_tmp ("dyno-onnx-XXXXXX", NULL),
                  *path = g_build_filename (folder, "data", NULL);
  GByteArray *graph = onnx_test_graph ();

  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  if (truncate (path, dims[0]) == 0) /* a hole, if the file system supports it */
    {
      for (guint i = 0; i < 3; i++)
        {
          GByteArray *tensor, *pair = g_byte_array_new ();
          g_autofree char *name = g_strdup_printf ("w%u", i);

          tensor = onnx_test_tensor (name, DYNO_ONNX_UINT8, dims, 1);
          dyno_proto_string (pair, DYNO_ONNX_PAIR_KEY, "location");
          dyno_proto_string (pair, DYNO_ONNX_PAIR_VALUE, "data");
          onnx_test_add (tensor, DYNO_ONNX_TENSOR_EXTERNAL, pair);
          dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_LOCATION, 1);
          onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, tensor);
        }
      onnx_test_fails (onnx_test_file (graph), folder, DYNO_ONNX_ERROR_LIMIT,
                       "it has more than 68719476736 bytes of tensors");
    }
  else
    g_byte_array_unref (graph);
  g_unlink (path);
  g_rmdir (folder);
}

/* --- files beside the model ------------------------------------------------------------------- */

typedef struct {
  char *folder, *inside, *data, *secret, *link, *own_link;
} Files;

/* FOLDER/model/{data,link,own}, FOLDER/secret; data is "0123456789". */
static void
set_up (Files *files, gconstpointer unused)
{
  files->folder = g_dir_make_tmp ("dyno-onnx-XXXXXX", NULL);
  files->inside = g_build_filename (files->folder, "model", NULL);
  files->data = g_build_filename (files->inside, "data", NULL);
  files->link = g_build_filename (files->inside, "link", NULL);
  files->own_link = g_build_filename (files->inside, "own", NULL);
  files->secret = g_build_filename (files->folder, "model-secret", NULL);
  g_assert_cmpint (g_mkdir (files->inside, 0700), ==, 0);
  g_assert_true (g_file_set_contents (files->data, "0123456789", 10, NULL));
  g_assert_true (g_file_set_contents (files->secret, "0123456789", 10, NULL));
  g_assert_cmpint (symlink (files->secret, files->link), ==, 0);
  g_assert_cmpint (symlink ("data", files->own_link), ==, 0);
}

static void
tear_down (Files *files, gconstpointer unused)
{
  char *paths[] = { files->data, files->link, files->own_link, files->secret };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_unlink (paths[i]);
      g_free (paths[i]);
    }
  g_rmdir (files->inside);
  g_rmdir (files->folder);
  g_free (files->inside);
  g_free (files->folder);
}

static void
add_entry (GByteArray *tensor, const char *key, const char *value)
{
  GByteArray *pair = g_byte_array_new ();

  if (!value)
    {
      g_byte_array_unref (pair);
      return;
    }
  dyno_proto_string (pair, DYNO_ONNX_PAIR_KEY, key);
  dyno_proto_string (pair, DYNO_ONNX_PAIR_VALUE, value);
  onnx_test_add (tensor, DYNO_ONNX_TENSOR_EXTERNAL, pair);
}

/* Four bytes in another file; NULL: the field is missing. */
static GByteArray *
external (const char *location, const char *offset, const char *length)
{
  static const gint64 dims[] = { 4 };
  GByteArray *tensor = onnx_test_tensor ("w", DYNO_ONNX_UINT8, dims, 1);

  add_entry (tensor, "location", location);
  add_entry (tensor, "offset", offset);
  add_entry (tensor, "length", length);
  add_entry (tensor, "checksum", "0000");
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_LOCATION, 1);
  return tensor;
}

static void
test_external (Files *files, gconstpointer unused)
{
  static const struct {
    const char *location, *offset, *length, *expected;
  } rows[] = {
    { "data", "0", "4", "0123" },  { "data", NULL, "4", "0123" },  { "data", "3", "4", "3456" },
    { "data", "6", NULL, "6789" }, { "./data", "6", "4", "6789" }, { "own", "6", "4", "6789" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GBytes) values =
          read_values (external (rows[i].location, rows[i].offset, rows[i].length), files->inside);

      g_assert_cmpmem (g_bytes_get_data (values, NULL), g_bytes_get_size (values), rows[i].expected,
                       4);
    }
}

static void
test_external_sizes (Files *files, gconstpointer unused)
{
  static const struct {
    const char *offset, *length, *message;
  } rows[] = {
    { "7", "4", "tensor “w” needs 4 bytes from byte 7 of the file “data”, which ends at 10" },
    { "11", "4", "tensor “w” needs 4 bytes from byte 11 of the file “data”, which ends at 10" },
    { "9223372036854775807", "4", "tensor “w” needs 4 bytes from byte 9223372036854775807 of *" },
    { "0", "5", "tensor “w” has 5 bytes in the file “data”, its shape asks for 4" },
    { "5", NULL, "tensor “w” has 5 bytes in the file “data”, its shape asks for 4" },
    { "-1", "4", "the offset of the values of tensor “w” is “-1”, which is no size" },
    { "9223372036854775808", "4", "the offset of *, which is no size" },
    { "0", "4x", "the length of the values of tensor “w” is “4x”, which is no size" },
    { "", "4", "the offset of the values of tensor “w” is “”, which is no size" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    onnx_test_fails (file_of (external ("data", rows[i].offset, rows[i].length)), files->inside,
                     DYNO_ONNX_ERROR_CORRUPT, rows[i].message);
}

static void
test_external_paths (Files *files, gconstpointer unused)
{
  static const char *const outside[] = { "../model-secret", "..", "a/../data", "./../model/data" };
  g_autofree char *absolute = g_strdup_printf (
      "tensor “w” is in the file “%s”, which is not inside the folder of the model", files->data);

  for (guint i = 0; i < G_N_ELEMENTS (outside); i++)
    onnx_test_fails (file_of (external (outside[i], "0", "4")), files->inside,
                     DYNO_ONNX_ERROR_CORRUPT, "*which is not inside the folder of the model");
  onnx_test_fails (file_of (external (files->data, "0", "4")), files->inside,
                   DYNO_ONNX_ERROR_CORRUPT, absolute);
  onnx_test_fails (file_of (external ("link", "0", "4")), files->inside, DYNO_ONNX_ERROR_CORRUPT,
                   "tensor “w” is in the file “link”, which leads out of the folder of the model");
  onnx_test_fails (file_of (external (NULL, "0", "4")), files->inside, DYNO_ONNX_ERROR_CORRUPT,
                   "tensor “w” is in another file, which it does not name");
  onnx_test_fails (file_of (external ("none", "0", "4")), files->inside, DYNO_ONNX_ERROR_IO,
                   "the file “none” with tensor “w”: No such file or directory");
  onnx_test_fails (file_of (external ("data", "0", "4")), NULL, DYNO_ONNX_ERROR_UNSUPPORTED,
                   "the values of tensor “w” are in the file “data”; save the model in one file");
}

/* External data are in no folder and in no pipe, whose opening would block. */
static void
test_external_kinds (Files *files, gconstpointer unused)
{
  g_unlink (files->data);
  g_assert_cmpint (mkfifo (files->data, 0600), ==, 0);
  onnx_test_fails (file_of (external ("data", "0", "4")), files->inside, DYNO_ONNX_ERROR_IO,
                   "the file “data” with tensor “w”: it is no regular file");
  onnx_test_fails (file_of (external (".", "0", "4")), files->inside, DYNO_ONNX_ERROR_CORRUPT,
                   "*leads out of the folder of the model");
}

/* The file is truncated after the model was read. */
static void
test_external_cut (Files *files, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model =
      onnx_test_parse (file_of (external ("data", "0", "4")), files->inside, NULL);

  g_assert_nonnull (model);
  g_assert_true (g_file_set_contents (files->data, "01", 2, NULL));
  g_assert_null (dyno_onnx_tensor_read (model, model->initializers, &error));
  g_assert_cmpstr (error->message, ==,
                   "tensor “w” needs 4 bytes from byte 0 of the file “data”, which ends at 2");
}

/* A model that is opened by its path finds its files, whatever the working directory is. */
static void
test_external_opened (Files *files, gconstpointer unused)
{
  g_autofree char *path = g_build_filename (files->inside, "m.onnx", NULL),
                  *before = g_get_current_dir ();
  g_autoptr (GByteArray) file = file_of (external ("data", "2", "4"));
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = NULL;
  g_autoptr (GBytes) values = NULL;

  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
  g_assert_cmpint (g_chdir (files->inside), ==, 0);
  model = dyno_onnx_model_open ("m.onnx", DYNO_ONNX_READ_ALL, &error);
  g_assert_cmpint (g_chdir (before), ==, 0);
  g_unlink (path);
  g_assert_no_error (error);
  values = dyno_onnx_tensor_read (model, model->initializers, &error);
  g_assert_cmpmem (g_bytes_get_data (values, NULL), g_bytes_get_size (values), "2345", 4);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/tensors/all-encodings", test_encodings);
  g_test_add_func ("/onnx/tensors/fewer-values-than-the-shape", test_wrong_counts);
  g_test_add_func ("/onnx/tensors/more-values-than-the-shape", test_more_and_none);
  g_test_add_func ("/onnx/tensors/values-fit-their-type", test_ranges);
  g_test_add_func ("/onnx/tensors/lists-fit-their-type", test_wrong_lists);
  g_test_add_func ("/onnx/tensors/shapes", test_shapes);
  g_test_add_func ("/onnx/tensors/kinds-that-are-not-read", test_unsupported);
  g_test_add_func ("/onnx/tensors/together-too-large", test_sum);
#define ADD(name, function) \
  g_test_add ("/onnx/external/" name, Files, NULL, set_up, function, tear_down)
  ADD ("reads-ranges", test_external);
  ADD ("sizes-are-checked", test_external_sizes);
  ADD ("stays-inside-the-folder", test_external_paths);
  ADD ("is-a-regular-file", test_external_kinds);
  ADD ("cut-after-it-was-read", test_external_cut);
  ADD ("beside-the-model", test_external_opened);
  return g_test_run ();
}
