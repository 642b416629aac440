/* SPDX-License-Identifier: MIT */
/* PyTorch's files of tensors (torch.save since 1.6): a zip of a pickle and a file for each storage.
 * Nothing of the pickle is run. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

/* TRUE: the first bytes of a file are a zip's, or those of a pickle by an older PyTorch, which
 * dyno_pth_parse refuses. */
gboolean dyno_pth_matches (const guint8 *bytes, gsize size);

/* The tensors in the file's dicts at any depth, in their order: in {"state_dict": {"a.weight": t}},
 * t is named "state_dict.a.weight".  Other values are left out.  bytes are taken over and freed
 * with g_free.  Errors: CORRUPT, TOO_LARGE; UNSUPPORTED, which names an opcode, name or kind of
 * file that is not read. */
DynoSafetensors *dyno_pth_parse (guint8 *bytes, gsize size, GError **error);

G_END_DECLS
