/* SPDX-License-Identifier: MIT */
/* PyTorch's files of tensors (torch.save since 1.6): a zip of a pickle and a file for each storage.
 * Nothing of the pickle is run. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

/* Of a file's first bytes: a zip, or the pickle of an older PyTorch, which is refused. */
gboolean dyno_pth_matches (const guint8 *bytes, gsize size);

/* The tensors that the file's dicts hold, in their order, at any depth: that of {"state_dict":
 * {"a.weight": t}} is named "state_dict.a.weight".  Other values are left out.  bytes are taken over
 * and freed with g_free.  Errors: CORRUPT, TOO_LARGE; UNSUPPORTED: an opcode, name or kind of file
 * that is not read, named. */
DynoSafetensors *dyno_pth_parse (guint8 *bytes, gsize size, GError **error);

G_END_DECLS
