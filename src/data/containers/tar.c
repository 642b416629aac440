/* SPDX-License-Identifier: MIT */
/* Lists members of .tar files: ustar, with the long names and large sizes of GNU tar and of pax. */
#include "checked.h"
#include "datafile.h"
#include "intl.h"
#include "members.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BLOCK    512
#define WINDOW   8192
#define MAX_PAX  (1 << 20)
#define MAX_NAME 65536

typedef struct {
  int fd;
  guint64 size;
  const char *shown;
  guint8 window[WINDOW];
  guint64 window_at;
  gsize window_size;
  /* name of the next member, from an extension header; empty: the name in the member's header */
  GString *name;
  guint64 pax_size; /* size of the next member; G_MAXUINT64: the size in the member's header */
  gboolean sparse;
} Tar;

/* A block, or NULL at the end or on failure (*failed). */
static const guint8 *
look (Tar *tar, guint64 at, gboolean *failed)
{
  gssize n;

  *failed = FALSE;
  if (at > tar->size || tar->size - at < BLOCK)
    return NULL;
  if (at < tar->window_at || at + BLOCK > tar->window_at + tar->window_size)
    {
      n = dyno_datafile_pread (tar->fd, tar->window, WINDOW, at);
      *failed = n < 0;
      tar->window_at = at;
      tar->window_size = n > 0 ? (gsize) n : 0;
      if (n < BLOCK)
        return NULL;
    }
  return tar->window + (at - tar->window_at);
}

/* Octal text, or a number of base 256 where the first bit is set. */
static gboolean
read_number (const guint8 *field, gsize size, guint64 *number)
{
  guint64 value = 0;
  gsize i = 0;

  if (field[0] & 0x80)
    {
      if (field[0] != 0x80)
        return FALSE;
      for (i = 1; i < size; i++)
        if (value >> 55 != 0)
          return FALSE;
        else
          value = value << 8 | field[i];
      *number = value;
      return TRUE;
    }
  while (i < size && field[i] == ' ')
    i++;
  for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
    value = value << 3 | (guint64) (field[i] - '0');
  *number = value;
  return i == size || field[i] == ' ' || field[i] == '\0';
}

/* The sum of all bytes, with the sum's own field taken as blanks; some programs add signed
 * bytes. */
static gboolean
has_sum (const guint8 *header)
{
  guint64 stored;
  gint64 sum = 0, signed_sum = 0;

  for (guint i = 0; i < BLOCK; i++)
    {
      guint8 byte = i >= 148 && i < 156 ? ' ' : header[i];
      sum += byte;
      signed_sum += (gint8) byte;
    }
  return read_number (header + 148, 8, &stored)
         && ((gint64) stored == sum || (gint64) stored == signed_sum);
}

static gboolean
is_zero (const guint8 *block)
{
  for (guint i = 0; i < BLOCK; i++)
    if (block[i] != 0)
      return FALSE;
  return TRUE;
}

DynoArchiveKind
dyno_archive_guess (int fd, guint64 size, const char **other)
{
  static const struct {
    const char *bytes;
    gsize size;
    const char *name;
  } others[] = { { "\x1f\x8b", 2, "gzip" },
                 { "BZh", 3, "bzip2" },
                 { "\xfd"
                   "7zXZ",
                   5, "xz" },
                 { "\x28\xb5\x2f\xfd", 4, "zstd" },
                 { "7z\xbc\xaf\x27\x1c", 6, "7z" },
                 { "Rar!\x1a\x07", 6, "rar" } };
  guint8 block[BLOCK] = { 0 };
  gssize n = dyno_datafile_pread (fd, block, sizeof block, 0);

  if (n >= 4 && (memcmp (block, "PK\3\4", 4) == 0 || memcmp (block, "PK\5\6", 4) == 0))
    return DYNO_ARCHIVE_ZIP;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (n >= (gssize) others[i].size && memcmp (block, others[i].bytes, others[i].size) == 0)
      {
        *other = others[i].name;
        return DYNO_ARCHIVE_OTHER;
      }
  return n == BLOCK && size % BLOCK == 0 && block[0] != 0 && has_sum (block) ? DYNO_ARCHIVE_TAR
         : n == BLOCK && memcmp (block + 257, "ustar", 5) == 0 && has_sum (block)
             ? DYNO_ARCHIVE_TAR
             : DYNO_ARCHIVE_NONE;
}

/* "length key=value\n" ...; only these keys affect the place of a member. */
static void
take_pax (Tar *tar, const char *text, gsize size)
{
  gsize at = 0;

  while (at < size)
    {
      gsize length = 0, digits = at;
      const char *key, *equals;

      while (digits < size && g_ascii_isdigit (text[digits]) && length <= size)
        length = length * 10 + (gsize) (text[digits++] - '0');
      if (digits == at || digits >= size || text[digits] != ' ' || length > size - at
          || length <= digits - at + 1 || text[at + length - 1] != '\n')
        return;
      key = text + digits + 1;
      equals = memchr (key, '=', (gsize) (text + at + length - key));
      if (equals)
        {
          gsize n = (gsize) (text + at + length - 1 - (equals + 1));
          g_autofree char *value = g_strndup (equals + 1, n);
          guint64 number;

          if (strncmp (key, "path=", 5) == 0)
            g_string_assign (tar->name, value);
          else if (strncmp (key, "size=", 5) == 0
                   && g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &number, NULL))
            tar->pax_size = number;
          else if (strncmp (key, "GNU.sparse.", 11) == 0)
            tar->sparse = TRUE;
        }
      at += length;
    }
}

/* Reads the content of an extension header: a long name, or pax records. */
static gboolean
take_extension (Tar *tar, char type, guint64 at, guint64 size, GError **error)
{
  g_autofree char *text = NULL;

  if (type != 'L' && type != 'x')
    return TRUE;
  if (size > (type == 'L' ? MAX_NAME : MAX_PAX))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   ngettext ("“%s” has a name or header of %" PRIu64 " byte at byte %" PRIu64
                             "; make the archive again",
                             "“%s” has a name or header of %" PRIu64 " bytes at byte %" PRIu64
                             "; make the archive again",
                             (gulong) size),
                   tar->shown, size, at);
      return FALSE;
    }
  text = g_malloc0 (size + 1);
  if (dyno_datafile_pread (tar->fd, text, size, at) < 0)
    {
      dyno_datafile_set_error (error, errno, tar->shown);
      return FALSE;
    }
  if (type == 'L')
    g_string_assign (tar->name, text);
  else
    take_pax (tar, text, size);
  return TRUE;
}

static void
take_name (Tar *tar, const guint8 *header)
{
  gboolean ustar = memcmp (header + 257, "ustar", 6) == 0;

  if (tar->name->len > 0)
    return;
  if (ustar && header[345] != '\0')
    {
      g_string_append_len (tar->name, (const char *) header + 345,
                           (gssize) strnlen ((const char *) header + 345, 155));
      g_string_append_c (tar->name, '/');
    }
  g_string_append_len (tar->name, (const char *) header,
                       (gssize) strnlen ((const char *) header, 100));
}

static const char *
skip_dots (const char *name)
{
  while (name[0] == '.' && name[1] == '/')
    {
      name += 2;
      while (*name == '/')
        name++;
    }
  return name;
}

static gboolean
give_member (Tar *tar, char type, guint64 at, guint64 size, DynoMemberFunc func, gpointer data,
             GError **error)
{
  DynoMember member = {
    .name = skip_dots (tar->name->str), .at = at, .stored = size, .size = size
  };
  gboolean regular = type == '0' || type == '\0' || type == '7';

  if (type == '5' || (regular && g_str_has_suffix (tar->name->str, "/")))
    return TRUE;
  if (tar->sparse || type == 'S')
    member.refused =
        _ ("a sparse file, which is not supported; make the archive again without --sparse");
  else if (type == '1' || type == '2')
    member.refused = _ ("a link, which has no content of its own in the archive");
  else if (!regular)
    member.refused = _ ("not a regular file");
  else if (at > tar->size || size > tar->size - at)
    member.refused = _ ("the archive ends inside it");
  return func (&member, data, error);
}

static gboolean
give_damage (Tar *tar, guint64 at, DynoMemberFunc func, gpointer data, GError **error)
{
  g_autofree char *name = g_strdup_printf ("byte %" PRIu64, at);
  DynoMember member = { .name = name,
                        .refused = _ ("a damaged header; the rest of the archive is not read") };

  if (at > 0)
    return func (&member, data, error);
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s” is no .tar archive: its first header is damaged"), tar->shown);
  return FALSE;
}

static void
forget_extensions (Tar *tar)
{
  g_string_truncate (tar->name, 0);
  tar->pax_size = G_MAXUINT64;
  tar->sparse = FALSE;
}

static gboolean
walk (Tar *tar, DynoMemberFunc func, gpointer data, GCancellable *cancellable, GError **error)
{
  guint64 at = 0, size, padded;
  const guint8 *header;
  gboolean failed;

  forget_extensions (tar);
  while ((header = look (tar, at, &failed)) && !is_zero (header))
    {
      char type = (char) header[156];
      gboolean extension = type == 'L' || type == 'K' || type == 'x' || type == 'g';

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (!has_sum (header) || !read_number (header + 124, 12, &size))
        return give_damage (tar, at, func, data, error);
      if (!extension)
        {
          size = tar->pax_size != G_MAXUINT64 ? tar->pax_size : size;
          take_name (tar, header);
        }
      if (type >= '1' && type <= '6')
        size = 0;
      at += BLOCK;
      if (extension ? !take_extension (tar, type, at, MIN (size, tar->size), error)
                    : !give_member (tar, type, at, size, func, data, error))
        return FALSE;
      if (!extension)
        forget_extensions (tar);
      if (size > G_MAXINT64 || !dyno_size_add (at, dyno_align_up (size, BLOCK), &padded))
        return TRUE;
      at = padded;
    }
  if (failed)
    dyno_datafile_set_error (error, errno, tar->shown);
  return !failed;
}

gboolean
dyno_tar_walk (int fd, guint64 size, const char *shown, DynoMemberFunc func, gpointer data,
               GCancellable *cancellable, GError **error)
{
  g_autofree Tar *tar = g_new0 (Tar, 1);
  gboolean ok;

  tar->fd = fd;
  tar->size = size;
  tar->shown = shown;
  tar->name = g_string_new (NULL);
  ok = walk (tar, func, data, cancellable, error);
  g_string_free (tar->name, TRUE);
  return ok;
}

void
dyno_tar_make_header (guint8 *header, const char *name, guint64 size)
{
  guint sum = 0;

  memset (header, 0, BLOCK);
  memcpy (header, name, MIN (strlen (name), 100));
  memcpy (header + 100, "0000644", 8);
  memcpy (header + 108, "0000000", 8);
  memcpy (header + 116, "0000000", 8);
  g_snprintf ((char *) header + 124, 12, "%011" PRIo64, size & G_GUINT64_CONSTANT (077777777777));
  memcpy (header + 136, "00000000000", 12);
  memset (header + 148, ' ', 8);
  header[156] = '0';
  memcpy (header + 257, "ustar\00000", 8);
  for (guint i = 0; i < BLOCK; i++)
    sum += header[i];
  g_snprintf ((char *) header + 148, 8, "%06o", sum);
}
