/* SPDX-License-Identifier: MIT */
/* Parts of the report, and their shared functions. */
#pragma once
#include "htmlplot.h"
#include "reporthtml.h"

G_BEGIN_DECLS

typedef struct {
  GString *html;
  const DynoTuneResult *result;
  const DynoReportContext *context;
} DynoReport;

/* Appends the page up to its first section.  title: of the page, translated; device: name, or
 * NULL. */
void dyno_report_begin (GString *html, const char *title, const DynoJob *job, const char *device);
/* Appends "width:12.50%;".  value: a share, 0 to 1. */
void dyno_report_put_percent (GString *html, const char *property, double value);

void dyno_report_write_plots (DynoReport *report);
void dyno_report_write_losses (DynoReport *report);
void dyno_report_write_trials (DynoReport *report);
void dyno_report_write_settings (DynoReport *report);
void dyno_report_write_machine (DynoReport *report);

/* "9 200", "87.5"; "–" for a value that is not a positive number.  g_free. */
char *dyno_report_rate_text (double rate);

/* A value of a setting, given as in settings files, as text for people: a switch is on or off.
 * info may be NULL.  g_free. */
char *dyno_report_value_text (const DynoSettingInfo *info, const char *value);

/* TRUE: the trial was measured. */
gboolean dyno_report_has (const DynoTrial *trial);

G_END_DECLS
