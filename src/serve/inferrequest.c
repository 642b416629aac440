/* SPDX-License-Identifier: MIT */
/* Requests for inference.  Invariant: nothing is allocated for samples before their number was
 * checked against most_bytes. */
#include "inferrequest.h"
#include "checked.h"
#include "tensorin.h"
#include <string.h>

#define WHAT         "inputs[0]"
#define MAX_ID       1024
#define NUMBER_BYTES 32 /* estimate for a number or label of an output in JSON */
#define ID_BYTES     5  /* estimate for a class id in JSON, with its separator */

/* A request that is being read. */
typedef struct {
  const DynoSignature *signature;
  DynoInferRequest *request;
  DynoTensorIn input;
  gboolean has_inputs, all_binary;
  guint n_inputs;
  DynoJsonReader outputs; /* positioned at the value of "outputs"; begin NULL: there is none */
  const guint8 *binary;   /* the bytes after the JSON */
  gsize binary_size, most_bytes;
  GByteArray *scratch;
} Intake;

void
dyno_infer_request_free (DynoInferRequest *request)
{
  if (!request)
    return;
  g_free (request->id);
  g_free (request->samples);
  g_free (request->lengths);
  g_free (request);
}

/* --- the JSON --------------------------------------------------------------------------------- */

static gboolean
read_input (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Intake *in = data;

  if (in->n_inputs++ > 0)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "inputs: the model has one input, “%s”", DYNO_SERVE_INPUT);
  return dyno_tensor_in_read (&in->input, WHAT, r, error);
}

static gboolean
read_inputs (Intake *in, DynoJsonReader *r, GError **error)
{
  if (in->has_inputs)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "inputs: it is there twice");
  in->has_inputs = TRUE;
  if (!dyno_json_read_members (r, DYNO_JSON_ARRAY, read_input, in, error))
    return FALSE;
  return in->n_inputs > 0
         || dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                               "inputs: the model has one input, “%s”", DYNO_SERVE_INPUT);
}

/* The members of the object of an output, and of its parameters. */
typedef struct {
  char *name;
  gboolean binary, has_binary;
  gint64 classification; /* 0: not requested */
} Output;

static void
output_clear (Output *output)
{
  g_free (output->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Output, output_clear)

static gboolean
read_output_parameter (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Output *output = data;

  if (strcmp (key, "binary_data") == 0)
    {
      output->has_binary = TRUE;
      return dyno_json_read_boolean (r, &output->binary, error);
    }
  return strcmp (key, "classification") == 0
             ? dyno_json_read_integer (r, &output->classification, error)
             : dyno_json_skip (r, error);
}

static gboolean
read_output_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Output *output = data;

  if (strcmp (key, "name") == 0)
    {
      g_clear_pointer (&output->name, g_free);
      return dyno_json_read_string (r, &output->name, error);
    }
  return strcmp (key, "parameters") == 0
             ? dyno_json_read_members (r, DYNO_JSON_OBJECT, read_output_parameter, output, error)
             : dyno_json_skip (r, error);
}

static gboolean
find_output (Intake *in, const Output *output, DynoOutputKind *kind, GError **error)
{
  const DynoSignature *s = in->signature;
  DynoOutputKind kinds[2];
  guint n = dyno_signature_list_outputs (s, kinds);

  for (guint i = 0; i < n && output->name; i++)
    if (strcmp (output->name, dyno_signature_name_output (s, kinds[i])) == 0)
      {
        *kind = kinds[i];
        return TRUE;
      }
  return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                            n > 1 ? "outputs[%u].name: the model's outputs are “%s” and “%s”"
                                  : "outputs[%u].name: the model's output is “%s”",
                            in->request->n_outputs, dyno_signature_name_output (s, kinds[0]),
                            dyno_signature_name_output (s, kinds[n - 1]));
}

static gboolean
add_output (Intake *in, const Output *output, GError **error)
{
  const DynoWeightsInfo *info = in->signature->info;
  guint at = in->request->n_outputs;
  DynoWantedOutput *wanted;
  DynoOutputKind kind = DYNO_OUTPUT_NUMBERS;

  if (!find_output (in, output, &kind, error))
    return FALSE;
  if (output->classification < 0
      || (output->classification > 0 && (info->is_values || kind != DYNO_OUTPUT_NUMBERS)))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "outputs[%u].parameters.classification: it is 1 or more, of the "
                              "output “probabilities” only",
                              at);
  if (output->classification > 0)
    kind = DYNO_OUTPUT_RANKED;
  for (guint i = 0; i < at; i++)
    if (in->request->outputs[i].kind == kind)
      return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                                "outputs[%u]: it is there twice", at);
  wanted = &in->request->outputs[at];
  wanted->kind = kind;
  wanted->top = (guint32) MIN (output->classification, (gint64) info->n_outputs);
  wanted->binary = output->has_binary ? output->binary : in->all_binary;
  in->request->n_outputs++;
  return TRUE;
}

static gboolean
read_output (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Intake *in = data;
  g_auto (Output) output = { 0 };

  if (!dyno_json_read_members (r, DYNO_JSON_OBJECT, read_output_member, &output, error))
    {
      g_prefix_error (error, "outputs[%u]: ", in->request->n_outputs);
      return FALSE;
    }
  return add_output (in, &output, error);
}

static gboolean
read_outputs (Intake *in, DynoJsonReader *r, GError **error)
{
  return dyno_json_read_members (r, DYNO_JSON_ARRAY, read_output, in, error);
}

static gboolean
read_parameter (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Intake *in = data;

  if (strcmp (key, "binary_data_output") == 0 ? dyno_json_read_boolean (r, &in->all_binary, error)
                                              : dyno_json_skip (r, error))
    return TRUE;
  g_prefix_error (error, "parameters.%s: ", key);
  return FALSE;
}

static gboolean
read_id (Intake *in, DynoJsonReader *r, GError **error)
{
  g_clear_pointer (&in->request->id, g_free);
  if (!dyno_json_read_string (r, &in->request->id, error))
    {
      g_prefix_error (error, "id: ");
      return FALSE;
    }
  return strlen (in->request->id) <= MAX_ID
         || dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "id: it is longer than 1 KiB");
}

/* Reads a member of the request.  Outputs are read last, since a parameter of the request may set
 * them all to binary. */
static gboolean
read_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Intake *in = data;

  if (strcmp (key, "inputs") == 0)
    return read_inputs (in, r, error);
  if (strcmp (key, "id") == 0)
    return read_id (in, r, error);
  if (strcmp (key, "parameters") == 0)
    return dyno_json_read_members (r, DYNO_JSON_OBJECT, read_parameter, in, error);
  if (strcmp (key, "outputs") == 0 && in->outputs.begin)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "outputs: it is there twice");
  if (strcmp (key, "outputs") == 0)
    in->outputs = *r;
  return dyno_json_skip (r, error);
}

static gboolean
read_json (Intake *in, const char *text, gsize size, GError **error)
{
  DynoJsonReader r;

  dyno_json_reader_init (&r, text, size, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
  if (!dyno_json_read_members (&r, DYNO_JSON_OBJECT, read_member, in, error)
      || !dyno_json_read_end (&r, error))
    return FALSE;
  if (!in->has_inputs)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "inputs: it is missing");
  return !in->outputs.begin || read_outputs (in, &in->outputs, error);
}

/* --- the samples ------------------------------------------------------------------------------ */

static gboolean
make_room (Intake *in, guint64 n, GError **error)
{
  DynoInferRequest *request = in->request;
  const DynoSignature *s = in->signature;
  guint64 each = (guint64) s->info->n_outputs * NUMBER_BYTES, size, results;

  if (s->info->of_pixels)
    each += (guint64) s->mask_width * s->mask_height * ID_BYTES;
  if (n > G_MAXINT32 || !dyno_size_mul (n, s->sample_bytes, &size)
      || !dyno_size_mul (n, each, &results) || size > in->most_bytes || results > in->most_bytes)
    return dyno_serve_refuse (
        error, DYNO_SERVE_ERROR_TOO_LARGE,
        "N is %" G_GUINT64_FORMAT
        ": the samples, or their outputs, are larger than --max-body; send fewer at a time",
        n);
  request->n = (guint32) n;
  request->size_bytes = size;
  request->samples = g_try_malloc (MAX (size, 1));
  if (in->signature->input.variable)
    request->lengths = g_try_malloc_n (n, sizeof *request->lengths);
  if (request->samples && (!in->signature->input.variable || request->lengths))
    return TRUE;
  return dyno_serve_refuse (error, DYNO_SERVE_ERROR_TOO_LARGE,
                            "there is no memory for the samples");
}

static gboolean
take_files (Intake *in, GPtrArray *files, GError **error)
{
  if (!make_room (in, files->len, error))
    return FALSE;
  for (guint i = 0; i < files->len; i++)
    {
      gsize size;
      const guint8 *file = g_bytes_get_data (g_ptr_array_index (files, i), &size);

      if (!dyno_prepare_file (
              in->signature, file, size, in->request->samples + i * in->signature->sample_bytes,
              &in->request->picture_width, &in->request->picture_height, in->scratch, error))
        {
          g_prefix_error (error, "%s.data: element %u: ", WHAT, i);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
take_bytes (Intake *in, GError **error)
{
  const DynoTensorIn *t = &in->input;
  g_autoptr (GPtrArray) files = NULL;

  if (t->n_axes != 1 || t->shape[0] < 1)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.shape: of BYTES it is [N], with 1 or more", WHAT);
  if ((guint64) t->shape[0] > in->most_bytes / in->signature->sample_bytes)
    return make_room (in, (guint64) t->shape[0], error);
  files = t->binary_bytes >= 0 ? dyno_tensor_in_split_bytes (WHAT, in->binary, in->binary_size,
                                                             (guint64) t->shape[0], error)
                               : dyno_tensor_in_read_bytes (t, WHAT, (guint64) t->shape[0], error);
  return files && take_files (in, files, error);
}

static gboolean
take_numbers (Intake *in, GError **error)
{
  const DynoSignature *s = in->signature;
  const DynoTensorIn *t = &in->input;
  guint64 elements, count, size;
  g_autofree guint8 *read = NULL;
  const guint8 *from = in->binary;

  if (!dyno_prepare_check_shape (s, WHAT, t->shape, t->n_axes, &elements, error)
      || !make_room (in, (guint64) t->shape[0], error))
    return FALSE;
  if (!dyno_size_mul (elements, (guint64) t->shape[0], &count)
      || !dyno_size_mul (count, dyno_element_size (s->input.element), &size))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.shape: the product of its sizes is too large", WHAT);
  if (t->binary_bytes >= 0 && in->binary_size != size)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s: its binary data are of size %" G_GSIZE_FORMAT
                              ", and its shape is of %" G_GUINT64_FORMAT,
                              WHAT, in->binary_size, size);
  if (t->binary_bytes < 0)
    from = read = dyno_tensor_in_read_numbers (t, WHAT, s->input.element, count, error);
  if (!from)
    return FALSE;
  for (guint32 i = 0; i < in->request->n; i++)
    if (!dyno_prepare_sample (s, t->shape, from + i * (size / in->request->n),
                              in->request->samples + i * s->sample_bytes,
                              in->request->lengths ? &in->request->lengths[i] : NULL, in->scratch,
                              error))
      return FALSE;
  return TRUE;
}

static gboolean
take_input (Intake *in, GError **error)
{
  const DynoTensorIn *t = &in->input;
  const char *own = dyno_signature_get_datatype (in->signature);

  if (!t->name || strcmp (t->name, DYNO_SERVE_INPUT) != 0)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.name: the model's input is “%s”", WHAT, DYNO_SERVE_INPUT);
  if (t->n_axes == 0)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "%s.shape: it is missing", WHAT);
  if (t->binary_bytes < 0 ? in->binary_size > 0 : (guint64) t->binary_bytes != in->binary_size)
    return dyno_serve_refuse (
        error, DYNO_SERVE_ERROR_BAD_REQUEST,
        "%s.parameters.binary_data_size: the size of what follows the JSON is %" G_GSIZE_FORMAT,
        WHAT, in->binary_size);
  if (t->datatype && strcmp (t->datatype, own) == 0)
    return take_numbers (in, error);
  if (t->datatype && strcmp (t->datatype, "BYTES") == 0 && in->signature->is_image)
    return take_bytes (in, error);
  return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "%s.datatype: it is %s%s", WHAT,
                            own, in->signature->is_image ? " or BYTES" : "");
}

/* Requests all outputs if none was named, but not the mask of an image file, which would be a long
 * list of ids. */
static void
complete_outputs (Intake *in)
{
  DynoInferRequest *request = in->request;
  DynoOutputKind kinds[2];
  guint n = dyno_signature_list_outputs (in->signature, kinds);

  if (request->n_outputs > 0)
    return;
  for (guint i = 0; i < n; i++)
    if (kinds[i] != DYNO_OUTPUT_MASK || !request->is_file)
      request->outputs[request->n_outputs++] =
          (DynoWantedOutput){ .kind = kinds[i], .binary = in->all_binary };
}

/* Whether the media type without its parameters begins with a word. */
static gboolean
is_type (const char *content_type, const char *word)
{
  return content_type && g_ascii_strncasecmp (content_type, word, strlen (word)) == 0;
}

static gboolean
read_body (Intake *in, const char *content_type, gint64 header_length, const guint8 *body,
           gsize size, GError **error)
{
  if (is_type (content_type, "image/"))
    {
      g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

      if (!in->signature->is_image)
        return dyno_serve_refuse (error, DYNO_SERVE_ERROR_MEDIA_TYPE,
                                  "the model takes no images; its input is %s",
                                  dyno_signature_get_datatype (in->signature));
      g_ptr_array_add (files, g_bytes_new_static (body, size));
      in->request->is_file = TRUE;
      return take_files (in, files, error);
    }
  if (header_length > 0 && (guint64) header_length > size)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "Inference-Header-Content-Length: it is %" G_GINT64_FORMAT
                              ", and the size of the body is %" G_GSIZE_FORMAT,
                              header_length, size);
  if (header_length >= 0)
    {
      in->binary = body + header_length;
      in->binary_size = size - (gsize) header_length;
      size = (gsize) header_length;
    }
  return read_json (in, (const char *) body, size, error) && take_input (in, error);
}

DynoInferRequest *
dyno_infer_request_new (const DynoSignature *signature, const char *content_type,
                        gint64 header_length, const guint8 *body, gsize size, gsize most_bytes,
                        GByteArray *scratch, GError **error)
{
  g_autoptr (DynoInferRequest) request = g_new0 (DynoInferRequest, 1);
  Intake in = { .signature = signature,
                .request = request,
                .input = { .binary_bytes = -1 },
                .most_bytes = most_bytes,
                .scratch = scratch };
  gboolean ok = read_body (&in, content_type, header_length, body, size, error);

  dyno_tensor_in_clear (&in.input);
  if (!ok)
    return NULL;
  complete_outputs (&in);
  return g_steal_pointer (&request);
}
