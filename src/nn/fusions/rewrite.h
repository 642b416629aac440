/* SPDX-License-Identifier: MIT */
/* What the fusions ask of a graph, and how they change it. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

/* The only reader of a tensor; NULL: there are none or more, or the host reads it. */
DynoNode *dyno_rewrite_only_reader (DynoGraph *graph, const DynoTensor *tensor);

/* The node whose output 0 this is, if only `reader` reads it; NULL: there is none. */
DynoNode *dyno_rewrite_only_producer (DynoGraph *graph, const DynoTensor *tensor,
                                      const DynoNode *reader);

/* The node that writes the tensor last before a node, if nobody reads it in between, who would find
 * it changed; NULL: there is none. */
DynoNode *dyno_rewrite_last_writer (DynoGraph *graph, const DynoTensor *tensor,
                                    const DynoNode *before);
/* The first node after another that touches the tensor, if it writes it and does not read it as an
 * input; NULL: there is none. */
DynoNode *dyno_rewrite_next_writer (DynoGraph *graph, const DynoTensor *tensor,
                                    const DynoNode *after);

/* The node writes output 0 of `last` from now on, in the place of `last`, since all that it reads has
 * been written by then.  Its own output 0 and `last` are gone from the graph. */
void dyno_rewrite_take_over (DynoGraph *graph, DynoNode *node, DynoNode *last);

/* The node is gone from the graph; nobody reads its output 0 any more. */
void dyno_rewrite_remove (DynoGraph *graph, DynoNode *node);

G_END_DECLS
