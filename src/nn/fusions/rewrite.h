/* SPDX-License-Identifier: MIT */
/* Queries and changes of a graph that the fusions share. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

/* The only reader of a tensor; NULL: the tensor has no reader or several, or the host reads it. */
DynoNode *dyno_rewrite_only_reader (DynoGraph *graph, const DynoTensor *tensor);

/* The node whose output 0 is this tensor, if only `reader` reads the tensor; NULL: there is
 * none. */
DynoNode *dyno_rewrite_only_producer (DynoGraph *graph, const DynoTensor *tensor,
                                      const DynoNode *reader);

/* The last node before `before` that writes the tensor, if no node between the two reads the tensor
 * (such a node would find it changed); NULL: there is none. */
DynoNode *dyno_rewrite_last_writer (DynoGraph *graph, const DynoTensor *tensor,
                                    const DynoNode *before);
/* The first node after `after` that touches the tensor, if that node writes the tensor and does not
 * read it as an input; NULL: there is none. */
DynoNode *dyno_rewrite_next_writer (DynoGraph *graph, const DynoTensor *tensor,
                                    const DynoNode *after);

/* Makes the node write output 0 of `last`, at the place of `last` in the list, since everything
 * that the node reads has been written by then.  The node's own output 0 and `last` are removed
 * from the graph. */
void dyno_rewrite_take_over (DynoGraph *graph, DynoNode *node, DynoNode *last);

/* Removes the node from the graph; no node may read its output 0 any more. */
void dyno_rewrite_remove (DynoGraph *graph, DynoNode *node);

G_END_DECLS
