/* SPDX-License-Identifier: MIT */
/* Lists members of .zip files by their central directory (APPNOTE 6.3, with zip64), in a file or in
 * memory.  The directory is read as a whole, since the size of the file bounds it; the local header
 * of each member gives the beginning of its bytes. */
#include "checked.h"
#include "datafile.h"
#include "intl.h"
#include "members.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define END_BYTES       22
#define MAX_COMMENT     65535
#define LOCATOR_BYTES   20
#define END64_BYTES     56
#define ENTRY_BYTES     46
#define LOCAL_BYTES     30
#define MAX_DIRECTORY   (G_GUINT64_CONSTANT (1) << 30)
#define METHOD_STORED   0
#define METHOD_DEFLATED 8

typedef struct {
  const guint8 *bytes; /* the archive in memory; NULL: the archive is in fd */
  int fd;
  guint64 size;
  const char *shown; /* NULL: the caller names it */
  guint64 directory_at, directory_size, shift;
} Zip;

static guint32
le16 (const guint8 *p)
{
  return (guint32) p[0] | (guint32) p[1] << 8;
}

static guint32
le32 (const guint8 *p)
{
  return le16 (p) | le16 (p + 2) << 16;
}

static guint64
le64 (const guint8 *p)
{
  return le32 (p) | (guint64) le32 (p + 4) << 32;
}

static gboolean
set_corrupt (const Zip *zip, GError **error, const char *what)
{
  if (zip->shown)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                 _ ("“%s” is a damaged .zip archive: %s; get it again"), zip->shown, what);
  else
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, _ ("its archive is damaged: %s"),
                 what);
  return FALSE;
}

/* Like dyno_datafile_pread. */
static gssize
read_some (const Zip *zip, gpointer buffer, gsize count, guint64 at)
{
  if (!zip->bytes)
    return dyno_datafile_pread (zip->fd, buffer, count, at);
  count = at < zip->size ? (gsize) MIN (count, zip->size - at) : 0;
  if (count > 0)
    memcpy (buffer, zip->bytes + at, count);
  return (gssize) count;
}

static gboolean
read_at (const Zip *zip, gpointer buffer, gsize count, guint64 at, GError **error)
{
  gssize n = read_some (zip, buffer, count, at);

  if (n == (gssize) count)
    return TRUE;
  if (n < 0)
    dyno_datafile_set_error (error, errno, zip->shown);
  else
    set_corrupt (zip, error, _ ("it ends early"));
  return FALSE;
}

/* Finds the end record of the directory: its comment reaches to the end of the file. */
static gboolean
find_end (const Zip *zip, guint8 *end, guint64 *end_at, GError **error)
{
  gsize count = (gsize) MIN (zip->size, END_BYTES + MAX_COMMENT);
  g_autofree guint8 *tail = g_malloc (MAX (count, 1));

  if (!read_at (zip, tail, count, zip->size - count, error))
    return FALSE;
  for (gsize at = count >= END_BYTES ? count - END_BYTES + 1 : 0; at-- > 0;)
    if (memcmp (tail + at, "PK\5\6", 4) == 0 && le16 (tail + at + 20) == count - at - END_BYTES)
      {
        memcpy (end, tail + at, END_BYTES);
        *end_at = zip->size - count + at;
        return TRUE;
      }
  return set_corrupt (zip, error, _ ("its directory, which is at its end, is missing"));
}

static gboolean
find_directory (Zip *zip, GError **error)
{
  guint8 end[END_BYTES] = { 0 }, locator[LOCATOR_BYTES], end64[END64_BYTES];
  guint64 end_at = 0, last, at;

  if (!find_end (zip, end, &end_at, error))
    return FALSE;
  if (le16 (end + 4) != 0 && le16 (end + 4) != 0xffff)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("“%s” is one of several pieces of an archive; join them first"),
                   zip->shown ? zip->shown : "");
      return FALSE;
    }
  zip->directory_size = le32 (end + 12);
  zip->directory_at = le32 (end + 16);
  last = end_at;
  if (end_at >= LOCATOR_BYTES
      && read_some (zip, locator, LOCATOR_BYTES, end_at - LOCATOR_BYTES) == LOCATOR_BYTES
      && memcmp (locator, "PK\6\7", 4) == 0)
    {
      at = le64 (locator + 8);
      if (at > zip->size || zip->size - at < END64_BYTES
          || !read_at (zip, end64, END64_BYTES, at, error))
        return error && *error ? FALSE
                               : set_corrupt (zip, error, _ ("its zip64 record is missing"));
      if (memcmp (end64, "PK\6\6", 4) != 0)
        return set_corrupt (zip, error, _ ("its zip64 record is missing"));
      zip->directory_size = le64 (end64 + 40);
      zip->directory_at = le64 (end64 + 48);
      last = at;
    }
  /* Bytes before the archive shift all positions in it. */
  if (zip->directory_size > last || zip->directory_at > last - zip->directory_size)
    return set_corrupt (zip, error, _ ("its directory would lie beyond its end"));
  zip->shift = last - zip->directory_size - zip->directory_at;
  if (zip->directory_size > MAX_DIRECTORY)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” has a directory of more than 1 GB; divide it"),
                   zip->shown ? zip->shown : "");
      return FALSE;
    }
  return TRUE;
}

/* Reads sizes and the position that do not fit 32 bits from the extra field of zip64. */
static gboolean
take_zip64 (const guint8 *extra, gsize size, guint64 *unpacked, guint64 *stored, guint64 *at)
{
  guint64 *const wanted[] = { unpacked, stored, at };

  for (gsize i = 0; i + 4 <= size; i += 4 + le16 (extra + i + 2))
    {
      const guint8 *field = extra + i + 4;
      gsize left = le16 (extra + i + 2);

      if (le16 (extra + i) != 1 || left > size - i - 4)
        continue;
      for (guint k = 0; k < G_N_ELEMENTS (wanted); k++)
        if (*wanted[k] == G_MAXUINT32)
          {
            if (left < 8)
              return FALSE;
            *wanted[k] = le64 (field);
            field += 8;
            left -= 8;
          }
      return TRUE;
    }
  return *unpacked != G_MAXUINT32 && *stored != G_MAXUINT32 && *at != G_MAXUINT32;
}

/* Sets the position of a member to the beginning of its bytes; returns the reason why the member
 * cannot be used, or NULL. */
static const char *
find_bytes (const Zip *zip, const guint8 *entry, DynoMember *member, gboolean known)
{
  guint8 local[LOCAL_BYTES];
  guint32 method = le16 (entry + 10);
  gboolean unix_made = entry[5] == 3;
  guint64 end;

  if (unix_made && S_ISLNK (le32 (entry + 38) >> 16))
    return _ ("a link, which has no content of its own in the archive");
  if (le16 (entry + 8) & 1)
    return _ ("it is encrypted; make the archive again without a password");
  if (method != METHOD_STORED && method != METHOD_DEFLATED)
    return _ ("a compression that Dyno does not read; make the archive again with deflate");
  if (!known || !dyno_size_add (member->at, zip->shift, &member->at) || member->at > zip->size
      || read_some (zip, local, sizeof local, member->at) != (gssize) sizeof local
      || memcmp (local, "PK\3\4", 4) != 0)
    return _ ("its header is damaged");
  member->at += LOCAL_BYTES + le16 (local + 26) + le16 (local + 28);
  if (!dyno_size_add (member->at, member->stored, &end) || end > zip->size)
    return _ ("the archive ends inside it");
  member->deflated = method == METHOD_DEFLATED;
  if (!member->deflated && member->size != member->stored)
    return _ ("its header contradicts itself");
  return NULL;
}

static gboolean
give_entry (const Zip *zip, const guint8 *entry, gsize name_size, gsize extra_size,
            DynoMemberFunc func, gpointer data, GError **error)
{
  g_autofree char *name = g_strndup ((const char *) entry + ENTRY_BYTES, name_size);
  DynoMember member = {
    .name = name,
    .at = le32 (entry + 42),
    .stored = le32 (entry + 20),
    .size = le32 (entry + 24),
    .sum = le32 (entry + 16),
  };
  gboolean known;

  if (g_str_has_suffix (name, "/"))
    return TRUE;
  /* Some programs write the separators of their own system. */
  if (!strchr (name, '/'))
    g_strdelimit (name, "\\", '/');
  while (member.name[0] == '.' && member.name[1] == '/')
    member.name += 2;
  known = take_zip64 (entry + ENTRY_BYTES + name_size, extra_size, &member.size, &member.stored,
                      &member.at);
  member.refused = find_bytes (zip, entry, &member, known);
  return func (&member, data, error);
}

static gboolean
walk (Zip *zip, DynoMemberFunc func, gpointer data, GCancellable *cancellable, GError **error)
{
  g_autofree guint8 *directory = NULL;
  gsize at = 0;

  if (!find_directory (zip, error))
    return FALSE;
  directory = g_try_malloc (MAX (zip->directory_size, 1));
  if (!directory)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                   _ ("“%s”: no memory for its directory of %" PRIu64 " MB"),
                   zip->shown ? zip->shown : "", zip->directory_size >> 20);
      return FALSE;
    }
  if (!read_at (zip, directory, zip->directory_size, zip->directory_at + zip->shift, error))
    return FALSE;
  while (zip->directory_size - at >= ENTRY_BYTES && memcmp (directory + at, "PK\1\2", 4) == 0)
    {
      const guint8 *entry = directory + at;
      gsize name_size = le16 (entry + 28), extra_size = le16 (entry + 30),
            length = ENTRY_BYTES + name_size + extra_size + le16 (entry + 32);

      if (length > zip->directory_size - at)
        return set_corrupt (zip, error, _ ("its directory ends early"));
      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !give_entry (zip, entry, name_size, extra_size, func, data, error))
        return FALSE;
      at += length;
    }
  /* Nothing but a signature of the directory may follow. */
  if (zip->directory_size - at > 0
      && (zip->directory_size - at < 4 || memcmp (directory + at, "PK\5\5", 4) != 0))
    return set_corrupt (zip, error, _ ("its directory ends early"));
  return TRUE;
}

gboolean
dyno_zip_walk (int fd, guint64 size, const char *shown, DynoMemberFunc func, gpointer data,
               GCancellable *cancellable, GError **error)
{
  Zip zip = { .fd = fd, .size = size, .shown = shown };

  return walk (&zip, func, data, cancellable, error);
}

gboolean
dyno_zip_walk_memory (const guint8 *bytes, gsize size, DynoMemberFunc func, gpointer data,
                      GError **error)
{
  Zip zip = { .bytes = bytes, .fd = -1, .size = size };

  return walk (&zip, func, data, NULL, error);
}
