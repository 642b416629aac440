/* SPDX-License-Identifier: MIT */
/* Opens an array, and copies an array that cannot be read sample by sample in its file; array.h has
 * the invariants. */
#include "array.h"
#include "checked.h"
#include "datafile.h"
#include "file.h"
#include "intl.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define IN_MEMORY     (G_GUINT64_CONSTANT (256) << 20) /* the largest copy that is kept in memory */
#define WINDOW        (G_GUINT64_CONSTANT (128) << 20)
#define PIECE         ((gsize) 256 << 10)
#define DEFLATE_RATIO 1032
#define DEFLATE_SLACK 1024

void
dyno_array_clear (DynoArray *array)
{
  if (array->fd >= 0)
    close (array->fd);
  array->fd = -1;
  g_clear_pointer (&array->path, g_free);
  g_clear_pointer (&array->shown, g_free);
}

static gboolean
set_no_room (GError **error, const char *shown, guint64 size, int code)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
               _ ("“%s” has to be copied before it can be read sample by sample, and there is no "
                  "room for %" PRIu64 " MB in the cache folder: %s; save it uncompressed and in C "
                  "order (numpy.ascontiguousarray)"),
               shown, (size >> 20) + 1, g_strerror (code));
  return FALSE;
}

static int
new_file (void)
{
  g_autofree char *cache = dyno_cache_dir ("arrays");
  g_autofree char *path = g_build_filename (cache ? cache : g_get_tmp_dir (), "XXXXXX", NULL);
  int fd = g_mkstemp_full (path, O_RDWR | O_CLOEXEC, 0600);

  if (fd >= 0)
    g_unlink (path);
  return fd;
}

int
dyno_array_new_copy (guint64 size, const char *shown, GError **error)
{
  int fd = size <= IN_MEMORY ? memfd_create ("dyno-array", MFD_CLOEXEC) : new_file ();
  int code = fd >= 0 ? 0 : errno;

  if (fd >= 0 && size > G_MAXINT64)
    code = EFBIG;
  /* The space is reserved at once, so that a full disk is reported now; where a file system cannot
   * reserve, writing reports it. */
  else if (fd >= 0 && size > 0 && fallocate (fd, 0, 0, (off_t) size) != 0 && errno != EOPNOTSUPP
           && errno != ENOSYS)
    code = errno;
  if (code == 0)
    return fd;
  if (fd >= 0)
    close (fd);
  set_no_room (error, shown, size, code);
  return -1;
}

static gboolean
write_at (int fd, const guint8 *bytes, gsize size, guint64 at, const char *shown, GError **error)
{
  while (size > 0)
    {
      gssize n = pwrite (fd, bytes, size, (off_t) at);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return set_no_room (error, shown, size, n < 0 ? errno : ENOSPC);
      bytes += n;
      at += (gsize) n;
      size -= (gsize) n;
    }
  return TRUE;
}

static gboolean
read_all (int fd, guint8 *bytes, gsize size, guint64 at, const char *shown, GError **error)
{
  gssize n = dyno_datafile_pread (fd, bytes, size, at);

  if (n == (gssize) size)
    return TRUE;
  if (n < 0)
    dyno_datafile_set_error (error, errno, shown);
  else
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ,
                 _ ("“%s” became shorter while it was read; open it again"), shown);
  return FALSE;
}

/* --- Fortran order ---------------------------------------------------------------------------- */

/* A walk over a sample's items in Fortran order, with the place of each item in C order. */
typedef struct {
  guint n_dims; /* of a sample */
  guint64 shape[DYNO_NPY_MAX_DIMS], index[DYNO_NPY_MAX_DIMS], stride[DYNO_NPY_MAX_DIMS], place;
} Walk;

static void
start_walk (Walk *walk, const DynoNpyHeader *header)
{
  guint64 stride = 1;

  memset (walk, 0, sizeof *walk);
  walk->n_dims = header->n_dims - 1;
  for (guint i = walk->n_dims; i-- > 0; stride *= walk->shape[i])
    {
      walk->shape[i] = header->shape[i + 1];
      walk->stride[i] = stride;
    }
}

static void
step_walk (Walk *walk)
{
  for (guint i = 0; i < walk->n_dims; i++)
    {
      walk->place += walk->stride[i];
      if (++walk->index[i] < walk->shape[i])
        return;
      walk->place -= walk->shape[i] * walk->stride[i];
      walk->index[i] = 0;
    }
}

static void
spread (guint8 *out, const guint8 *strip, guint64 n, gsize stride, guint item)
{
  switch (item)
    {
    case 1:
      for (guint64 i = 0; i < n; i++)
        out[i * stride] = strip[i];
      break;
    case 2:
      for (guint64 i = 0; i < n; i++)
        memcpy (out + i * stride, strip + i * 2, 2);
      break;
    case 4:
      for (guint64 i = 0; i < n; i++)
        memcpy (out + i * stride, strip + i * 4, 4);
      break;
    default:
      for (guint64 i = 0; i < n; i++)
        memcpy (out + i * stride, strip + i * 8, 8);
      break;
    }
}

/* Writes the samples from first to before first + n into out, in C order. */
static gboolean
reorder_window (int from, guint64 at, const DynoNpyHeader *header, guint64 first, guint64 n,
                guint8 *out, guint8 *strip, const char *shown, GCancellable *cancellable,
                GError **error)
{
  guint64 n_samples = header->shape[0], per_sample = header->n_items / n_samples;
  gsize item = header->item_bytes;
  /* A strip is one item of each sample of the window.  If the window has all samples, strips are
   * contiguous in the file, and several are read at once. */
  guint64 at_once = n == n_samples ? MAX (PIECE / (n * item), 1) : 1;
  Walk walk;

  start_walk (&walk, header);
  for (guint64 k = 0; k < per_sample; k += at_once)
    {
      guint64 strips = MIN (at_once, per_sample - k);

      if (k % 1024 == 0 && g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (!read_all (from, strip, strips * n * item, at + (k * n_samples + first) * item, shown,
                     error))
        return FALSE;
      for (guint64 s = 0; s < strips; s++, step_walk (&walk))
        spread (out + walk.place * item, strip + s * n * item, n, per_sample * item, (guint) item);
    }
  return TRUE;
}

gboolean
dyno_array_reorder (int from, guint64 at, const DynoNpyHeader *header, int to, guint64 window,
                    const char *shown, const DynoOpenContext *context, GError **error)
{
  guint64 n_samples = header->shape[0], sample_bytes, n;
  g_autofree guint8 *out = NULL, *strip = NULL;

  if (header->data_bytes == 0)
    return TRUE;
  sample_bytes = header->data_bytes / n_samples;
  n = CLAMP (window / sample_bytes, 1, n_samples);
  out = g_try_malloc (n * sample_bytes);
  strip = g_try_malloc (MAX (n * header->item_bytes, PIECE));
  if (!out || !strip)
    return set_no_room (error, shown, n * sample_bytes, ENOMEM);
  for (guint64 first = 0; first < n_samples; first += n)
    {
      guint64 count = MIN (n, n_samples - first);

      if (!reorder_window (from, at, header, first, count, out, strip, shown, context->cancellable,
                           error)
          || !write_at (to, out, count * sample_bytes, first * sample_bytes, shown, error))
        return FALSE;
      if (context->progress)
        context->progress (first + count, context->progress_data);
    }
  return TRUE;
}

/* Replaces an array that is not in C order by a copy in C order. */
static gboolean
make_c_order (DynoArray *array, const DynoOpenContext *context, GError **error)
{
  DynoNpyHeader *header = &array->header;
  int copy;

  if (header->fortran && header->n_dims > 1 && header->data_bytes > 0)
    {
      copy = dyno_array_new_copy (header->data_bytes, array->shown, error);
      if (copy < 0)
        return FALSE;
      if (!dyno_array_reorder (array->fd, header->data_offset, header, copy, WINDOW, array->shown,
                               context, error))
        {
          close (copy);
          return FALSE;
        }
      close (array->fd);
      array->fd = copy;
      array->copied = TRUE;
      header->data_offset = 0;
    }
  header->fortran = FALSE;
  return TRUE;
}

/* --- members of archives ---------------------------------------------------------------------- */

static gboolean
set_damaged (GError **error, const char *shown)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s”: its compressed bytes are damaged; get the archive again"), shown);
  return FALSE;
}

typedef struct {
  z_stream stream;
  const DynoMember *member;
  guint64 taken, given;
  uLong sum;
  guint8 in[PIECE], out[PIECE];
} Inflation;

/* Inflates the next piece to out, *n is its bytes; 0: the member is complete. */
static gboolean
inflate_piece (Inflation *inflation, int fd, gsize *n, const char *shown, GError **error)
{
  z_stream *stream = &inflation->stream;
  const DynoMember *member = inflation->member;
  int code = Z_OK;

  stream->next_out = inflation->out;
  stream->avail_out = (uInt) PIECE;
  while (stream->avail_out == PIECE && code == Z_OK)
    {
      gsize count = (gsize) MIN (PIECE, member->stored - inflation->taken);

      if (stream->avail_in == 0 && count > 0)
        {
          if (!read_all (fd, inflation->in, count, member->at + inflation->taken, shown, error))
            return FALSE;
          inflation->taken += count;
          stream->next_in = inflation->in;
          stream->avail_in = (uInt) count;
        }
      code = inflate (stream, Z_NO_FLUSH);
    }
  *n = PIECE - stream->avail_out;
  inflation->given += *n;
  inflation->sum = crc32 (inflation->sum, inflation->out, (uInt) *n);
  if ((code != Z_OK && code != Z_STREAM_END) || inflation->given > member->size
      || (*n == 0 && (inflation->given != member->size || inflation->sum != member->sum)))
    return set_damaged (error, shown);
  return TRUE;
}

static gboolean
inflate_into (int fd, const DynoMember *member, int to, const char *shown,
              const DynoOpenContext *context, GError **error)
{
  g_autofree Inflation *inflation = g_new0 (Inflation, 1);
  gboolean ok;
  gsize n = 0;

  inflation->member = member;
  inflation->sum = crc32 (0, NULL, 0);
  if (inflateInit2 (&inflation->stream, -MAX_WBITS) != Z_OK)
    return set_damaged (error, shown);
  do
    {
      guint64 at = inflation->given;
      ok = !g_cancellable_set_error_if_cancelled (context->cancellable, error)
           && inflate_piece (inflation, fd, &n, shown, error)
           && (to < 0 || write_at (to, inflation->out, n, at, shown, error));
    }
  while (ok && n > 0);
  inflateEnd (&inflation->stream);
  return ok;
}

/* Replaces a deflated array by its inflated bytes. */
static gboolean
unpack (DynoArray *array, const DynoOpenContext *context, GError **error)
{
  const DynoMember *member = &array->packed;
  int copy;

  if (member->size == 0)
    return TRUE;
  copy = dyno_array_new_copy (member->size, array->shown, error);
  if (copy < 0)
    return FALSE;
  if (!inflate_into (array->fd, member, copy, array->shown, context, error))
    {
      close (copy);
      return FALSE;
    }
  close (array->fd);
  array->fd = copy;
  array->at = 0;
  array->copied = TRUE;
  array->packed.size = 0;
  return TRUE;
}

gboolean
dyno_array_load (DynoArray *array, const DynoOpenContext *context, GError **error)
{
  return unpack (array, context, error) && make_c_order (array, context, error);
}

static gboolean
read_header (DynoArray *array, guint64 size, GError **error)
{
  if (dyno_npy_read_header (array->fd, array->at, size, &array->header, error))
    return TRUE;
  g_prefix_error (error, "“%s”: ", array->shown);
  return FALSE;
}

gboolean
dyno_array_open (DynoArray *array, const char *path, GError **error)
{
  *array = DYNO_ARRAY_NONE;
  array->fd = dyno_datafile_open (path, &array->file_size, error);
  if (array->fd < 0)
    return FALSE;
  array->path = g_strdup (path);
  array->shown = g_filename_display_name (path);
  if (read_header (array, array->file_size, error))
    return TRUE;
  dyno_array_clear (array);
  return FALSE;
}

/* The first piece of a deflated member; *n is its bytes in inflation->out. */
static gboolean
inflate_beginning (Inflation *inflation, int fd, const DynoMember *member, gsize *n,
                   const char *shown, GError **error)
{
  gboolean ok;

  inflation->member = member;
  inflation->sum = crc32 (0, NULL, 0);
  if (inflateInit2 (&inflation->stream, -MAX_WBITS) != Z_OK)
    return set_damaged (error, shown);
  ok = inflate_piece (inflation, fd, n, shown, error);
  inflateEnd (&inflation->stream);
  return ok;
}

/* Reads the header of a deflated member from its first bytes; nothing after these is inflated. */
static gboolean
read_packed_header (DynoArray *array, const DynoMember *member, GError **error)
{
  g_autofree Inflation *inflation = g_new0 (Inflation, 1);
  DynoNpyHeader *header = &array->header;
  gsize n = 0;

  if (member->size / DEFLATE_RATIO > member->stored + DEFLATE_SLACK)
    return set_damaged (error, array->shown);
  if (!inflate_beginning (inflation, array->fd, member, &n, array->shown, error))
    return FALSE;
  if (!dyno_npy_parse (inflation->out, n, member->size, header, error))
    {
      g_prefix_error (error, "“%s”: ", array->shown);
      return FALSE;
    }
  if (member->size - header->data_offset == header->data_bytes)
    {
      array->packed = *member;
      array->packed.name = NULL;
      return TRUE;
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               ngettext ("“%s”: its shape needs %" PRIu64 " byte of data, and %" PRIu64
                         " would be inflated; make the archive again",
                         "“%s”: its shape needs %" PRIu64 " bytes of data, and %" PRIu64
                         " would be inflated; make the archive again",
                         (gulong) header->data_bytes),
               array->shown, header->data_bytes, member->size - header->data_offset);
  return FALSE;
}

gboolean
dyno_array_open_member (DynoArray *array, const char *path, const DynoMember *member,
                        GError **error)
{
  g_autofree char *shown = g_filename_display_name (path),
                  *name = g_filename_display_name (member->name);
  guint64 whole;

  *array = DYNO_ARRAY_NONE;
  array->fd = dyno_datafile_open (path, &whole, error);
  if (array->fd < 0)
    return FALSE;
  array->path = g_strdup (path);
  array->shown = g_strdup_printf ("%s: %s", shown, name);
  array->at = member->at;
  array->file_size = member->stored;
  if (member->deflated ? read_packed_header (array, member, error)
                       : read_header (array, member->size, error))
    return TRUE;
  dyno_array_clear (array);
  return FALSE;
}

gboolean
dyno_array_make_single (DynoArray *array)
{
  DynoNpyHeader *header = &array->header;

  if (header->n_dims >= DYNO_NPY_MAX_DIMS)
    return FALSE;
  memmove (header->shape + 1, header->shape, header->n_dims * sizeof header->shape[0]);
  header->shape[0] = 1;
  header->n_dims++;
  array->single = TRUE;
  return TRUE;
}

void
dyno_array_rest (DynoArray *array)
{
  if (array->copied || array->fd < 0)
    return;
  close (array->fd);
  array->fd = -1;
}

static char *
describe_header (const DynoNpyHeader *header)
{
  g_autoptr (GString) text = g_string_new (header->kind == 'f'   ? "float"
                                           : header->kind == 'i' ? "int"
                                           : header->kind == 'u' ? "uint"
                                                                 : "bool");

  if (header->kind != 'b')
    g_string_append_printf (text, "%u", header->item_bytes * 8);
  g_string_append (text, " (");
  for (guint i = 0; i < header->n_dims; i++)
    g_string_append_printf (text, "%s%" PRIu64, i > 0 ? ", " : "", header->shape[i]);
  return g_strdup_printf ("%s)", text->str);
}

char *
dyno_array_describe_member (const char *path, const DynoMember *member)
{
  g_autofree Inflation *inflation = g_new0 (Inflation, 1);
  g_autoptr (GError) error = NULL;
  DynoMember beginning = *member;
  DynoNpyHeader header;
  guint64 whole;
  gsize n = 0;
  gboolean ok;
  int fd = dyno_datafile_open (path, &whole, &error);

  if (fd < 0)
    return g_strdup (error->message);
  if (member->deflated)
    {
      /* The last inflated bytes are less than a piece, and are not covered by the sum. */
      beginning.size = G_MAXUINT64;
      ok = inflate_beginning (inflation, fd, &beginning, &n, member->name, &error)
           && dyno_npy_parse (inflation->out, n, member->size, &header, &error);
    }
  else
    ok = dyno_npy_read_header (fd, member->at, member->size, &header, &error);
  close (fd);
  return ok ? describe_header (&header) : g_strdup (error ? error->message : "");
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Opens the file anew by its path: a disk that was unplugged and is back never answers through an
 * older descriptor. */
static gssize
read_anew (const DynoArray *array, gpointer bytes, gsize size, guint64 at, int *code)
{
  const DynoNpyHeader *header = &array->header;
  guint own = array->single ? 1 : 0;
  DynoNpyHeader now;
  guint64 whole;
  gssize n = -1;
  int fd = dyno_datafile_open (array->path, &whole, NULL);

  if (fd < 0)
    return -1;
  if (dyno_npy_read_header (fd, array->at, whole > array->at ? whole - array->at : 0, &now, NULL)
      && now.data_offset == header->data_offset && now.n_dims + own == header->n_dims
      && memcmp (now.shape, header->shape + own, now.n_dims * sizeof now.shape[0]) == 0
      && now.kind == header->kind && now.item_bytes == header->item_bytes
      && now.swap == header->swap)
    {
      n = dyno_datafile_pread (fd, bytes, size, at);
      *code = errno;
    }
  close (fd);
  return n;
}

gssize
dyno_array_read (const DynoArray *array, gpointer bytes, gsize size, guint64 offset, int *code)
{
  guint64 at = array->header.data_offset + offset;
  gssize n;

  if (array->fd < 0)
    {
      *code = ENOENT;
      return read_anew (array, bytes, size, at, code);
    }
  n = dyno_datafile_pread (array->fd, bytes, size, at);
  *code = errno;
  if (n < 0 && !array->copied && dyno_datafile_is_unreachable (*code))
    n = read_anew (array, bytes, size, at, code);
  return n;
}
