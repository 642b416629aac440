/* SPDX-License-Identifier: MIT */
/* The test is a mapping that is made and removed again: it is subject to the limit of the process
 * (ulimit -v) and, where the system does not overcommit memory, to the machine's. */
#include "room.h"
#include <errno.h>
#include <sys/mman.h>

gboolean
dyno_room_has (guint64 bytes)
{
  int before = errno;
  void *room = mmap (NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (room != MAP_FAILED)
    munmap (room, bytes);
  errno = before;
  return room != MAP_FAILED;
}
