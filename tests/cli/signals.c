/* SPDX-License-Identifier: MIT */
/* Which signals count as one request, tested with made-up times. */
#include "signalrule.h"
#include <signal.h>

#define MS_NS    G_GINT64_CONSTANT (1000000)
#define TERMINAL 0
#define SHELL    1234
#define OTHER    1235

typedef struct {
  int number;
  pid_t sender;
  int next_number;
  pid_t next_sender;
  gint64 within_ms; /* the longest time between two signals of one request; 0: never one request */
} Pair;

static const Pair pairs[] = {
  /* each Ctrl-C is a request of its own */
  { SIGINT, TERMINAL, SIGINT, TERMINAL, 0 },
  /* timeout -s INT, and a program that forwards a Ctrl-C */
  { SIGINT, SHELL, SIGINT, SHELL, 10 },
  { SIGINT, TERMINAL, SIGINT, SHELL, 10 },
  { SIGINT, SHELL, SIGINT, TERMINAL, 10 },
  { SIGINT, SHELL, SIGINT, OTHER, 10 },
  /* a user who does not wait for the end that a batch system has requested */
  { SIGTERM, SHELL, SIGINT, TERMINAL, 10 },
  /* timeout, mpirun after a Ctrl-C, batch systems */
  { SIGTERM, SHELL, SIGTERM, SHELL, 100 },
  { SIGTERM, SHELL, SIGTERM, OTHER, 100 },
  { SIGINT, TERMINAL, SIGTERM, SHELL, 100 },
  { SIGUSR1, SHELL, SIGTERM, OTHER, 100 },
  { SIGHUP, TERMINAL, SIGTERM, SHELL, 100 },
  { SIGHUP, TERMINAL, SIGHUP, TERMINAL, 100 },
};

static gboolean
repeats (const Pair *pair, gint64 after_ns)
{
  const gint64 begin = G_GINT64_CONSTANT (5000) * 1000 * MS_NS;
  const DynoSignal first = { pair->number, pair->sender, begin },
                   next = { pair->next_number, pair->next_sender, begin + after_ns };

  return dyno_signal_repeats (&first, &next);
}

static void
test_pairs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      const Pair *pair = &pairs[i];
      gint64 limit = pair->within_ms * MS_NS;

      g_test_message ("signal %d from %d, then %d from %d", pair->number, (int) pair->sender,
                      pair->next_number, (int) pair->next_sender);
      g_assert_true (repeats (pair, 0) == (limit > 0));
      if (limit > 0)
        g_assert_true (repeats (pair, limit - 1));
      g_assert_false (repeats (pair, limit));
      g_assert_false (repeats (pair, limit + 3600 * 1000 * MS_NS));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/signals/which-are-one-request", test_pairs);
  return g_test_run ();
}
