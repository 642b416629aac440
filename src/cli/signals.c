/* SPDX-License-Identifier: MIT */
/* The handler does only what is async-signal-safe: clock_gettime, an atomic store, write and _exit.
 * The signals block each other. */
#include "signals.h"
#include "signalrule.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int caught, hung_up; /* set in the thread that gets the signal, which may be any */
static DynoSignal first;
static int wake[2] = { -1, -1 };

G_STATIC_ASSERT (ATOMIC_INT_LOCK_FREE == 2); /* otherwise a signal handler must not use atomics */

static void
handle (int number, siginfo_t *info, void *context)
{
  static const char text[] = "\ndynoctl: ended at once\n";
  DynoSignal signal = { .number = number, .sender = info->si_pid };
  struct timespec now;
  int code = errno;

  (void) context;
  clock_gettime (CLOCK_MONOTONIC, &now);
  signal.at_ns = (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
  if (caught)
    {
      if (dyno_signal_repeats (&first, &signal))
        return;
      ssize_t ignored = write (STDERR_FILENO, text, sizeof text - 1);
      (void) ignored;
      _exit (number == SIGINT ? DYNO_EXIT_INTERRUPTED : DYNO_EXIT_TERMINATED);
    }
  first = signal;
  caught = number;
  if (wake[1] >= 0)
    {
      ssize_t ignored = write (wake[1], "", 1);
      (void) ignored;
    }
  errno = code;
}

void
dyno_signals_ignore_pipe (void)
{
  struct sigaction action = { .sa_handler = SIG_IGN };
  sigaction (SIGPIPE, &action, NULL);
}

void
dyno_signals_catch (void)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
  struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_RESTART | SA_SIGINFO }, old;

  sigemptyset (&action.sa_mask);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    sigaddset (&action.sa_mask, numbers[i]);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      if (numbers[i] == SIGHUP && sigaction (SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        continue;
      sigaction (numbers[i], &action, NULL);
    }
}

static void
note_hangup (int number)
{
  (void) number;
  hung_up = 1;
}

void
dyno_signals_survive_hangup (void)
{
  struct sigaction action = { .sa_handler = note_hangup, .sa_flags = SA_RESTART }, old;

  if (sigaction (SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
    sigaction (SIGHUP, &action, NULL);
}

gboolean
dyno_signals_take_hangup (void)
{
  gboolean came = hung_up != 0;

  hung_up = 0;
  return came;
}

int
dyno_signals_get (void)
{
  return caught;
}

DynoExitCode
dyno_signals_exit_code (int signal_number)
{
  return signal_number == SIGINT ? DYNO_EXIT_INTERRUPTED : DYNO_EXIT_TERMINATED;
}

static gpointer
wait_for_signal (gpointer data)
{
  char byte;

  while (read (wake[0], &byte, 1) < 0 && errno == EINTR)
    ;
  g_cancellable_cancel (data);
  return NULL;
}

GCancellable *
dyno_signals_get_cancellable (void)
{
  static GCancellable *cancellable;
  GThread *thread = NULL; /* without it only the second signal ends work before the session */

  if (cancellable)
    return cancellable;
  cancellable = g_cancellable_new ();
  if (pipe2 (wake, O_CLOEXEC) == 0)
    thread = g_thread_try_new ("dyno-signal", wait_for_signal, cancellable, NULL);
  if (thread)
    g_thread_unref (thread);
  return cancellable;
}
