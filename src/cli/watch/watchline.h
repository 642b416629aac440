/* SPDX-License-Identifier: MIT */
/* A line of dynoctl watch, which is assembled from pieces: control characters in names are escaped,
 * and the line is never wider than its columns. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_TEXT_PLAIN   ""
#define DYNO_TEXT_BOLD    "\033[1m"
#define DYNO_TEXT_DIM     "\033[2m"
#define DYNO_TEXT_INVERSE "\033[7m"
#define DYNO_TEXT_GREEN   "\033[32m"
#define DYNO_TEXT_YELLOW  "\033[33m"
#define DYNO_TEXT_BLUE    "\033[34m"
#define DYNO_TEXT_MAGENTA "\033[35m"
#define DYNO_TEXT_CYAN    "\033[36m"
#define DYNO_TEXT_RED     "\033[31m"
#define DYNO_TEXT_OFF     "\033[0m"

typedef struct {
  GString *text;
  guint width, used; /* columns */
  gboolean colour;
} DynoWatchLine;

/* Characters that are filled from below, from an empty to a full cell. */
#define DYNO_WATCH_N_LEVELS 9
extern const char *const dyno_watch_levels[DYNO_WATCH_N_LEVELS];

void dyno_watch_line_init (DynoWatchLine *line, guint width, gboolean colour);
/* Ends the line and appends it to the list (element type char*). */
void dyno_watch_line_end (DynoWatchLine *line, GPtrArray *lines);
/* Appends the text, cut to the remaining columns. */
void dyno_watch_line_put (DynoWatchLine *line, const char *colour, const char *text);
void dyno_watch_line_printf (DynoWatchLine *line, const char *colour, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Appends blanks up to a column. */
void dyno_watch_line_pad (DynoWatchLine *line, guint column);
/* Appends a bar for a share of 0 to 1, to an eighth of a column; NaN: not known. */
void dyno_watch_line_put_bar (DynoWatchLine *line, const char *colour, double share, guint columns);

G_END_DECLS
