/* SPDX-License-Identifier: MIT */
/* Varies the schedule of threads and processes, for a program that preloads this library, and for
 * the programs that it starts:
 *
 * DYNO_CHAOS=SEED  threads sleep at the points where a scheduler could have taken the processor
 *                  from them: at their start, after they have made a thread, around locks and
 *                  conditions of GLib, at its queues and sources, and before system calls on files,
 *                  pipes and sockets.  Without it, or with 0, nothing happens.
 *
 * DYNO_CHAOS_LATE=MS:NAME  every thread of that name, such as dyno-saver, starts MS milliseconds
 *                          late; also without a seed.
 *
 * Each thread keeps one character: half of the threads are fast, others are slow, or so slow that
 * the rest are many steps ahead of them.  A test that passes with all seeds waits for events; one
 * that fails assumes that some thread has, or has not, done something by then.
 *
 * Characters and sleeps follow from the seed, the program's name, the lengths of its arguments, its
 * rank, and the number of the thread in its process, so a seed gives the same characters as long as
 * a program creates its threads in the same order.
 *
 * A thread sleeps for a limited part of its time (see get_allowance), so that tests end.  Threads
 * of a Vulkan driver compile kernels and compute: they are delayed only when they wake up, rarely
 * and briefly. */
/* With it, open would be redirected to open64, and both are defined here. */
#undef _FILE_OFFSET_BITS
#include <glib.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef enum {
  CHARACTER_UNKNOWN,
  CHARACTER_FAST,
  CHARACTER_SLOW,
  CHARACTER_VERY_SLOW,
  CHARACTER_DEVICE,
} Character;

/* A thread sleeps at one point in one_in, for at most most_us, and for at most start_us at its
 * start; credit_us: the time that it may sleep in addition to its share. */
static const struct {
  unsigned one_in, most_us, start_us, credit_us;
} characters[] = {
  [CHARACTER_FAST] = { 64, 2000, 1000, 100000 },
  [CHARACTER_SLOW] = { 4, 30000, 100000, 300000 },
  [CHARACTER_VERY_SLOW] = { 8, 300000, 1500000, 2000000 },
  [CHARACTER_DEVICE] = { 64, 5000, 0, 100000 },
};

static uint64_t process_seed; /* 0: inactive */
static unsigned first_of_8;
static unsigned n_threads;

static __thread struct {
  uint64_t state;
  Character character;
  int64_t begin_us, slept_us;
} self;

/* splitmix64 */
static uint64_t
mix (uint64_t x)
{
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static unsigned
draw (unsigned below)
{
  self.state = mix (self.state);
  return (unsigned) ((self.state >> 33) % below);
}

/* The real clock, even if other libraries replace clock_gettime. */
static int64_t
read_clock_us (void)
{
  struct timespec t;

  syscall (SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec * (int64_t) 1000000 + t.tv_nsec / 1000;
}

static void
begin_thread (int of_device)
{
  unsigned number = __atomic_fetch_add (&n_threads, 1, __ATOMIC_RELAXED), of_8;

  self.state = process_seed + 0x632be59bd9b4e019 * number;
  /* With four consecutive seeds, the first thread is fast twice, slow, and very slow. */
  of_8 = number == 0 ? first_of_8 : draw (8);
  self.character = of_device  ? CHARACTER_DEVICE
                   : of_8 < 4 ? CHARACTER_FAST
                   : of_8 < 6 ? CHARACTER_SLOW
                              : CHARACTER_VERY_SLOW;
  self.begin_us = read_clock_us ();
}

/* The time that the thread may have slept so far.  Several threads may wait for each other in turn:
 * the sum of their shares must stay below the whole time. */
static int64_t
get_allowance (void)
{
  return characters[self.character].credit_us + (read_clock_us () - self.begin_us) / 8;
}

static void
sleep_for (unsigned us)
{
  struct timespec t = { us / 1000000, us % 1000000 * 1000 };

  syscall (SYS_nanosleep, &t, NULL);
}

static void
sleep_us (unsigned us)
{
  if (self.slept_us + us > get_allowance ())
    return;
  self.slept_us += us;
  sleep_for (us);
}

/* A point at which the thread may sleep. */
static void
meet (int of_device_too)
{
  int before = errno;

  if (!process_seed)
    return;
  if (self.character == CHARACTER_UNKNOWN)
    begin_thread (0);
  if ((self.character != CHARACTER_DEVICE || of_device_too)
      && draw (characters[self.character].one_in) == 0)
    sleep_us (self.character == CHARACTER_SLOW && draw (32) == 0
                  ? 200000
                  : draw (characters[self.character].most_us));
  errno = before;
}

/* Uses the lengths of the arguments, since names of temporary folders differ but have equal
 * lengths. */
static uint64_t
hash_process (void)
{
  const char *rank = getenv ("OMPI_COMM_WORLD_RANK");
  uint64_t hash = rank ? 1 + (uint64_t) atoi (rank) : 0;
  int fd = (int) syscall (SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC), c = 0;
  static char text[4096];
  long n = fd < 0 ? 0 : syscall (SYS_read, fd, text, sizeof text);

  for (const char *p = program_invocation_short_name; *p; p++)
    hash = mix (hash + (unsigned char) *p);
  for (long i = 0; i < n; i++, c++)
    if (text[i] == '\0')
      hash = mix (hash + (uint64_t) c);
  if (fd >= 0)
    syscall (SYS_close, fd);
  return hash;
}

/* Tests pass DYNO_TEST_PRELOAD to programs as LD_PRELOAD; this library is added to it. */
static void
extend_preload (void)
{
  const char *others = getenv ("DYNO_TEST_PRELOAD");
  char text[8192];
  Dl_info own;

  if (!others || !*others || !dladdr ((void *) (uintptr_t) extend_preload, &own)
      || strstr (others, own.dli_fname))
    return;
  snprintf (text, sizeof text, "%s:%s", others, own.dli_fname);
  setenv ("DYNO_TEST_PRELOAD", text, 1);
}

__attribute__ ((constructor)) static void
begin_process (void)
{
  const char *text = getenv ("DYNO_CHAOS");
  uint64_t seed = text ? strtoull (text, NULL, 10) : 0, process = seed ? hash_process () : 0;

  if (seed > 0 || getenv ("DYNO_CHAOS_LATE"))
    extend_preload ();
  if (seed == 0)
    return;
  process_seed = mix (mix (seed) ^ process) | 1;
  first_of_8 = (unsigned) ((seed + process) % 4 * 2);
  meet (0);
}

#define NEXT(name) ((__typeof__ (&name)) next (&next_##name, #name))

static void *
next (void **found, const char *name)
{
  void *symbol = __atomic_load_n (found, __ATOMIC_RELAXED);

  if (!symbol)
    {
      symbol = dlsym (RTLD_NEXT, name);
      __atomic_store_n (found, symbol, __ATOMIC_RELAXED);
    }
  return symbol;
}

/* Defines a function that calls the next one of its name, after or before a point. */
#define BEFORE(type, name, parameters, arguments) \
  static void *next_##name;                       \
  type name parameters;                           \
  type name parameters                            \
  {                                               \
    meet (0);                                     \
    return NEXT (name) arguments;                 \
  }
#define AFTER(name, parameters, arguments) \
  static void *next_##name;                \
  void name parameters                     \
  {                                        \
    NEXT (name) arguments;                 \
    meet (0);                              \
  }

/* --- threads ---------------------------------------------------------------------------------- */

typedef struct {
  void *(*start) (void *);
  void *data;
  int of_device;
} Start;

static void *
start_thread (void *data)
{
  Start start = *(Start *) data;

  free (data);
  begin_thread (start.of_device);
  if (!start.of_device)
    sleep_us (draw (characters[self.character].start_us));
  return start.start (start.data);
}

static void *next_pthread_create;

int
pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *),
                void *data)
{
  Dl_info caller;
  Start *ours;
  int code;

  if (!process_seed || !(ours = malloc (sizeof *ours)))
    return NEXT (pthread_create) (thread, attributes, start, data);
  *ours = (Start){ .start = start, .data = data };
  if (dladdr (__builtin_return_address (0), &caller))
    ours->of_device = strstr (caller.dli_fname, "libvulkan") || strstr (caller.dli_fname, "LLVM");
  code = NEXT (pthread_create) (thread, attributes, start_thread, ours);
  if (code != 0)
    free (ours);
  meet (0);
  return code;
}

static void *next_pthread_cond_wait;

int
pthread_cond_wait (pthread_cond_t *cond, pthread_mutex_t *mutex)
{
  int code = NEXT (pthread_cond_wait) (cond, mutex);

  meet (1);
  return code;
}

static void *next_pthread_setname_np;

/* GLib names a thread before it calls the thread's function. */
int
pthread_setname_np (pthread_t thread, const char *name)
{
  int code = NEXT (pthread_setname_np) (thread, name);
  const char *late = getenv ("DYNO_CHAOS_LATE"), *colon = late ? strchr (late, ':') : NULL;

  if (colon && strcmp (colon + 1, name) == 0 && pthread_equal (thread, pthread_self ()))
    sleep_for (1000 * (unsigned) atoi (late));
  return code;
}

/* --- GLib, whose locks are system calls of its own ------------------------------------------- */

BEFORE (void, g_mutex_lock, (GMutex * mutex), (mutex))
AFTER (g_mutex_unlock, (GMutex * mutex), (mutex))
AFTER (g_cond_signal, (GCond * cond), (cond))
AFTER (g_cond_broadcast, (GCond * cond), (cond))
BEFORE (void, g_async_queue_push, (GAsyncQueue * queue, gpointer item), (queue, item))
BEFORE (gpointer, g_async_queue_pop, (GAsyncQueue * queue), (queue))
BEFORE (gpointer, g_async_queue_try_pop, (GAsyncQueue * queue), (queue))
BEFORE (guint, g_idle_add_full,
        (gint priority, GSourceFunc f, gpointer data, GDestroyNotify destroy),
        (priority, f, data, destroy))
BEFORE (guint, g_idle_add, (GSourceFunc f, gpointer data), (f, data))
BEFORE (guint, g_source_attach, (GSource * source, GMainContext *context), (source, context))
BEFORE (void, g_main_context_invoke, (GMainContext * context, GSourceFunc f, gpointer data),
        (context, f, data))
BEFORE (gpointer, g_thread_join, (GThread * thread), (thread))

/* --- files, pipes and sockets ---------------------------------------------------------------- */

#define OPEN(name)                             \
  static void *next_##name;                    \
  int name (const char *path, int flags, ...); \
  int name (const char *path, int flags, ...)  \
  {                                            \
    va_list rest;                              \
    mode_t mode = 0;                           \
                                               \
    va_start (rest, flags);                    \
    if (flags & (O_CREAT | O_TMPFILE))         \
      mode = va_arg (rest, mode_t);            \
    va_end (rest);                             \
    meet (0);                                  \
    return NEXT (name) (path, flags, mode);    \
  }
OPEN (open)
OPEN (open64)
BEFORE (int, rename, (const char *from, const char *to), (from, to))
BEFORE (int, link, (const char *from, const char *to), (from, to))
BEFORE (int, unlink, (const char *path), (path))
BEFORE (int, fsync, (int fd), (fd))
BEFORE (ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
BEFORE (ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
BEFORE (ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
BEFORE (ssize_t, send, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
BEFORE (ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
BEFORE (int, listen, (int fd, int n), (fd, n))
BEFORE (int, kill, (pid_t process, int number), (process, number))
