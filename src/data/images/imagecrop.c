/* SPDX-License-Identifier: MIT */
/* Decodes a crop directly from its file.  The crop is a box of stored pixels; a decoder gives a
 * region of the image, at some scale, in which the box is a window with fractions of pixels at its
 * sides. */
#include "crop.h"
#include "datafile.h"
#include "image-codec.h"
#include "resize.h"
#include <math.h>
#include <string.h>

typedef struct {
  DynoImageFacts facts;
  guint32 width, height;         /* of the whole image at the scale of decoding */
  DynoResizeWindow window;       /* the crop in it */
  DynoImageBox touched;          /* the whole pixels that the window touches */
  DynoImageBox region;           /* the decoded region; for a JPEG slightly larger than touched */
  guint32 out_width, out_height; /* size of the crop before it is turned */
} Plan;

/* Converts a box of the shown image into one of the stored image. */
static DynoImageBox
turn_back (const DynoImageBox *box, const DynoImageFacts *facts)
{
  const guint8 o = facts->orientation;
  DynoImageBox stored = *box;

  if (o >= 5)
    stored = (DynoImageBox){ box->y, box->x, box->height, box->width };
  if (o == 3 || o == 4 || o == 6 || o == 7)
    stored.y = (gint32) facts->height - stored.y - stored.height;
  if (o == 2 || o == 3 || o == 7 || o == 8)
    stored.x = (gint32) facts->width - stored.x - stored.width;
  return stored;
}

static DynoImageBox
intersect (const DynoImageBox *a, const DynoImageBox *b)
{
  gint32 x = MAX (a->x, b->x), y = MAX (a->y, b->y);
  gint32 right = MIN (a->x + a->width, b->x + b->width);
  gint32 bottom = MIN (a->y + a->height, b->y + b->height);

  return (DynoImageBox){ x, y, MAX (right - x, 0), MAX (bottom - y, 0) };
}

/* The smallest size to which a side of the image can be scaled such that the box still covers the
 * wanted size. */
static guint32
cover_side (guint32 side, gint32 box, guint32 wanted)
{
  return (guint32) MIN (ceil ((double) side * wanted / box), (double) G_MAXINT32);
}

static void
make_plan (Plan *plan, const DynoImageBox *box)
{
  const DynoImageFacts *facts = &plan->facts;
  double scale = 1;

  plan->width = facts->width;
  plan->height = facts->height;
  if (facts->type == DYNO_IMAGE_JPEG)
    {
      dyno_jpeg_choose_size (facts, cover_side (facts->width, box->width, plan->out_width),
                             cover_side (facts->height, box->height, plan->out_height),
                             &plan->width, &plan->height);
      scale = dyno_jpeg_find_eighths (facts, plan->width, plan->height) / 8.0;
    }
  plan->window =
      (DynoResizeWindow){ box->x * scale, box->y * scale, box->width * scale, box->height * scale };
  plan->touched.x = (gint32) floor (plan->window.x);
  plan->touched.y = (gint32) floor (plan->window.y);
  plan->touched.width = (gint32) ceil (plan->window.x + plan->window.width) - plan->touched.x;
  plan->touched.height = (gint32) ceil (plan->window.y + plan->window.height) - plan->touched.y;
  plan->region = (DynoImageBox){ 0, 0, (gint32) plan->width, (gint32) plan->height };
  plan->region = intersect (&plan->touched, &plan->region);
}

static gboolean
decode_region (Plan *plan, const guint8 *file, gsize file_size, guint8 *pixels, GError **error)
{
  if (plan->facts.type == DYNO_IMAGE_JPEG)
    return dyno_jpeg_decode_region (file, file_size, &plan->facts, plan->width, plan->height,
                                    &plan->region, pixels, error);
  plan->region = (DynoImageBox){ 0, 0, (gint32) plan->width, (gint32) plan->height };
  return dyno_image_decode_pixels (&plan->facts, file, file_size, plan->width, plan->height, pixels,
                                   error);
}

/* Room for the output of the decoder. */
static guint64
count_decoded (const Plan *plan)
{
  return plan->facts.type == DYNO_IMAGE_JPEG ? dyno_jpeg_count_region_bytes (&plan->region)
                                             : (guint64) plan->width * plan->height * 4;
}

/* TRUE where the crop has pixels outside the image. */
static gboolean
sticks_out (const Plan *plan)
{
  const DynoImageBox *touched = &plan->touched;

  return touched->x < 0 || touched->y < 0 || (guint32) (touched->x + touched->width) > plan->width
         || (guint32) (touched->y + touched->height) > plan->height;
}

/* turned: the written pixels are turned as the image is shown. */
static gboolean
decode (Plan *plan, GByteArray *scratch, gsize file_size, gboolean turned, guint8 *out,
        GError **error)
{
  const DynoImageBox *touched = &plan->touched;
  const guint64 size_bytes = (guint64) plan->out_width * plan->out_height * 3,
                cut_bytes = sticks_out (plan)
                                ? (guint64) touched->width * (guint64) touched->height * 3
                                : 0;
  guint64 pixels_at = (file_size + 63) & ~(guint64) 63, cut_at, working_at, turned_at;
  DynoResizeWindow window = plan->window;
  DynoImageBox seen;
  guint8 *from, *to;

  /* scratch: file | decoded pixels | pixels of the crop, where it extends beyond the image |
   * working memory of the resampler | scaled pixels before turning. */
  cut_at = (pixels_at + count_decoded (plan) + 63) & ~(guint64) 63;
  working_at = (cut_at + cut_bytes + 63) & ~(guint64) 63;
  turned_at = working_at
              + dyno_resize_window_scratch_bytes (MAX (plan->width, (guint32) touched->width), 3,
                                                  &window, plan->out_width, plan->out_height);
  if (!dyno_datafile_reserve (scratch, turned_at + (turned ? size_bytes : 0), error)
      || !decode_region (plan, scratch->data, file_size, scratch->data + pixels_at, error))
    return FALSE;
  from = scratch->data + pixels_at;
  to = turned ? scratch->data + turned_at : out;
  seen = plan->region;
  if (cut_bytes > 0)
    {
      const DynoImageBox box = { touched->x - seen.x, touched->y - seen.y, touched->width,
                                 touched->height };
      dyno_image_cut (from, (guint32) seen.width, (guint32) seen.height, &box,
                      scratch->data + cut_at);
      from = scratch->data + cut_at;
      seen = *touched;
    }
  window.x -= seen.x;
  window.y -= seen.y;
  dyno_resize_window (from, (guint32) seen.width, 3, &window, plan->out_width, plan->out_height, to,
                      scratch->data + working_at);
  if (turned && plan->facts.orientation >= 5)
    dyno_image_turn (to, plan->facts.orientation, plan->out_height, plan->out_width, out);
  else if (turned)
    dyno_image_turn (to, plan->facts.orientation, plan->out_width, plan->out_height, out);
  return TRUE;
}

gboolean
dyno_image_decode_crop (GByteArray *scratch, gsize file_size, const DynoImageBox *piece,
                        const DynoCrop *crop, guint32 seed, guint32 width, guint32 height,
                        guint8 *out, GError **error)
{
  Plan plan = { .out_width = width, .out_height = height };
  guint32 shown_width, shown_height;
  gboolean turned;
  DynoImageBox box;

  if (!dyno_image_probe (scratch->data, file_size, &plan.facts, error))
    return FALSE;
  turned = !piece && plan.facts.orientation > 1;
  if (piece)
    {
      box = dyno_crop_draw (crop, seed, (guint32) piece->width, (guint32) piece->height);
      box.x += piece->x;
      box.y += piece->y;
    }
  else
    {
      dyno_image_get_shown (&plan.facts, &shown_width, &shown_height);
      box = dyno_crop_draw (crop, seed, shown_width, shown_height);
      box = turned ? turn_back (&box, &plan.facts) : box;
    }
  if (turned && plan.facts.orientation >= 5)
    {
      plan.out_width = height;
      plan.out_height = width;
    }
  make_plan (&plan, &box);
  if (plan.region.width > 0 && plan.region.height > 0)
    return decode (&plan, scratch, file_size, turned, out, error);
  memset (out, 0, (gsize) width * height * 3); /* for a piece that extends beyond its image */
  return TRUE;
}
