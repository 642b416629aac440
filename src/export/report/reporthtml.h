/* SPDX-License-Identifier: MIT */
/* The report of a search: one HTML file that needs nothing else, to be kept or sent to a colleague.
 * It has no script and loads nothing; its plots are inline SVG, its colours follow the reader's
 * (prefers-color-scheme), it prints, and it is well-formed XML.  It is a pure writer: it uses no
 * device, and no clock but for the day, which follows SOURCE_DATE_EPOCH. */
#pragma once
#include "device.h"
#include "tuneresult.h"

G_BEGIN_DECLS

/* Facts that the result does not hold; all may be NULL or 0. */
typedef struct {
  const DynoDeviceInfo *device;
  const DynoDatasetInfo *data;
  guint64 limit_bytes; /* limit of device memory for the search */
  char cpu[128];
  guint64 ram_bytes;
} DynoReportContext;

/* Fills all members with empty values, except the facts that are known of the host: its CPU and
 * memory. */
void dyno_report_context_init (DynoReportContext *context);

/* g_free. */
char *dyno_report_html (const DynoTuneResult *result, const DynoReportContext *context);

G_END_DECLS
