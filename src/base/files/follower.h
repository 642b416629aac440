/* SPDX-License-Identifier: MIT */
/* The lines of a text file that another process writes: first the lines that are there, then those
 * that are added.  A file that was replaced or shortened is read from its beginning.  One
 * thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoFollower DynoFollower;

/* The file may not be there yet. */
DynoFollower *dyno_follower_new (const char *path);
void dyno_follower_free (DynoFollower *follower);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoFollower, dyno_follower_free)

/* The next whole line, its end left out, valid until the next call; NULL: there is none yet.  *anew
 * TRUE: the file was opened anew before this line, which is its first; earlier lines were of
 * another file.  Lines of more than a mebibyte are left out; a path that is no regular file has no
 * lines. */
const char *dyno_follower_next (DynoFollower *follower, gboolean *anew);

G_END_DECLS
