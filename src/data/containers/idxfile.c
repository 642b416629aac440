/* SPDX-License-Identifier: MIT */
/* Reads one IDX file.  The header is checked before anything is allocated: a plain file must have
 * exactly the size that its header gives, a gzip file must be large enough to inflate to it
 * (deflate compresses at most 1032 to 1; for large content only the far lower ratio of images is
 * accepted), and no byte past that size is inflated. */
#include "idxfile.h"
#include "checked.h"
#include "datafile.h"
#include "text.h"
#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_BYTES     (G_GUINT64_CONSTANT (1) << 36)
#define MAX_SIDE      65535
#define DEFLATE_RATIO 1032
#define DEFLATE_SLACK 1024
#define PICTURE_RATIO 128 /* MNIST has a ratio of 5; almost white pages have some tens */
#define LARGE_BYTES   (G_GUINT64_CONSTANT (256) << 20) /* smaller content may have any ratio */

static guint32
read_be32 (const guint8 *bytes)
{
  return (guint32) bytes[0] << 24 | (guint32) bytes[1] << 16 | (guint32) bytes[2] << 8 | bytes[3];
}

gboolean
dyno_idx_parse_header (const guint8 *bytes, gsize size, const char *name, DynoIdxHeader *header,
                       GError **error)
{
  guint64 product = 1;

  if (size < 8 || bytes[0] != 0 || bytes[1] != 0 || bytes[3] == 0)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   "“%s” is not an IDX file: its header is missing", name);
      return FALSE;
    }
  if (bytes[2] != 0x08 || bytes[3] > 3)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   "“%s” is IDX of element type 0x%02x with %u %s; Dyno reads unsigned "
                   "bytes (0x08) with 1 to 3",
                   name, bytes[2], bytes[3], dyno_plural (bytes[3], "dimension", "dimensions"));
      return FALSE;
    }
  header->n_dims = bytes[3];
  if (size < 4 + 4 * (gsize) header->n_dims)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   "“%s” ends inside its header of %u bytes", name, 4 + 4 * header->n_dims);
      return FALSE;
    }
  for (guint i = 0; i < 3; i++)
    header->shape[i] = i < header->n_dims ? read_be32 (bytes + 4 + 4 * i) : 1;
  for (guint i = 0; i < 3; i++)
    if ((i > 0 && (header->shape[i] == 0 || header->shape[i] > MAX_SIDE))
        || !dyno_size_mul (product, header->shape[i], &product) || product > MAX_BYTES)
      {
        g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                     "“%s”: a shape of %u × %u × %u is outside of what an IDX data set may have",
                     name, header->shape[0], header->shape[1], header->shape[2]);
        return FALSE;
      }
  header->n_bytes = product;
  return TRUE;
}

static guint64
gz_read_all (gzFile file, guint8 *buffer, guint64 size)
{
  guint64 have = 0;
  while (have < size)
    {
      int n = gzread (file, buffer + have, (unsigned) MIN (size - have, (guint64) 1 << 24));
      if (n <= 0)
        break;
      have += (guint64) n;
    }
  return have;
}

static guint8 *
read_content (gzFile file, const char *name, guint64 file_size, DynoIdxHeader *header,
              GError **error)
{
  guint8 bytes[DYNO_IDX_HEADER_MAX], extra;
  g_autofree guint8 *content = NULL;
  guint64 n = gz_read_all (file, bytes, 8), have, holds;
  gboolean plain = gzdirect (file);

  if (n == 8 && bytes[2] == 0x08 && bytes[3] > 1 && bytes[3] <= 3)
    n += gz_read_all (file, bytes + 8, 4 * ((guint64) bytes[3] - 1));
  if (!dyno_idx_parse_header (bytes, n, name, header, error))
    return NULL;
  holds = plain ? file_size - MIN (n, file_size) : file_size * DEFLATE_RATIO + DEFLATE_SLACK;
  if (plain ? holds != header->n_bytes : holds < header->n_bytes)
    {
      guint64 record = MAX (header->n_bytes / MAX (header->shape[0], 1), 1);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   "“%s”: the header promises %u %s of %" G_GUINT64_FORMAT
                   " %s, the file %s %" G_GUINT64_FORMAT " %s; get the file again",
                   name, header->shape[0], dyno_plural (header->shape[0], "record", "records"),
                   record, dyno_plural (record, "byte", "bytes"),
                   plain ? "has" : "cannot have more than", holds / record,
                   dyno_plural (holds / record, "record", "records"));
      return NULL;
    }
  if (!plain && header->n_bytes > LARGE_BYTES && header->n_bytes / PICTURE_RATIO > file_size)
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
          "“%s”: the header promises %" G_GUINT64_FORMAT
          " MB out of a gzip file of %" G_GUINT64_FORMAT " MB, %" G_GUINT64_FORMAT
          " times as much; images do not compress that well, decompress the file first if these do",
          name, header->n_bytes >> 20, file_size >> 20, header->n_bytes / MAX (file_size, 1));
      return NULL;
    }
  content = g_try_malloc (MAX (header->n_bytes, 1));
  if (!content)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                   "“%s”: no memory for its %" G_GUINT64_FORMAT " MB", name, header->n_bytes >> 20);
      return NULL;
    }
  have = gz_read_all (file, content, header->n_bytes);
  if (have != header->n_bytes || gzread (file, &extra, 1) != 0)
    {
      int code = Z_OK;
      const char *reason = gzerror (file, &code);
      guint64 record = MAX (header->n_bytes / MAX (header->shape[0], 1), 1);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   "“%s”: the header promises %u %s of %" G_GUINT64_FORMAT
                   " %s, %s %" G_GUINT64_FORMAT " could be read%s%s; get the file again",
                   name, header->shape[0], dyno_plural (header->shape[0], "record", "records"),
                   record, dyno_plural (record, "byte", "bytes"),
                   have == header->n_bytes ? "more than" : "only", have / record,
                   code != Z_OK ? ": " : "", code != Z_OK ? reason : "");
      return NULL;
    }
  return g_steal_pointer (&content);
}

guint8 *
dyno_idx_read (const char *path, DynoIdxHeader *header, guint64 *file_bytes, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  guint64 file_size;
  guint8 *content;
  gzFile file;
  int fd = dyno_datafile_open (path, &file_size, error);

  if (fd < 0)
    return NULL;
  file = gzdopen (fd, "rb");
  if (!file)
    {
      close (fd);
      dyno_datafile_set_error (error, ENOMEM, path);
      return NULL;
    }
  gzbuffer (file, 1 << 17);
  content = read_content (file, name, file_size, header, error);
  if (file_bytes)
    *file_bytes = file_size;
  gzclose_r (file);
  return content;
}
