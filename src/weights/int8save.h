/* SPDX-License-Identifier: MIT */
/* Saves a trained model's weights as int8 (int8weights.h). */
#pragma once
#include "savedmodel.h"

G_BEGIN_DECLS

typedef struct {
  guint64 bytes;      /* size of the file */
  double worst;       /* ||w - scale q|| / ||w|| of the tensor where that is largest */
  char *worst_tensor; /* NULL: no tensor was converted to int8 */
} DynoInt8Report;
void dyno_int8_report_clear (DynoInt8Report *report);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoInt8Report, dyno_int8_report_clear)

/* Writes a weights file with the model's own metadata.  Errors: DIVERGED (a value is not finite),
 * those of dyno_safetensors_write. */
gboolean dyno_int8_save (const DynoSavedModel *model, const char *path, DynoInt8Report *report,
                         GError **error);

G_END_DECLS
