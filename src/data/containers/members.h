/* SPDX-License-Identifier: MIT */
/* What a .tar or .zip archive holds, and where: nothing is unpacked, and no member is read.  Both
 * formats are parsed here, for what is wanted are places in the file, which can then be read in any
 * order by any thread. */
#pragma once
#include "data-error.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  const char *name;    /* ended by 0, bytes as they are there, without "./" before */
  guint64 at, stored;  /* place and bytes in the file, which lie within it */
  guint64 size;        /* when inflated; equal to stored where it is not deflated */
  gboolean deflated;   /* raw deflate */
  guint32 sum;         /* CRC-32 of what is inflated; of a .tar's member 0 */
  const char *refused; /* why it cannot be used (a link, encrypted, cut off); NULL: it can */
} DynoMember;

typedef gboolean (*DynoMemberFunc) (const DynoMember *member, gpointer data, GError **error);

typedef enum {
  DYNO_ARCHIVE_NONE,
  DYNO_ARCHIVE_TAR,
  DYNO_ARCHIVE_ZIP,
  DYNO_ARCHIVE_OTHER, /* one that cannot be read in any order */
} DynoArchiveKind;

/* By the first bytes; other: what it is, for people ("gzip"). */
DynoArchiveKind dyno_archive_guess (int fd, guint64 size, const char **other);

/* Give every member to func but folders, in the archive's order; func ends it with an error.
 * shown: the file's name for messages.  A damaged header in the middle of a .tar is given as a
 * refused member, and nothing after it.  Errors: CORRUPT, UNSUPPORTED, TOO_LARGE, READ,
 * UNREACHABLE; G_IO_ERROR_CANCELLED. */
gboolean dyno_tar_walk (int fd, guint64 size, const char *shown, DynoMemberFunc func, gpointer data,
                        GCancellable *cancellable, GError **error);
gboolean dyno_zip_walk (int fd, guint64 size, const char *shown, DynoMemberFunc func, gpointer data,
                        GCancellable *cancellable, GError **error);

/* The same of a .zip in memory; messages do not name it.  Errors: CORRUPT, UNSUPPORTED,
 * TOO_LARGE. */
gboolean dyno_zip_walk_memory (const guint8 *bytes, gsize size, DynoMemberFunc func, gpointer data,
                               GError **error);

/* A header of a .tar's member (512 bytes) of this name, at most 100 bytes long, for writing. */
void dyno_tar_make_header (guint8 *header, const char *name, guint64 size);

G_END_DECLS
