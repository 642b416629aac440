/* SPDX-License-Identifier: MIT */
/* The progress of a run as text: a bar in a line that is redrawn on a terminal, plain lines
 * elsewhere. */
#pragma once
#include "cli.h"
#include "runview.h"

G_BEGIN_DECLS

typedef struct {
  gboolean terminal, colour, quiet;
  gboolean shown;    /* the last line is a bar */
  gint64 last_us;    /* when the bar or a plain line was last written */
  gint64 news_us;    /* when "latest" was set */
  gboolean reported; /* "latest" was written */
  char latest[256];  /* text of the next plain line */
  DynoRunView *view; /* of the run; borrowed */
} DynoProgress;

/* view: of the run; NULL: none.  The caller must pass every event to the view first. */
void dyno_progress_init (DynoProgress *progress, DynoRunView *view, gboolean quiet);
void dyno_progress_plan (DynoProgress *progress, const DynoJob *job, guint ranks,
                         const DynoEvent *event);
void dyno_progress_preparing (DynoProgress *progress, const DynoEvent *event);
/* Both report the newest values of the view. */
void dyno_progress_step (DynoProgress *progress);
void dyno_progress_epoch (DynoProgress *progress);
/* "accuracy 98.50 %", "mean error 2.3100 degrees".  g_free. */
char *dyno_text_metric (const DynoMetricInfo *metric, double value);
char *dyno_text_metric_number (const DynoMetricInfo *metric, double value); /* "98.50 %"; g_free */
/* "done: 280 steps in 0:50, 187 samples/s, best validation accuracy 99.00 % (epoch 5)", of a DONE
 * event.  best: the best value of the metric, NULL: none; rate 0: not known.  For a resumed run it
 * adds this process's share; for a run that made the requested number of steps before the end of
 * its epochs, how to resume it from the folder (NULL: there is none).  g_free. */
char *dyno_progress_describe_end (const DynoEvent *event, const char *best, double rate,
                                  const char *folder);
/* Shows a bar with this head, fraction and tail. */
void dyno_progress_show (DynoProgress *progress, const char *head, double fraction,
                         const char *tail);
/* Prints a line of text; the bar is removed first. */
void dyno_progress_print (DynoProgress *progress, const char *format, ...) G_GNUC_PRINTF (2, 3);
void dyno_progress_clear (DynoProgress *progress); /* removes the bar */
/* To be called a few times per second: without a terminal it prints a line if nothing was printed
 * for some seconds. */
void dyno_progress_tick (DynoProgress *progress);

G_END_DECLS
