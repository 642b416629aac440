/* SPDX-License-Identifier: MIT */
/* Writes a diagnosis as text: as JSON, and as lines of a log. */
#pragma once
#include "diagnosis.h"
#include "jsontext.h"

G_BEGIN_DECLS

/* Name of the file in a run's folder. */
#define DYNO_DIAGNOSIS_NAME "diagnosis.json"

/* An object: verdict, knob, expected_gain, samples_per_s, ceilings, phases_ms, findings.  indent:
 * blanks per level; 0: one line.  event: the value of a first member of that name; NULL: there is
 * none.  g_free. */
char *dyno_diagnosis_to_json (const DynoDiagnosis *diagnosis, guint indent, const char *event);

/* Writes the findings as an array under a key. */
void dyno_findings_add_json (DynoJson *json, const char *key, const GPtrArray *findings);

G_END_DECLS
