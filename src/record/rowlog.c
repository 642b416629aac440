/* SPDX-License-Identifier: MIT */
/* Invariant: rows [0, n_stored) lie in the file, in blocks of block_rows; rows from n_stored on in
 * `newest`.  Block i occupies the bytes [ends[i - 1], ends[i]) of the file; a block that
 * compression would not make smaller is stored uncompressed, and a lost block has no bytes.
 *
 * A block holds the first bytes of all rows, then all second bytes, and so on, which compresses
 * better. */
#include "rowlog.h"
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS_KEPT 3
#define MOST_HELD   ((gsize) 256 << 20) /* bytes that could not be written */
#define LEVEL       1                   /* compression level of deflate */

struct _DynoRowLog {
  gsize row_bytes, block_rows, block_bytes;
  GByteArray *newest;
  guint64 n_stored;  /* number of rows in the file */
  GArray *ends;      /* guint64 */
  int fd;            /* -1: none yet */
  gsize try_at;      /* bytes of newest from which a block is written */
  guint8 *read;      /* the block that was read last; NULL: none */
  guint64 n_read;    /* index of that block */
  gboolean reported; /* a failure to write or read was reported */
};

DynoRowLog *
dyno_row_log_new (gsize row_bytes)
{
  DynoRowLog *log = g_new0 (DynoRowLog, 1);

  g_assert (row_bytes > 0 && row_bytes <= 4096);
  log->row_bytes = row_bytes;
  log->block_rows = DYNO_ROW_LOG_BLOCK / row_bytes;
  log->block_bytes = log->block_rows * row_bytes;
  log->try_at = (BLOCKS_KEPT + 1) * log->block_bytes;
  log->newest = g_byte_array_new ();
  log->ends = g_array_new (FALSE, FALSE, sizeof (guint64));
  log->fd = -1;
  return log;
}

void
dyno_row_log_free (DynoRowLog *log)
{
  if (!log)
    return;
  if (log->fd >= 0)
    close (log->fd);
  g_byte_array_unref (log->newest);
  g_array_unref (log->ends);
  g_free (log->read);
  g_free (log);
}

guint64
dyno_row_log_get_length (const DynoRowLog *log)
{
  return log->n_stored + log->newest->len / log->row_bytes;
}

guint64
dyno_row_log_get_file_bytes (const DynoRowLog *log)
{
  return log->ends->len > 0 ? g_array_index (log->ends, guint64, log->ends->len - 1) : 0;
}

gsize
dyno_row_log_get_bytes (const DynoRowLog *log)
{
  return sizeof *log + log->newest->len + log->ends->len * sizeof (guint64)
         + (log->read ? log->block_bytes : 0);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Transposes between rows and the order of the file: [i][byte] of n x size becomes [byte][i]. */
static void
transpose (const guint8 *from, guint8 *to, gsize n, gsize size)
{
  for (gsize i = 0; i < n; i++)
    for (gsize byte = 0; byte < size; byte++)
      to[byte * n + i] = from[i * size + byte];
}

/* Compresses or decompresses all of in; FALSE: the result does not fit into out. */
static gboolean
convert (GConverter *converter, const guint8 *in, gsize in_bytes, guint8 *out, gsize out_bytes,
         gsize *done)
{
  gsize read = 0, n_read, n_written;
  GConverterResult result = G_CONVERTER_CONVERTED;

  *done = 0;
  while (result == G_CONVERTER_CONVERTED && *done < out_bytes)
    {
      result = g_converter_convert (converter, in + read, in_bytes - read, out + *done,
                                    out_bytes - *done, G_CONVERTER_INPUT_AT_END, &n_read,
                                    &n_written, NULL);
      if (result == G_CONVERTER_ERROR || (n_read == 0 && n_written == 0))
        return FALSE;
      read += n_read;
      *done += n_written;
    }
  return result == G_CONVERTER_FINISHED;
}

static gboolean
put_at (int fd, const guint8 *data, gsize size, guint64 at)
{
  for (gsize done = 0; done < size;)
    {
      gssize n = pwrite (fd, data + done, size - done, (off_t) (at + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      done += (gsize) n;
    }
  return TRUE;
}

static gboolean
get_at (int fd, guint8 *data, gsize size, guint64 at)
{
  for (gsize done = 0; done < size;)
    {
      gssize n = pread (fd, data + done, size - done, (off_t) (at + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      done += (gsize) n;
    }
  return TRUE;
}

static int
open_file (void)
{
  g_autofree char *cache = dyno_cache_dir ("logs");
  g_autofree char *path = g_build_filename (cache ? cache : g_get_tmp_dir (), "XXXXXX", NULL);
  int fd = g_mkstemp_full (path, O_RDWR | O_CLOEXEC, 0600);

  if (fd >= 0)
    g_unlink (path);
  return fd;
}

static void
tell (DynoRowLog *log, const char *what)
{
  if (!log->reported)
    g_info ("Older rows of the run's log cannot be %s: %s", what, g_strerror (errno));
  log->reported = TRUE;
}

/* Drops the oldest block from memory: it is in the file now, or, with size 0, is lost. */
static void
drop_block (DynoRowLog *log, gsize size)
{
  guint64 end = dyno_row_log_get_file_bytes (log) + size;

  g_array_append_val (log->ends, end);
  log->n_stored += log->block_rows;
  g_byte_array_remove_range (log->newest, 0, (guint) log->block_bytes);
}

static gboolean
store_block (DynoRowLog *log)
{
  g_autoptr (GConverter) converter =
      G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, LEVEL));
  g_autofree guint8 *turned = g_malloc (log->block_bytes), *packed = g_malloc (log->block_bytes);
  guint64 at = dyno_row_log_get_file_bytes (log);
  gsize size;
  gboolean smaller;

  if (log->fd < 0 && (log->fd = open_file ()) < 0)
    return FALSE;
  transpose (log->newest->data, turned, log->block_rows, log->row_bytes);
  smaller = convert (converter, turned, log->block_bytes, packed, log->block_bytes - 1, &size);
  if (!smaller)
    size = log->block_bytes;
  if (!put_at (log->fd, smaller ? packed : turned, size, at))
    return FALSE;
  drop_block (log, size);
  return TRUE;
}

static gboolean
read_block (DynoRowLog *log, guint64 number)
{
  guint64 at = number > 0 ? g_array_index (log->ends, guint64, number - 1) : 0;
  gsize size = (gsize) (g_array_index (log->ends, guint64, number) - at), done;
  g_autofree guint8 *packed = NULL, *turned = NULL;

  if (log->read && log->n_read == number)
    return TRUE;
  packed = g_malloc (size);
  errno = ENODATA;
  if (size == 0 || !get_at (log->fd, packed, size, at))
    return FALSE;
  if (size < log->block_bytes)
    {
      g_autoptr (GConverter) converter =
          G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW));

      turned = g_malloc (log->block_bytes);
      if (!convert (converter, packed, size, turned, log->block_bytes, &done)
          && done < log->block_bytes)
        return FALSE;
    }
  if (!log->read)
    log->read = g_malloc (log->block_bytes);
  transpose (turned ? turned : packed, log->read, log->row_bytes, log->block_rows);
  log->n_read = number;
  return TRUE;
}

/* --- rows ------------------------------------------------------------------------------------- */

void
dyno_row_log_append (DynoRowLog *log, gconstpointer row)
{
  g_byte_array_append (log->newest, row, (guint) log->row_bytes);
  if (log->newest->len < log->try_at)
    return;
  while (log->newest->len > BLOCKS_KEPT * log->block_bytes)
    if (!store_block (log))
      {
        tell (log, "written to the cache folder");
        if (log->newest->len >= MOST_HELD)
          drop_block (log, 0);
        log->try_at = log->newest->len + log->block_bytes;
        return;
      }
  log->try_at = (BLOCKS_KEPT + 1) * log->block_bytes;
  log->reported = FALSE;
}

guint64
dyno_row_log_copy (DynoRowLog *log, guint64 first, guint64 count, gpointer rows)
{
  guint64 length = dyno_row_log_get_length (log), n;
  guint8 *out = rows;

  count = first < length ? MIN (count, length - first) : 0;
  for (guint64 done = 0; done < count; done += n)
    {
      guint64 at = first + done, within = at % log->block_rows;
      const guint8 *from;

      n = count - done;
      if (at >= log->n_stored)
        from = log->newest->data + (at - log->n_stored) * log->row_bytes;
      else
        {
          if (!read_block (log, at / log->block_rows))
            {
              tell (log, "read again");
              return done;
            }
          from = log->read + within * log->row_bytes;
          n = MIN (n, log->block_rows - within);
        }
      memcpy (out + done * log->row_bytes, from, n * log->row_bytes);
    }
  return count;
}
