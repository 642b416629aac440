/* SPDX-License-Identifier: MIT */
/* The report of a search: one HTML file that needs nothing else, to be kept or sent to a colleague.
 * It has no script and loads nothing; its plots are inline SVG, its colours follow the reader's
 * (prefers-color-scheme), it prints, and it is well-formed XML.  A pure writer: no clock but for
 * the day, which follows SOURCE_DATE_EPOCH, and no device. */
#pragma once
#include "device.h"
#include "tuneresult.h"

G_BEGIN_DECLS

/* What the result does not say; all may be NULL or 0. */
typedef struct {
  const DynoDeviceInfo *device;
  const DynoDatasetInfo *data;
  guint64 limit_bytes; /* of device memory, that the search kept within */
  char cpu[128];
  guint64 ram_bytes;
} DynoReportContext;

/* All empty, but for what is known of the host: its CPU and memory. */
void dyno_report_context_init (DynoReportContext *context);

/* g_free. */
char *dyno_report_html (const DynoTuneResult *result, const DynoReportContext *context);

G_END_DECLS
