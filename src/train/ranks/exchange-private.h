/* SPDX-License-Identifier: MIT */
/* The members of an exchange: exchange.c makes it and runs steps, exchangedevice.c sets up the work
 * that its device does in place of the host.  Private to these two files. */
#pragma once
#include "exchange.h"
#include "peersum.h"

G_BEGIN_DECLS

/* A range that is summed: a bucket of gradients, or the running statistics. */
typedef struct {
  guint64 at; /* byte offset in the staging */
  guint64 n;  /* number of floats */
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
  /* the next three members: only with conversion on the device, else NULL */
  DynoBuffer *halves;   /* all gradients in fp16 */
  GPtrArray *packs;     /* DynoCommand, one for each piece */
  DynoCommand *unpack;  /* for all gradients */
  DynoCommand *restore; /* sets the running statistics back; NULL: there are none */
  DynoPeerSum *peers;   /* NULL: sums go through the host */
  DynoCommRequest *meeting;
  guint64 met; /* the value that the barrier of the ranks sums; its result is not used */
  guint slot;  /* slot of the step that was begun */
  gboolean begun, failed;
  guint next;        /* index of the first share that has not been copied back */
  gint64 longest_us; /* longest time for which the host waited for a bucket */
  DynoExchangeTimes times;
};

/* Records the copies of a share to the staging and back, from and to an offset in buffer. */
gboolean dyno_exchange_record_share (DynoExchange *x, DynoExchangeShare *share, DynoBuffer *buffer,
                                     guint64 offset, guint64 size_bytes, GError **error);
void dyno_exchange_clear_share (gpointer data);

G_END_DECLS
