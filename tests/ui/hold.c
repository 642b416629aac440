/* SPDX-License-Identifier: MIT */
/* For preloading with LD_PRELOAD: while the file DYNO_TEST_HOLD exists, writes to the files of the
 * history block, and so do opening and querying paths below a folder named "held", as on a server
 * that does not answer. */
/* With it, pwrite would be redirected to pwrite64, and both are defined here. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef ssize_t (*Write) (int, const void *, size_t, off64_t);

static int
really_access (const char *path, int mode)
{
  static int (*real) (const char *, int);
  if (!real)
    real = (int (*) (const char *, int)) dlsym (RTLD_NEXT, "access");
  return real (path, mode);
}

static ssize_t
write_it (const char *name, int file, const void *data, size_t size, off64_t at)
{
  Write real = (Write) dlsym (RTLD_NEXT, name);
  const char *gate = getenv ("DYNO_TEST_HOLD");
  char link[64], path[4096];
  ssize_t length;

  snprintf (link, sizeof link, "/proc/self/fd/%d", file);
  length = readlink (link, path, sizeof path - 1);
  if (gate && length > 0)
    {
      path[length] = '\0';
      while (strstr (path, "history.sqlite") && really_access (gate, F_OK) == 0)
        usleep (1000);
    }
  return real (file, data, size, at);
}

static int
open_it (const char *name, const char *path, int flags, va_list rest)
{
  int (*real) (const char *, int, ...) = (int (*) (const char *, int, ...)) dlsym (RTLD_NEXT, name);
  const char *gate = getenv ("DYNO_TEST_HOLD");
  mode_t mode = flags & O_CREAT ? va_arg (rest, mode_t) : 0;

  while (gate && strstr (path, "/held") && really_access (gate, F_OK) == 0)
    usleep (1000);
  return real (path, flags, mode);
}

int
access (const char *path, int mode)
{
  const char *gate = getenv ("DYNO_TEST_HOLD");
  while (gate && strstr (path, "/held") && really_access (gate, F_OK) == 0)
    usleep (1000);
  return really_access (path, mode);
}

int open (const char *path, int flags, ...);
int open64 (const char *path, int flags, ...);

int
open (const char *path, int flags, ...)
{
  va_list rest;
  int file;

  va_start (rest, flags);
  file = open_it ("open", path, flags, rest);
  va_end (rest);
  return file;
}

int
open64 (const char *path, int flags, ...)
{
  va_list rest;
  int file;

  va_start (rest, flags);
  file = open_it ("open64", path, flags, rest);
  va_end (rest);
  return file;
}

ssize_t
pwrite (int file, const void *data, size_t size, off_t at)
{
  return write_it ("pwrite", file, data, size, at);
}

ssize_t
pwrite64 (int file, const void *data, size_t size, off64_t at)
{
  return write_it ("pwrite64", file, data, size, at);
}
