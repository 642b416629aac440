/* SPDX-License-Identifier: MIT */
/* mpi-rank CASE [BYTES | FILE]: one of several ranks over MPI; tests/comm/mpi starts them and
 * checks their output.  Exit code 0: the expectation of the case was met. */
#include "comm.h"
#include "half.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static float
value_of (guint rank, gsize i)
{
  return ldexpf (1.0f + (float) ((i * 7919 + rank * 104729) % 1000) / 999.0f,
                 (int) ((i + 5 * rank) % 24))
         * (rank & 1 ? -1.0f : 1.0f);
}

static float
half_of (guint rank, gsize i)
{
  return ldexpf (1.0f + (float) ((i * 31 + rank * 77) % 1000) / 999.0f, (int) ((i + 3 * rank) % 12))
         * (rank & 1 ? -1.0f : 1.0f);
}

static void
fill (DynoComm *comm, float *values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    values[i] = value_of (dyno_comm_get_rank (comm), i);
}

/* The values must be bit-identical to sums in the order of the ranks. */
static void
check (DynoComm *comm, const float *values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      float sum = value_of (0, i);
      for (guint r = 1; r < dyno_comm_get_size (comm); r++)
        sum += value_of (r, i);
      g_assert_cmpmem (&sum, sizeof sum, &values[i], sizeof sum);
    }
}

/* Sums of one hop, of segments with and without a remainder, and of several pieces; blocking and
 * concurrent. */
static void
sums (DynoComm *comm)
{
  static const gsize lengths[] = { 0, 1, 3, 2048, 2049, 5000, 4099, 1048576, 2500001 };
  g_autofree float *values[G_N_ELEMENTS (lengths)] = { NULL };
  DynoCommRequest *requests[G_N_ELEMENTS (lengths)];

  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      g_autofree float *alone = g_new (float, lengths[k] + 1);
      fill (comm, alone, lengths[k]);
      g_assert_true (dyno_comm_sum (comm, alone, lengths[k], DYNO_COMM_FLOAT32, NULL));
      check (comm, alone, lengths[k]);
    }
  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      values[k] = g_new (float, lengths[k] + 1);
      fill (comm, values[k], lengths[k]);
      requests[k] = dyno_comm_sum_begin (comm, values[k], lengths[k], DYNO_COMM_FLOAT32, NULL);
    }
  for (guint k = G_N_ELEMENTS (lengths); k-- > 0;)
    g_assert_true (dyno_comm_wait (comm, requests[k], -1, NULL, NULL));
  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      check (comm, values[k], lengths[k]);
      g_free (g_steal_pointer (&values[k]));
    }
}

/* Sums in fp32 in the order of the ranks, rounded once: of one hop, and of segments. */
static void
half_sums (DynoComm *comm)
{
  static const gsize lengths[] = { 1, 7, 4096, 4099, 5000, 1048583 };

  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      g_autofree guint16 *values = g_new (guint16, lengths[k]);
      for (gsize i = 0; i < lengths[k]; i++)
        values[i] = dyno_half_from_float (half_of (dyno_comm_get_rank (comm), i));
      g_assert_true (dyno_comm_sum (comm, values, lengths[k], DYNO_COMM_FLOAT16, NULL));
      for (gsize i = 0; i < lengths[k]; i++)
        {
          float sum = 0;
          for (guint r = 0; r < dyno_comm_get_size (comm); r++)
            sum += dyno_half_to_float (dyno_half_from_float (half_of (r, i)));
          g_assert_cmphex (values[i], ==, dyno_half_from_float (sum));
        }
    }
}

static void
others (DynoComm *comm)
{
  enum { BYTES = 5 << 20 };
  guint rank = dyno_comm_get_rank (comm), size = dyno_comm_get_size (comm);
  g_autofree guint8 *data = g_malloc (BYTES), *all = g_malloc ((gsize) BYTES * size);
  g_autoptr (GError) error = NULL;
  guint64 counts[2] = { rank + 1, G_MAXUINT64 };

  memset (data, (int) rank, BYTES);
  g_assert_true (dyno_comm_gather (comm, data, BYTES, all, NULL));
  for (guint r = 0; r < size; r++)
    {
      g_assert_cmpuint (all[(gsize) r * BYTES], ==, r);
      g_assert_cmpuint (all[(gsize) (r + 1) * BYTES - 1], ==, r);
    }
  g_assert_true (dyno_comm_broadcast (comm, data, BYTES, size - 1, NULL));
  g_assert_cmpuint (data[0], ==, size - 1);
  g_assert_cmpuint (data[BYTES - 1], ==, size - 1);
  g_assert_true (dyno_comm_sum (comm, counts, 2, DYNO_COMM_UINT64, NULL));
  g_assert_cmpuint (counts[0], ==, size * (size + 1) / 2);
  g_assert_cmpuint (counts[1], ==, (guint64) 0 - size);
  g_assert_true (dyno_comm_compare (comm, "batch\t32", NULL));
  g_assert_false (dyno_comm_compare (comm, rank == 1 ? "batch\t64" : "batch\t32", &error));
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_DIFFERS);
  g_assert_nonnull (strstr (error->message, "rank 1 on "));
  g_assert_nonnull (strstr (error->message, "has batch = 64 where rank 0 on "));
}

/* Sums until the communicator fails; rank 1 causes the failure, in the way that `how` names. */
static void
lose (DynoComm *comm, const char *how)
{
  g_autoptr (GError) error = NULL;
  float value[5000] = { 1 };
  guint step = 0;

  /* When a rank has died, mpirun sends SIGTERM to the others and kills them a second later; they
   * report the failure within this second. */
  signal (SIGTERM, SIG_IGN);
  while (dyno_comm_sum (comm, value, G_N_ELEMENTS (value), DYNO_COMM_FLOAT32, &error))
    {
      if (++step != 50 || dyno_comm_get_rank (comm) != 1)
        continue;
      if (g_str_equal (how, "abort"))
        dyno_comm_abort (comm, "the disk is full");
      else if (g_str_equal (how, "exit"))
        return;
      else
        raise (g_str_equal (how, "kill") ? SIGKILL : SIGSTOP);
    }
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
  if (dyno_comm_get_rank (comm) == 0)
    fprintf (stderr, "LOST %s\n", error->message);
}

/* All ranks fail independently; one of them is the speaker, which reports the failure. */
static void
fail_alike (DynoComm *comm)
{
  signal (SIGTERM, SIG_IGN);
  dyno_comm_abort (comm, "it has no memory");
  if (dyno_comm_is_speaker (comm))
    fprintf (stderr, "LOST rank %u on all: it has no memory\n", dyno_comm_get_rank (comm));
}

static void
differ (DynoComm *comm)
{
  g_autofree float *values = g_new0 (float, 10000);
  g_autoptr (GError) error = NULL;

  g_assert_false (dyno_comm_sum (comm, values, dyno_comm_get_rank (comm) == 1 ? 9000 : 10000,
                                 DYNO_COMM_FLOAT32, &error));
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
  fprintf (stderr, "LOST %s\n", error->message);
}

/* Whether no thread of the process is running or runnable, by state 'S' in /proc. */
static gboolean
is_asleep (guint64 process)
{
  g_autofree char *tasks = g_strdup_printf ("/proc/%" G_GUINT64_FORMAT "/task", process);
  g_autoptr (GDir) folder = g_dir_open (tasks, 0, NULL);
  const char *name;
  gboolean asleep = TRUE;

  g_assert_nonnull (folder);
  while ((name = g_dir_read_name (folder)) && asleep)
    {
      g_autofree char *file = g_build_filename (tasks, name, "stat", NULL), *text = NULL;
      const char *state;

      if (!g_file_get_contents (file, &text, NULL, NULL))
        continue; /* the thread has ended */
      state = strrchr (text, ')');
      asleep = state && g_str_has_prefix (state, ") S");
    }
  return asleep;
}

/* Rank 0 waits for rank 1, which joins after it has seen rank 0 asleep 20 times; a busy wait never
 * sleeps. */
static void
wait_idle (DynoComm *comm)
{
  gboolean waits = dyno_comm_get_rank (comm) == 0;
  guint64 process = waits ? (guint64) getpid () : 0;
  g_autofree char *comm_file = NULL;
  DynoCommRequest *request;
  float value = 1;

  g_assert_true (dyno_comm_sum (comm, &process, 1, DYNO_COMM_UINT64, NULL));
  comm_file = g_strdup_printf ("/proc/%" G_GUINT64_FORMAT "/comm", process);
  for (guint seen = 0; !waits && seen < 20; g_usleep (1000))
    {
      g_autofree char *name = NULL;

      g_assert_true (g_file_get_contents (comm_file, &name, NULL, NULL));
      if (g_str_equal (name, "waits\n") && is_asleep (process))
        seen++;
    }
  request = dyno_comm_sum_begin (comm, &value, 1, DYNO_COMM_FLOAT32, NULL);
  if (waits)
    prctl (PR_SET_NAME, "waits");
  g_assert_true (dyno_comm_wait (comm, request, -1, NULL, NULL));
  g_assert_cmpfloat (value, ==, 2);
}

/* Writes the number of its process to FILE with its rank, and goes on when FILE exists: meanwhile
 * all ranks are stopped for longer than the silence after which a rank counts as lost. */
static void
be_suspended (DynoComm *comm, const char *file)
{
  g_autofree char *mine = g_strdup_printf ("%s.%u", file, dyno_comm_get_rank (comm)),
                  *process = g_strdup_printf ("%d\n", (int) getpid ());
  g_autoptr (GError) error = NULL;
  float value = 1;

  g_assert_true (g_file_set_contents (mine, process, -1, NULL));
  while (!g_file_test (file, G_FILE_TEST_EXISTS))
    g_usleep (1000);
  dyno_comm_check (comm, G_USEC_PER_SEC / 2, &error);
  g_assert_no_error (error);
  g_assert_true (dyno_comm_sum (comm, &value, 1, DYNO_COMM_FLOAT32, NULL));
  g_assert_cmpfloat (value, ==, dyno_comm_get_size (comm));
}

static void
measure (DynoComm *comm, gsize size_bytes)
{
  gsize n = size_bytes / sizeof (float);
  g_autofree float *values = g_new0 (float, n + 1);
  guint turns = 0;
  gint64 begin;

  g_assert_true (dyno_comm_sum (comm, values, n, DYNO_COMM_FLOAT32, NULL));
  begin = g_get_monotonic_time ();
  for (; turns < 10; turns++)
    g_assert_true (dyno_comm_sum (comm, values, n, DYNO_COMM_FLOAT32, NULL));
  if (dyno_comm_get_rank (comm) == 0)
    printf ("%" G_GSIZE_FORMAT " bytes: %.3f ms\n", size_bytes,
            (double) (g_get_monotonic_time () - begin) * 1e-3 / turns);
}

/* A program that a rank starts inherits its environment, also through a shell, and is not a
 * rank. */
static void
start_others (const char *program)
{
  const char *const shell[] = { "sh", "-c", "\"$0\" launched; true", program, NULL };
  const char *const itself[] = { program, "launched", NULL };
  const char *const *const commands[] = { itself, shell };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *said = NULL;

      g_spawn_sync (NULL, (char **) commands[i], NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &said, NULL,
                    NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (said, ==, "one\n");
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  const char *what = argc > 1 ? argv[1] : "sums";
  DynoComm *comm;

  if (g_str_equal (what, "launched"))
    {
      puts (dyno_comm_is_launched () ? "several" : "one");
      return 0;
    }
  comm = dyno_comm_open (&error);

  if (!comm)
    {
      fprintf (stderr, "FAILED %s\n", error->message);
      return 3;
    }
  g_assert_true (dyno_comm_is_launched ());
  if (g_str_equal (what, "sums"))
    {
      sums (comm);
      half_sums (comm);
    }
  else if (g_str_equal (what, "others"))
    others (comm);
  else if (g_str_equal (what, "differ"))
    differ (comm);
  else if (g_str_equal (what, "alike"))
    fail_alike (comm);
  else if (g_str_equal (what, "idle"))
    wait_idle (comm);
  else if (g_str_equal (what, "starts"))
    start_others (argv[0]);
  else if (g_str_equal (what, "suspended"))
    be_suspended (comm, argv[2]);
  else if (g_str_equal (what, "measure"))
    measure (comm, argc > 2 ? strtoull (argv[2], NULL, 10) : 1 << 20);
  else
    lose (comm, what);
  dyno_comm_unref (comm);
  return 0;
}
