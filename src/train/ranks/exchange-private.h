/* SPDX-License-Identifier: MIT */
/* The inside of an exchange: exchange.c makes it and runs steps, exchangedevice.c sets up what its
 * device does in place of the host.  Private to these two. */
#pragma once
#include "exchange.h"
#include "peersum.h"

G_BEGIN_DECLS

/* A range that is summed: a bucket of gradients, or the running statistics. */
typedef struct {
  guint64 at; /* in the staging */
  guint64 n;  /* floats */
  guint piece;
  gboolean state;
  DynoCommand *down, *up;
  guint64 down_value;
  DynoCommRequest *request; /* in flight; or NULL */
} DynoExchangeShare;

struct _DynoExchange {
  DynoDevice *device;
  DynoProgram *program;
  DynoComm *comm;
  gboolean half;
  gboolean one_queue;
  DynoBuffer *staging;
  GArray *shares; /* Share */
  guint64 *ends;  /* timeline values of the pieces */
  /* with conversion on the device; else NULL */
  DynoBuffer *halves;   /* of all gradients, in their order */
  GPtrArray *packs;     /* DynoCommand, one a piece */
  DynoCommand *unpack;  /* of all */
  DynoCommand *restore; /* running statistics as before the step; NULL: there are none */
  DynoPeerSum *peers;   /* NULL: sums go through the host */
  DynoCommRequest *meeting;
  guint64 met; /* what the ranks sum when they meet; its value is nobody's business */
  guint slot;  /* of the step that was begun */
  gboolean begun, failed;
  guint next;        /* the first share that has not come back */
  gint64 longest_us; /* that the host waited for a bucket */
  DynoExchangeTimes times;
};

/* The copies of a share to the staging and back, between it and a place in buffer. */
gboolean dyno_exchange_record_share (DynoExchange *x, DynoExchangeShare *share, DynoBuffer *buffer,
                                     guint64 offset, guint64 size_bytes, GError **error);
void dyno_exchange_clear_share (gpointer data);

G_END_DECLS
