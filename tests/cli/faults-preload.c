/* SPDX-License-Identifier: MIT */
/* Faults for a program that preloads this library:
 *
 * DYNO_TEST_THREADS=N        GLib gets at most N threads (those of a driver do not count)
 * DYNO_TEST_STUCK=TEXT       opening a file whose path contains TEXT blocks for ever, as on a
 *                            server that does not answer
 * DYNO_TEST_STUCK_WHILE=FILE ... as long as FILE exists
 * DYNO_TEST_STUCK_FD=FD      ... after a byte is written to FD
 * DYNO_TEST_UNPLUGGED=FILE   while FILE exists, pread of a file whose name ends in .npy fails with
 *                            EIO, as from a disk that was unplugged
 * DYNO_TEST_HELD=FILE        while FILE exists, pread of such a file blocks
 * DYNO_TEST_SLOW=MS          pread of such a file takes MS milliseconds longer, as from a slow disk
 * DYNO_TEST_DISK=BYTES       no named file grows past BYTES, as on a full disk; RLIMIT_FSIZE would
 *                            also limit the unnamed files in which Mesa's newer software devices
 *                            have their memory
 * DYNO_TEST_ALLOC=N          the N-th allocation of DYNO_TEST_ALLOC_BYTES or more by dynoctl or GLib
 *                            fails, and DYNO_TEST_ALLOC_FILE is created
 * DYNO_TEST_NO_LOCKS         no file can be locked
 * DYNO_TEST_NO_KILL=FILE     while FILE exists, sending SIGKILL blocks
 * DYNO_TEST_PATIENCE=SECONDS sending SIGKILL to a process, or to the group of one, first waits this
 *                            long for the process to end on its own
 * DYNO_TEST_CLOCK=FILE       the monotonic clock is ahead by the number of nanoseconds in the eight
 *                            bytes of FILE
 * DYNO_TEST_SIGNAL_CLOCK=FD  the monotonic clock stands still for the program itself, in which only
 *                            the signal handler reads it without GLib; each reading writes a byte
 *                            to FD
 * DYNO_TEST_NOW=SECONDS      the time of day stands still at SECONDS
 * DYNO_TEST_LOCALE=POINT     the locale of the environment is set before the program begins, which
 *                            ends at once if the decimal point is not POINT
 * DYNO_TEST_JUMP=FILE        while FILE exists, the time of day that GLib reads is ten years ahead */
/* With it, open would be redirected to open64, and both are defined here. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real_clock) (clockid_t, struct timespec *);
static const volatile int64_t *ahead_ns; /* NULL: not requested */
static int signal_clock = -1;
static time_t now;                           /* 0: the real time */
static uintptr_t program_begin, program_end; /* address range of the program's code and data */

/* The program is the first object that is reported. */
static int
find_program (struct dl_phdr_info *info, size_t size, void *data)
{
  (void) size;
  (void) data;
  program_begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD)
      {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                  end = begin + info->dlpi_phdr[i].p_memsz;

        program_begin = begin < program_begin ? begin : program_begin;
        program_end = end > program_end ? end : program_end;
      }
  return 1;
}

/* A signal handler may ask for the time, so everything is prepared beforehand. */
__attribute__ ((constructor)) static void
prepare_clock (void)
{
  const char *file = getenv ("DYNO_TEST_CLOCK"), *fd = getenv ("DYNO_TEST_SIGNAL_CLOCK"),
             *text = getenv ("DYNO_TEST_NOW");

  real_clock = (int (*) (clockid_t, struct timespec *)) dlsym (RTLD_NEXT, "clock_gettime");
  now = text ? atoll (text) : 0;
  if (file)
    {
      int clock = open (file, O_RDONLY | O_CLOEXEC);
      void *mapped = mmap (NULL, sizeof *ahead_ns, PROT_READ, MAP_SHARED, clock, 0);

      if (clock < 0 || mapped == MAP_FAILED)
        abort ();
      ahead_ns = mapped;
    }
  if (fd)
    {
      signal_clock = atoi (fd);
      dl_iterate_phdr (find_program, NULL);
    }
}

__attribute__ ((constructor)) static void
set_locale (void)
{
  const char *point = getenv ("DYNO_TEST_LOCALE");

  if (point && (!setlocale (LC_ALL, "") || strcmp (localeconv ()->decimal_point, point) != 0))
    abort ();
}

int
clock_gettime (clockid_t clock, struct timespec *time)
{
  uintptr_t caller = (uintptr_t) __builtin_return_address (0);
  int code;

  if (!real_clock) /* called by another library's constructor */
    real_clock = (int (*) (clockid_t, struct timespec *)) dlsym (RTLD_NEXT, "clock_gettime");
  code = real_clock (clock, time);
  if (clock == CLOCK_REALTIME && now)
    *time = (struct timespec){ now, 0 };
  if (code != 0 || clock != CLOCK_MONOTONIC)
    return code;
  if (signal_clock >= 0 && caller >= program_begin && caller < program_end)
    {
      *time = (struct timespec){ 1000, 0 };
      while (write (signal_clock, "", 1) < 0 && errno == EINTR)
        ;
    }
  else if (ahead_ns)
    {
      int64_t ns = time->tv_nsec + *ahead_ns;

      time->tv_sec += ns / 1000000000;
      time->tv_nsec = ns % 1000000000;
    }
  return 0;
}

int gettimeofday (struct timeval *time, void *zone);

int
gettimeofday (struct timeval *time, void *zone)
{
  const char *jump = getenv ("DYNO_TEST_JUMP");
  int before = errno;
  struct timespec t;

  (void) zone;
  clock_gettime (CLOCK_REALTIME, &t);
  *time = (struct timeval){ t.tv_sec, t.tv_nsec / 1000 };
  if (jump && access (jump, F_OK) == 0)
    time->tv_sec += 10 * 365 * 86400;
  errno = before;
  return 0;
}

int
pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *),
                void *data)
{
  static int (*real) (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
  static int made;
  const char *most = getenv ("DYNO_TEST_THREADS");
  Dl_info caller;

  if (!real)
    real = (int (*) (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *)) dlsym (
        RTLD_NEXT, "pthread_create");
  if (most && dladdr (__builtin_return_address (0), &caller) && strstr (caller.dli_fname, "libglib")
      && __atomic_add_fetch (&made, 1, __ATOMIC_RELAXED) > atoi (most))
    return EAGAIN;
  return real (thread, attributes, start, data);
}

/* An ended process stays a zombie until its parent reads its exit code. */
static int
has_ended (pid_t process)
{
  char path[64], text[256];
  const char *name_end;
  int fd;
  ssize_t n;

  snprintf (path, sizeof path, "/proc/%d/stat", (int) process);
  fd = (int) syscall (SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  n = fd < 0 ? 0 : read (fd, text, sizeof text - 1);
  if (fd >= 0)
    close (fd);
  text[n > 0 ? n : 0] = '\0';
  name_end = strrchr (text, ')');
  return !name_end || strncmp (name_end, ") Z", 3) == 0 || strncmp (name_end, ") X", 3) == 0;
}

int
kill (pid_t process, int number)
{
  int (*real) (pid_t, int) = (int (*) (pid_t, int)) dlsym (RTLD_NEXT, "kill");
  const char *held = getenv ("DYNO_TEST_NO_KILL"), *patience = getenv ("DYNO_TEST_PATIENCE");
  pid_t one = process < 0 ? -process : process;
  long left = number == SIGKILL && patience && one > 1 ? atol (patience) * 100 : 0;

  while (number == SIGKILL && held && access (held, F_OK) == 0)
    usleep (10000);
  while (left-- > 0 && !has_ended (one))
    usleep (10000);
  return real (process, number);
}

static int
open_it (const char *name, const char *path, int flags, mode_t mode)
{
  int (*real) (const char *, int, ...) = (int (*) (const char *, int, ...)) dlsym (RTLD_NEXT, name);
  const char *stuck = getenv ("DYNO_TEST_STUCK"), *only = getenv ("DYNO_TEST_STUCK_WHILE"),
             *fd = getenv ("DYNO_TEST_STUCK_FD");

  if (stuck && fd && strstr (path, stuck) && write (atoi (fd), "", 1) != 1)
    abort ();
  while (stuck && strstr (path, stuck) && (!only || access (only, F_OK) == 0))
    usleep (10000);
  return real (path, flags, mode);
}

int open (const char *path, int flags, ...);
int open64 (const char *path, int flags, ...);

int
open (const char *path, int flags, ...)
{
  va_list rest;
  mode_t mode = 0;

  va_start (rest, flags);
  if (flags & O_CREAT)
    mode = va_arg (rest, mode_t);
  va_end (rest);
  return open_it ("open", path, flags, mode);
}

int
open64 (const char *path, int flags, ...)
{
  va_list rest;
  mode_t mode = 0;

  va_start (rest, flags);
  if (flags & O_CREAT)
    mode = va_arg (rest, mode_t);
  va_end (rest);
  return open_it ("open64", path, flags, mode);
}

static ssize_t
pread_it (const char *name, int fd, void *data, size_t size, off_t offset)
{
  ssize_t (*real) (int, void *, size_t, off_t) =
      (ssize_t (*) (int, void *, size_t, off_t)) dlsym (RTLD_NEXT, name);
  const char *unplugged = getenv ("DYNO_TEST_UNPLUGGED"), *slow = getenv ("DYNO_TEST_SLOW"),
             *held = getenv ("DYNO_TEST_HELD");
  int gone = unplugged && access (unplugged, F_OK) == 0;
  char link[32], path[PATH_MAX];
  ssize_t n;

  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  if ((gone || slow || held) && (n = readlink (link, path, sizeof path)) > 4
      && !memcmp (path + n - 4, ".npy", 4))
    {
      if (gone)
        {
          errno = EIO;
          return -1;
        }
      while (held && access (held, F_OK) == 0)
        usleep (10000);
      if (slow)
        usleep ((useconds_t) atoi (slow) * 1000);
    }
  return real (fd, data, size, offset);
}

ssize_t
pread (int fd, void *data, size_t size, off_t offset)
{
  return pread_it ("pread", fd, data, size, offset);
}

/* off_t has 64 bits here. */
ssize_t pread64 (int fd, void *data, size_t size, off_t offset);

ssize_t
pread64 (int fd, void *data, size_t size, off_t offset)
{
  return pread_it ("pread64", fd, data, size, offset);
}

static int
is_full (int fd, off_t end)
{
  const char *most = getenv ("DYNO_TEST_DISK");
  struct stat file;

  if (!most || fstat (fd, &file) != 0 || !S_ISREG (file.st_mode) || file.st_nlink == 0
      || end <= atoll (most))
    return 0;
  errno = ENOSPC;
  return 1;
}

ssize_t
write (int fd, const void *data, size_t size)
{
  ssize_t (*real) (int, const void *, size_t) =
      (ssize_t (*) (int, const void *, size_t)) dlsym (RTLD_NEXT, "write");
  int before = errno;
  off_t place = lseek (fd, 0, SEEK_CUR);

  errno = before; /* a pipe has no position */
  return place >= 0 && is_full (fd, place + (off_t) size) ? -1 : real (fd, data, size);
}

static ssize_t
pwrite_it (const char *name, int fd, const void *data, size_t size, off_t offset)
{
  ssize_t (*real) (int, const void *, size_t, off_t) =
      (ssize_t (*) (int, const void *, size_t, off_t)) dlsym (RTLD_NEXT, name);

  return is_full (fd, offset + (off_t) size) ? -1 : real (fd, data, size, offset);
}

ssize_t
pwrite (int fd, const void *data, size_t size, off_t offset)
{
  return pwrite_it ("pwrite", fd, data, size, offset);
}

ssize_t pwrite64 (int fd, const void *data, size_t size, off_t offset);

ssize_t
pwrite64 (int fd, const void *data, size_t size, off_t offset)
{
  return pwrite_it ("pwrite64", fd, data, size, offset);
}

static int
ftruncate_it (const char *name, int fd, off_t size)
{
  int (*real) (int, off_t) = (int (*) (int, off_t)) dlsym (RTLD_NEXT, name);

  return is_full (fd, size) ? -1 : real (fd, size);
}

int
ftruncate (int fd, off_t size)
{
  return ftruncate_it ("ftruncate", fd, size);
}

int ftruncate64 (int fd, off_t size);

int
ftruncate64 (int fd, off_t size)
{
  return ftruncate_it ("ftruncate64", fd, size);
}

static int
fcntl_it (const char *name, int fd, int command, void *argument)
{
  int (*real) (int, int, ...) = (int (*) (int, int, ...)) dlsym (RTLD_NEXT, name);

  if (getenv ("DYNO_TEST_NO_LOCKS")
      && (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK))
    {
      errno = ENOLCK;
      return -1;
    }
  return real (fd, command, argument);
}

int fcntl (int fd, int command, ...);
int fcntl64 (int fd, int command, ...);

int
fcntl (int fd, int command, ...)
{
  va_list rest;
  void *argument;

  va_start (rest, command);
  argument = va_arg (rest, void *);
  va_end (rest);
  return fcntl_it ("fcntl", fd, command, argument);
}

int
fcntl64 (int fd, int command, ...)
{
  va_list rest;
  void *argument;

  va_start (rest, command);
  argument = va_arg (rest, void *);
  va_end (rest);
  return fcntl_it ("fcntl64", fd, command, argument);
}

/* --- memory ----------------------------------------------------------------------------------- */

void *__libc_malloc (size_t size);
void *__libc_calloc (size_t n, size_t size);
void *__libc_realloc (void *old, size_t size);

/* Allocations of drivers and other libraries are not refused, since they are not Dyno's. */
static int
is_refused (size_t size, void *caller)
{
  static int most = -1, n;
  static size_t least;
  const char *number;
  Dl_info info;
  int fd;

  if (most < 0)
    {
      number = getenv ("DYNO_TEST_ALLOC_BYTES");
      least = number ? (size_t) atoll (number) : 0;
      number = getenv ("DYNO_TEST_ALLOC");
      most = number ? atoi (number) : 0;
    }
  if (most == 0 || size < least || !dladdr (caller, &info)
      || (!strstr (info.dli_fname, "libglib") && !strstr (info.dli_fname, "dynoctl"))
      || __atomic_add_fetch (&n, 1, __ATOMIC_RELAXED) != most)
    return 0;
  fd = open_it ("open", getenv ("DYNO_TEST_ALLOC_FILE"), O_CREAT | O_WRONLY, 0600);
  if (fd >= 0)
    close (fd);
  errno = ENOMEM;
  return 1;
}

void *
malloc (size_t size)
{
  return is_refused (size, __builtin_return_address (0)) ? NULL : __libc_malloc (size);
}

void *
calloc (size_t n, size_t size)
{
  return is_refused (n * size, __builtin_return_address (0)) ? NULL : __libc_calloc (n, size);
}

void *
realloc (void *old, size_t size)
{
  return is_refused (size, __builtin_return_address (0)) ? NULL : __libc_realloc (old, size);
}
