/* SPDX-License-Identifier: MIT */
/* Preparation of samples.  A decoded picture may take 4 bytes of each of 120 million pixels: from
 * LARGE_PIXELS on only one is decoded at a time, whatever the number of threads. */
#include "prepare.h"
#include "checked.h"
#include "datafile.h"
#include "image.h"
#include "resize.h"
#include <string.h>

#define LARGE_PIXELS (16u * 1000 * 1000)
#define KEPT_SCRATCH (16u << 20) /* most bytes that a thread keeps between calls */

static GMutex large_mutex;

static gboolean
refuse_picture (GError *problem, GError **error)
{
  DynoServeError code = problem->code == DYNO_DATA_ERROR_TOO_LARGE ? DYNO_SERVE_ERROR_TOO_LARGE
                                                                   : DYNO_SERVE_ERROR_BAD_REQUEST;

  dyno_serve_refuse (error, code, "the image cannot be read: %s", problem->message);
  g_error_free (problem);
  return FALSE;
}

/* Copies RGB pixels of the network's size; for a network with one channel converts them to luma. */
static void
take_colours (const DynoSignature *s, const guint8 *rgb, guint8 *out)
{
  gsize pixels = (gsize) s->input.shape[0] * s->input.shape[1];

  if (s->input.shape[2] == 1)
    dyno_image_take_luma (rgb, pixels, out);
  else
    memcpy (out, rgb, 3 * pixels);
}

static void
trim (GByteArray *scratch)
{
  if (scratch->len <= KEPT_SCRATCH)
    return;
  g_free (g_byte_array_steal (scratch, NULL));
}

gboolean
dyno_prepare_file (const DynoSignature *s, const guint8 *file, gsize size, guint8 *out,
                   guint32 *picture_width, guint32 *picture_height, GByteArray *scratch,
                   GError **error)
{
  g_autofree guint8 *rgb = NULL;
  DynoImageFacts facts;
  GError *problem = NULL;
  gboolean large, ok;

  if (!dyno_image_probe (file, size, &facts, &problem)
      || !dyno_datafile_reserve (scratch, size, &problem))
    return refuse_picture (problem, error);
  dyno_image_get_shown (&facts, picture_width, picture_height);
  rgb = g_try_malloc_n ((gsize) s->input.shape[0] * s->input.shape[1], 3);
  if (!rgb)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_TOO_LARGE, "there is no memory for an image");
  large = (guint64) facts.width * facts.height > LARGE_PIXELS;
  if (large)
    g_mutex_lock (&large_mutex);
  memcpy (scratch->data, file, size);
  ok = dyno_image_decode (scratch, size, s->input.shape[1], s->input.shape[0], rgb, &problem);
  trim (scratch);
  if (large)
    g_mutex_unlock (&large_mutex);
  if (!ok)
    return refuse_picture (problem, error);
  take_colours (s, rgb, out);
  return TRUE;
}

static char *
describe_shape (const DynoSignature *s)
{
  GString *text = g_string_new ("[N");

  for (guint i = 0; i < s->input.n_axes; i++)
    if (s->is_image && i < 2)
      g_string_append (text, i == 0 ? ", height" : ", width");
    else if (s->input.variable && i == 0)
      g_string_append_printf (text, ", 1 to %u", s->input.shape[0]);
    else
      g_string_append_printf (text, ", %u%s", s->input.shape[i], s->is_image ? " (or 1, 3)" : "");
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

static gboolean
axis_fits (const DynoSignature *s, guint axis, gint64 length)
{
  if (s->is_image)
    return axis < 2 ? length <= DYNO_IMAGE_MAX_SIDE : length == 3 || length == 1;
  if (s->input.variable && axis == 0)
    return length <= (gint64) s->input.shape[0];
  return length == (gint64) s->input.shape[axis];
}

gboolean
dyno_prepare_check_shape (const DynoSignature *s, const char *what, const gint64 *shape,
                          guint n_axes, guint64 *elements, GError **error)
{
  g_autofree char *wanted = NULL;
  guint64 count = 1;
  gboolean fits = n_axes == 1 + s->input.n_axes && shape[0] >= 1;

  for (guint i = 1; i < n_axes && fits; i++)
    fits = shape[i] >= 1 && axis_fits (s, i - 1, shape[i])
           && dyno_size_mul (count, (guint64) shape[i], &count);
  if (!fits)
    {
      wanted = describe_shape (s);
      return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                                "%s.shape: it is %s with sizes of 1 or more", what, wanted);
    }
  if (s->is_image && (guint64) shape[1] * (guint64) shape[2] > DYNO_IMAGE_MAX_PIXELS)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_TOO_LARGE,
                              "%s.shape: a picture has at most %" G_GUINT64_FORMAT " pixels", what,
                              DYNO_IMAGE_MAX_PIXELS);
  *elements = count;
  return TRUE;
}

/* A grey picture is converted to RGB, as in a grey image file. */
static gboolean
prepare_picture (const DynoSignature *s, const gint64 *shape, const guint8 *source, guint8 *out,
                 GByteArray *scratch, GError **error)
{
  guint32 height = (guint32) shape[1], width = (guint32) shape[2], channels = (guint32) shape[3];
  guint32 to_height = s->input.shape[0], to_width = s->input.shape[1];
  guint64 pixels = (guint64) to_height * to_width, scaled_at, working_at;
  GError *problem = NULL;
  guint8 *scaled;

  scaled_at = 3 * pixels;
  working_at = (scaled_at + channels * pixels + 63) & ~(guint64) 63;
  if (!dyno_datafile_reserve (
          scratch,
          working_at + dyno_resize_scratch_bytes (width, height, channels, to_width, to_height),
          &problem))
    return refuse_picture (problem, error);
  scaled = scratch->data + scaled_at;
  dyno_resize_cover (source, width, height, channels, to_width, to_height, scaled,
                     scratch->data + working_at);
  if (channels == s->input.shape[2])
    memcpy (out, scaled, channels * pixels);
  else if (channels == 3)
    dyno_image_take_luma (scaled, pixels, out);
  else
    for (guint64 i = 0; i < pixels; i++)
      memset (out + 3 * i, scaled[i], 3);
  trim (scratch);
  return TRUE;
}

gboolean
dyno_prepare_sample (const DynoSignature *s, const gint64 *shape, const guint8 *source, guint8 *out,
                     gint32 *length, GByteArray *scratch, GError **error)
{
  gsize size = s->sample_bytes;

  if (s->is_image
      && (shape[1] != (gint64) s->input.shape[0] || shape[2] != (gint64) s->input.shape[1]
          || shape[3] != (gint64) s->input.shape[2]))
    return prepare_picture (s, shape, source, out, scratch, error);
  if (s->input.variable)
    {
      *length = (gint32) shape[1];
      size = size / s->input.shape[0] * (gsize) shape[1];
    }
  memcpy (out, source, size);
  if (s->input.variable)
    dyno_field_pad (&s->input, out, (guint32) shape[1]);
  return TRUE;
}
