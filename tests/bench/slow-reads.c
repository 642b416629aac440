/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for tuner-cases and bottlenecks: a disk that takes DYNO_SLOW_US microseconds for each
 * read, without data in the system's cache. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t
pread64 (int fd, void *buffer, size_t size, off64_t offset)
{
  static ssize_t (*next) (int, void *, size_t, off64_t);
  const char *delay = getenv ("DYNO_SLOW_US");

  if (!next)
    *(void **) &next = dlsym (RTLD_NEXT, "pread64");
  if (delay)
    usleep ((useconds_t) atoi (delay));
  return next (fd, buffer, size, offset);
}

/* A call with RWF_NOWAIT, which asks whether a read would block, is answered that it would. */
ssize_t
preadv64v2 (int fd, const struct iovec *pieces, int n, off64_t offset, int flags)
{
  (void) fd, (void) pieces, (void) n, (void) offset, (void) flags;
  errno = EAGAIN;
  return -1;
}
