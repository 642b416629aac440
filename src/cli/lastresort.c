/* SPDX-License-Identifier: MIT */
/* Invariants: the signal handlers call only async-signal-safe functions; a process that has memory
 * left crashes as it would without this file. */
#include "lastresort.h"
#include "cli.h"
#include "log.h"
#include "room.h"
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SCARCE      (G_GUINT64_CONSTANT (64) << 20) /* allocators request this much at once */
#define STACK_BYTES (64 * 1024)

static void
write_text (const char *text)
{
  G_GNUC_UNUSED gssize n = write (STDERR_FILENO, text, strlen (text));
}

static void
leave (const char *who)
{
  write_text ("dynoctl: out of memory: ");
  write_text (who);
  write_text (
      "; what was saved before is whole.  Raise the limit of the process (ulimit -v), close other "
      "programs, or use a smaller batch and fewer workers\n");
  _exit (DYNO_EXIT_MEMORY);
}

static void
on_crash (int number)
{
  if (!dyno_room_has (SCARCE))
    leave ("a library or the driver got none and crashed");
  signal (number, SIG_DFL);
  raise (number);
}

static void
on_no_memory (const char *message)
{
  leave (message);
}

/* The signal handlers get a stack of their own: the main thread's stack grows on demand, which
 * fails where no memory is left. */
static void
make_stack (void)
{
  stack_t stack = { .ss_size = STACK_BYTES };

  stack.ss_sp =
      mmap (NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.ss_sp != MAP_FAILED)
    sigaltstack (&stack, NULL);
}

/* glibc reserves 64 MiB of address space for the allocations of each thread.  Where the address
 * space is limited (ulimit -v), the reservations of about ten threads use it up: then an allocation
 * of a few bytes fails, although nearly all of the reserved memory is free. */
static void
share_one_heap (void)
{
#ifdef M_ARENA_MAX
  struct rlimit space;

  if (getrlimit (RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    mallopt (M_ARENA_MAX, 1);
#endif
}

void
dyno_last_resort_init (void)
{
  static const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT, SIGTRAP };
  struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK }, before;

  share_one_heap ();
  make_stack ();
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (sigaction (numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction (numbers[i], &action, NULL);
  dyno_log_set_no_memory (on_no_memory);
}
