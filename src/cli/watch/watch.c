/* SPDX-License-Identifier: MIT */
/* dynoctl watch: a run and the machine, live in the terminal.
 *
 * The terminal shows a second screen, without line editing.  Every way out restores the first one:
 * the end, a key, a signal, Ctrl-Z (after which the second screen is taken again). */
#include "cli.h"
#include "output.h"
#include "sensortext.h"
#include "watchframe.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define RUNS_FOLDER "runs"
#define TICK_MS     1000
#define LINE_TICKS  5    /* seconds between two plain lines */
#define FIRST_MS    1200 /* time after which rates are known */

typedef struct {
  char *device_name;
  gboolean once, as_json;
  DynoSensors *sensors;
  DynoWatchRun *run;
  DynoSensorReading reading;
  DynoWatchView view;
  gboolean keys; /* standard input is a terminal */
  struct termios before;
} Watch;

static volatile sig_atomic_t ended_by, stopped, resized;

static void
handle (int number)
{
  if (number == SIGTSTP)
    stopped = 1;
  else if (number == SIGWINCH)
    resized = 1;
  else
    ended_by = number;
}

static void
catch_signals (gboolean terminal)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH };
  struct sigaction action = { .sa_handler = handle }, old;

  sigemptyset (&action.sa_mask);
  for (guint i = 0; i < (terminal ? G_N_ELEMENTS (numbers) : 3); i++)
    if (numbers[i] != SIGHUP || (sigaction (SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN))
      sigaction (numbers[i], &action, NULL);
}

/* --- the terminal ----------------------------------------------------------------------------- */

static void
enter_screen (Watch *watch)
{
  watch->keys = tcgetattr (STDIN_FILENO, &watch->before) == 0;
  if (watch->keys)
    {
      struct termios raw = watch->before;

      raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
      raw.c_cc[VMIN] = 0;
      raw.c_cc[VTIME] = 0;
      tcsetattr (STDIN_FILENO, TCSANOW, &raw);
    }
  dyno_out_text ("\033[?1049h\033[?25l\033[2J");
}

static void
leave_screen (Watch *watch)
{
  dyno_out_text ("\033[0m\033[?25h\033[?1049l");
  if (watch->keys)
    tcsetattr (STDIN_FILENO, TCSANOW, &watch->before);
}

static void
stop_for_a_while (Watch *watch)
{
  stopped = 0;
  leave_screen (watch);
  raise (SIGSTOP);
  enter_screen (watch);
}

static void
find_size (Watch *watch)
{
  struct winsize size;

  watch->view.width = 80;
  watch->view.height = 24;
  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    {
      watch->view.width = MIN (size.ws_col, 1000);
      watch->view.height = MIN (size.ws_row, 1000);
    }
}

static void
show_frame (Watch *watch)
{
  g_autoptr (GPtrArray) lines = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  find_size (watch);
  lines = dyno_watch_frame (&watch->view);
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (text, "\033[%u;1H%s\033[0m\033[K", i + 1,
                            (const char *) lines->pdata[i]);
  dyno_out_text (text->str);
}

/* Whether the key that ends the program was pressed. */
static gboolean
read_keys (void)
{
  char keys[64];
  ssize_t n = read (STDIN_FILENO, keys, sizeof keys);

  return n > 0 && (memchr (keys, 'q', (gsize) n) || memchr (keys, 'Q', (gsize) n));
}

/* Waits until the next tick, a key or a signal; TRUE: the program is to end. */
static gboolean
wait_for_tick (Watch *watch, gint64 until_us)
{
  gint64 left = until_us - g_get_monotonic_time ();
  struct pollfd input = { .fd = watch->keys ? STDIN_FILENO : -1, .events = POLLIN };
  int n;

  if (ended_by || left <= 0)
    return ended_by != 0;
  n = poll (&input, 1, (int) (left / 1000) + 1);
  if (stopped)
    stop_for_a_while (watch);
  if (n > 0 && (input.revents & POLLIN) && read_keys ())
    return TRUE;
  if (n > 0 && !(input.revents & POLLIN)) /* the terminal was closed */
    return TRUE;
  return ended_by != 0;
}

/* --- what is shown ---------------------------------------------------------------------------- */

static void
update (Watch *watch)
{
  double now = (double) g_get_monotonic_time () / 1e6;

  dyno_sensors_get (watch->sensors, &watch->reading);
  dyno_series_append (watch->view.gpu, now, watch->reading.values[DYNO_SENSOR_GPU_BUSY]);
  dyno_series_append (watch->view.cpu, now, watch->reading.values[DYNO_SENSOR_CPU_BUSY]);
  watch->view.run = watch->run ? dyno_watch_run_update (watch->run) : NULL;
}

static void
add_count (DynoJson *json, const char *key, guint64 value)
{
  if (value > 0)
    dyno_json_uint (json, key, value);
  else
    dyno_json_null (json, key);
}

static void
add_run (DynoJson *json, const DynoWatchStatus *run)
{
  g_autofree char *state = NULL;

  if (!run)
    {
      dyno_json_null (json, "run");
      return;
    }
  state = run->state == DYNO_WATCH_SILENT ? g_strdup ("silent") : dyno_watch_state_words (run);
  dyno_json_begin_object (json, "run");
  dyno_json_string (json, "folder", run->folder);
  dyno_json_string (json, "state", state);
  dyno_json_double (json, "silent_s", run->silent_s);
  dyno_json_string (json, "device", run->device);
  dyno_json_uint (json, "epoch", run->epoch);
  add_count (json, "epochs", run->epochs);
  dyno_json_uint (json, "step", run->step);
  add_count (json, "steps", run->steps);
  dyno_json_double (json, "loss", run->loss);
  dyno_json_double (json, "val_loss", run->val_loss);
  dyno_json_double (json, "samples_per_s", run->samples_per_s);
  dyno_json_double (json, "step_ms", run->step_ms);
  dyno_json_double (json, "wait_data_ms", run->wait_data_ms);
  dyno_json_double (json, "vram_bytes", run->vram_bytes);
  dyno_json_double (json, "eta_s", run->eta_s);
  dyno_json_end_object (json);
}

static void
print_json (const Watch *watch)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (&watch->view, &reasons, &of_run);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "watch");
  add_run (&json, watch->view.run);
  dyno_json_string (&json, "sensors_of", of_run ? "run" : "machine");
  dyno_json_begin_object (&json, "sensors");
  dyno_json_sensors (&json, values, reasons);
  dyno_json_end_object (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_out_flush ();
  dyno_json_clear (&json);
}

static void
print_lines (const Watch *watch)
{
  g_autoptr (GPtrArray) lines = dyno_watch_lines (&watch->view);

  for (guint i = 0; i < lines->len; i++)
    dyno_out_line ("%s", (const char *) lines->pdata[i]);
  dyno_out_flush ();
}

/* --- the ways of showing it ------------------------------------------------------------------- */

static void
watch_terminal (Watch *watch)
{
  gint64 next = g_get_monotonic_time ();
  gboolean end = FALSE;

  enter_screen (watch);
  while (!end)
    {
      if (g_get_monotonic_time () >= next)
        {
          update (watch);
          next = g_get_monotonic_time () + TICK_MS * 1000;
        }
      resized = 0;
      show_frame (watch);
      do
        end = wait_for_tick (watch, next);
      while (!end && !resized && g_get_monotonic_time () < next);
    }
  leave_screen (watch);
}

/* FALSE for a run that has ended or is silent, of which no further output is expected. */
static gboolean
goes_on (const Watch *watch)
{
  return !watch->run || watch->view.run->state == DYNO_WATCH_RUNNING;
}

static void
watch_lines (Watch *watch)
{
  gint64 next = g_get_monotonic_time () + FIRST_MS * 1000;
  guint tick = 0;

  do
    {
      while (!wait_for_tick (watch, next) && g_get_monotonic_time () < next)
        ;
      if (ended_by)
        return;
      next += TICK_MS * 1000;
      update (watch);
      if (watch->as_json)
        print_json (watch);
      else if (tick % LINE_TICKS == 0 || !goes_on (watch))
        print_lines (watch);
      tick++;
    }
  while (!watch->once && goes_on (watch) && dyno_out_get_problem () == 0 && dyno_out_has_reader ());
}

static gboolean
open_run (Watch *watch, const char *command, const char *name, int *code)
{
  g_autofree char *folder = dyno_watch_find_run (RUNS_FOLDER, name);

  if (folder)
    watch->run = dyno_watch_run_new (folder);
  if (folder || !name)
    return TRUE;
  dyno_error_line ("%s: “%s” is no folder of a run; name one that dynoctl train has written to",
                   command, name);
  *code = DYNO_EXIT_DATA;
  return FALSE;
}

static int
watch_all (Watch *watch, const DynoDeviceInfo *device)
{
  DynoSensorsParams params = { .device = device, .ask_driver = TRUE };
  const char *term = g_getenv ("TERM");
  gboolean terminal = dyno_out_is_terminal () && term && strcmp (term, "dumb") != 0 && !watch->once
                      && !watch->as_json;

  dyno_sensor_reading_init (&watch->reading);
  watch->view.machine = &watch->reading;
  watch->view.device = device ? device->name : NULL;
  watch->view.gpu = dyno_series_new ("GPU", "%");
  watch->view.cpu = dyno_series_new ("CPU", "%");
  watch->view.colour = dyno_out_has_colour ();
  watch->sensors = dyno_sensors_new (&params);
  catch_signals (terminal);
  if (terminal)
    watch_terminal (watch);
  else
    watch_lines (watch);
  dyno_sensors_free (watch->sensors);
  dyno_series_free (watch->view.gpu);
  dyno_series_free (watch->view.cpu);
  return ended_by == 0        ? DYNO_EXIT_OK
         : ended_by == SIGINT ? DYNO_EXIT_INTERRUPTED
                              : DYNO_EXIT_TERMINATED;
}

int
dyno_verb_watch (int argc, char **argv)
{
  g_autofree Watch *watch = g_new0 (Watch, 1);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) rest = NULL;
  gboolean has;
  int code, index = -1;
  DynoDeviceInfo device;
  const GOptionEntry entries[] = {
    { "once", 0, 0, G_OPTION_ARG_NONE, &watch->once, "Print the present state once, and end",
      NULL },
    { "device", 0, 0, G_OPTION_ARG_INT, &index,
      "GPU by its number in 'dynoctl devices' (default: the first)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &watch->as_json, "One JSON object a second and line", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "[RUN]",
                       "Shows a run and the machine while they work: rates, loss, GPU, memory, "
                       "processor.",
                       entries,
                       "RUN is the folder of a run, or its name below runs; default: the run below "
                       "runs that was written to last.\n"
                       "q ends the display, not the run.  Without a terminal there is a plain line "
                       "every five seconds, as long as the run is in progress.",
                       &rest, 1, &code)
      || !open_run (watch, argv[0], rest ? rest[0] : NULL, &code))
    return code;
  if (!dyno_sensors_find_device (index, &device, &has, &error))
    {
      dyno_watch_run_free (watch->run);
      return dyno_cli_fail (g_steal_pointer (&error), watch->as_json);
    }
  code = watch_all (watch, has ? &device : NULL);
  dyno_watch_run_free (watch->run);
  return code;
}
