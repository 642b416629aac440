/* SPDX-License-Identifier: MIT */
/* Data sets. */
#include "verbs.h"
#include "cli.h"
#include "masks.h"
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- inspect ---------------------------------------------------------------------------------- */

static void
write_array (const char *name, const char *shape, const float *values, guint n)
{
  g_autofree char *path = g_build_filename (verbs_folder, name, NULL),
                  *head = g_strdup_printf (
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n", shape);
  g_autoptr (GString) text = g_string_new_len ("\x93NUMPY\x01\x00", 8);

  g_string_append_c (text, (char) strlen (head));
  g_string_append_c (text, '\0');
  g_string_append (text, head);
  g_string_append_len (text, (const char *) values, n * sizeof *values);
  g_mkdir_with_parents (verbs_folder, 0700);
  g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
}

static void
write_text (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (verbs_folder, name, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

/* Data of each task: text and JSON. */
static void
test_inspect (void)
{
#define INSPECT(line, expected) verbs_check (dyno_verb_inspect, "inspect " line, expected)
  static const float x[8 * 3] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  float y[8 * 10] = { 0 };
  g_autoptr (GString) list = g_string_new ("label,who,pixels");

  for (guint i = 0; i < 10; i++)
    y[i] = 1;
  y[10] = (float) NAN;
  y[12] = 1;
  write_array ("X.npy", "8, 3", x, G_N_ELEMENTS (x));
  write_array ("y.npy", "8, 10", y, G_N_ELEMENTS (y));
  write_text ("y.names", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj (mm)\n");
  for (guint i = 0; i < 6; i++)
    {
      g_string_append_printf (list, "\n%c,%c,", "xyxyxy"[i], "ppqrrr"[i]);
      for (guint k = 0; k < 64; k++)
        g_string_append_printf (list, "%s%u", k > 0 ? " " : "", (i * 37 + k) % 256);
    }
  write_text ("grouped.csv", list->str);
  INSPECT ("builtin:shapes?size=8&samples=6&classes=3",
           "Drawn shapes (built in): shapes\n"
           "samples     6\n"
           "size        8x8 (width x height), 3 channels, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.33/0.25 "
           "0.33/0.25 0.33/0.25; as they are with data.normalise=false\n"
           "classes     3\n"
           "\n"
           "class     samples   share\n"
           "circle          2  33.3 %\n"
           "square          2  33.3 %\n"
           "triangle        2  33.3 %\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of each of the classes “circle”, “square”, “triangle”: a "
           "network hardly learns them, and their accuracies say little. Add samples, or set "
           "data.balance=sampling\n"
           "= 0\n");
  INSPECT (
      "builtin:shapes?size=8&samples=6&classes=3 --json",
      "{\"kind\": \"shapes\", \"title\": \"Drawn shapes (built in)\", \"name\": \"shapes\", "
      "\"data\": \"builtin:shapes?size=8&samples=6&classes=3\", \"samples\": 6, "
      "\"unreadable\": 0, \"bytes\": 0, \"element\": \"uint8\", \"axes\": null, \"normalise\": "
      "true, \"fed\": \"bytes divided by 255, less mean over deviation 0.33/0.25 "
      "0.33/0.25 0.33/0.25; as they are with data.normalise=false\", \"channels\": 3, "
      "\"min_width\": 8, \"max_width\": 8, \"min_height\": 8, \"max_height\": 8, "
      "\"resizable\": true, \"target\": \"class\", \"task\": \"classes\", \"task_guessed\": "
      "false, \"classes\": 3, \"class_names\": [\"circle\", \"square\", \"triangle\"], "
      "\"class_counts\": [2, 2, 2], \"fields\": [{\"name\": \"image\", \"role\": \"input\", "
      "\"element\": \"uint8\", \"axes\": \"HWC\", \"shape\": [8, 8, 3], \"variable\": false}, "
      "{\"name\": \"class\", \"role\": \"target\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": "
      "[], \"variable\": false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", "
      "\"axes\": \"\", \"shape\": [], \"variable\": false}], \"has_split\": false, "
      "\"generated\": true, \"unreadable_files\": [], \"notes\": [], \"warnings\": [\"Fewer "
      "than 10 samples of each of the classes “circle”, “square”, “triangle”: a network hardly "
      "learns them, and their accuracies say little. Add samples, or set "
      "data.balance=sampling\"], \"examples\": [{\"index\": 0, \"name\": "
      "\"circle #0\", \"target\": \"circle\"}, {\"index\": 3, \"name\": \"circle #3\", \"target\": "
      "\"circle\"}, {\"index\": 1, \"name\": \"square #1\", \"target\": \"square\"}, {\"index\": "
      "4, \"name\": \"square #4\", \"target\": \"square\"}, {\"index\": 2, \"name\": \"triangle "
      "#2\", \"target\": \"triangle\"}, {\"index\": 5, \"name\": \"triangle #5\", \"target\": "
      "\"triangle\"}]}\n"
      "= 0\n");
  INSPECT ("builtin:waves?length=16&channels=1&samples=3&classes=2",
           "Waves (built in): waves\n"
           "samples     3\n"
           "sequences   up to 16 steps of 1 value, float32, padded with 0\n"
           "fed         values as they are\n"
           "classes     2\n"
           "\n"
           "       class  samples   share\n"
           "2 half turns        2  66.7 %\n"
           "3 half turns        1  33.3 %\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of each of the classes “2 half turns”, “3 half turns”: a "
           "network hardly learns them, and their accuracies say little. Add samples, or set "
           "data.balance=sampling\n"
           "= 0\n");
  INSPECT ("builtin:poses?size=8&samples=2",
           "Drawn heads (built in): poses\n"
           "samples     2\n"
           "size        8x8 (width x height), 3 channels, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.45/0.25 "
           "0.45/0.25 0.45/0.25; as they are with data.normalise=false\n"
           "targets     3 values per sample: yaw (degrees), pitch (degrees), roll "
           "(degrees)\n"
           "= 0\n");
  INSPECT (
      "builtin:poses?size=8&samples=2 --json",
      "{\"kind\": \"poses\", \"title\": \"Drawn heads (built in)\", \"name\": \"poses\", \"data\": "
      "\"builtin:poses?size=8&samples=2\", \"samples\": 2, \"unreadable\": 0, \"bytes\": 0, "
      "\"element\": \"uint8\", \"axes\": null, \"normalise\": true, \"fed\": \"bytes divided by "
      "255, less mean over deviation 0.45/0.25 0.45/0.25 0.45/0.25; as they are with "
      "data.normalise=false\", \"channels\": 3, \"min_width\": 8, \"max_width\": 8, "
      "\"min_height\": 8, \"max_height\": 8, \"resizable\": true, \"target\": \"values\", "
      "\"task\": \"values\", \"task_guessed\": false, \"targets\": 3, \"target_names\": "
      "[\"yaw\", \"pitch\", \"roll\"], \"target_units\": [\"degrees\", \"degrees\", \"degrees\"], "
      "\"fields\": [{\"name\": \"image\", \"role\": \"input\", \"element\": \"uint8\", \"axes\": "
      "\"HWC\", \"shape\": [8, 8, 3], \"variable\": false}, {\"name\": \"values\", \"role\": "
      "\"target\", \"element\": \"float32\", \"axes\": \"C\", \"shape\": [3], \"variable\": "
      "false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": [], \"variable\": false}], \"has_split\": false, \"generated\": true, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [], \"examples\": [{\"index\": "
      "0, \"name\": \"#0 yaw 17 pitch 5 roll 15\", \"target\": \"16.6861 5.23476 14.9629\"}, "
      "{\"index\": 1, \"name\": \"#1 yaw -39 pitch 21 roll 8\", \"target\": \"-38.7122 "
      "21.1048 7.57496\"}]}\n"
      "= 0\n");
  INSPECT ("builtin:masks?size=8&samples=2 --deep",
           "Drawn shapes with masks (built in): masks\n"
           "samples     2\n"
           "size        8x8 (width x height), 3 channels, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.31/0.21 "
           "0.31/0.21 0.31/0.21; as they are with data.normalise=false\n"
           "classes     4, one for each pixel\n"
           "\n"
           "class       pixels   share\n"
           "background      94  74.0 %\n"
           "circle           0   0.0 %\n"
           "rectangle       23  18.1 %\n"
           "triangle        10   7.9 %\n"
           "\n"
           "decoded 2 samples, 0 of them cannot be read\n"
           "\n"
           "please note:\n"
           "  There is no pixel of class “circle”: it stays a class, and is never learned\n"
           "= 0\n");
  INSPECT (
      "builtin:masks?size=64&samples=3 --json",
      "{\"kind\": \"drawn-masks\", \"title\": \"Drawn shapes with masks (built in)\", "
      "\"name\": \"masks\", \"data\": \"builtin:masks?size=64&samples=3\", \"samples\": 3, "
      "\"unreadable\": 0, \"bytes\": 0, \"element\": \"uint8\", \"axes\": null, \"normalise\": "
      "true, \"fed\": \"bytes divided by 255, less mean over deviation 0.31/0.21 "
      "0.31/0.21 0.31/0.21; as they are with data.normalise=false\", \"channels\": 3, "
      "\"min_width\": 64, \"max_width\": 64, \"min_height\": 64, \"max_height\": 64, "
      "\"resizable\": true, \"target\": \"mask\", \"task\": \"pixels\", \"task_guessed\": false, "
      "\"classes\": 4, \"class_names\": [\"background\", \"circle\", \"rectangle\", "
      "\"triangle\"], \"class_counts\": [8333, 1055, 2235, 665], \"ignored_pixels\": 0, "
      "\"fields\": [{\"name\": \"image\", \"role\": \"input\", \"element\": \"uint8\", \"axes\": "
      "\"HWC\", \"shape\": [64, 64, 3], \"variable\": false}, {\"name\": \"mask\", \"role\": "
      "\"target\", \"element\": \"uint8\", \"axes\": \"HW\", \"shape\": [64, 64], \"variable\": "
      "false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": [], \"variable\": false}], \"has_split\": false, \"generated\": true, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [], \"examples\": [{\"index\": "
      "0, \"name\": \"#0\", \"target\": \"background 62 %, rectangle 22 %, triangle 16 %\"}, "
      "{\"index\": 1, \"name\": \"#1\", \"target\": \"background 86 %, rectangle 14 %\"}, "
      "{\"index\": 2, \"name\": \"#2\", \"target\": \"background 56 %, circle 26 %, rectangle "
      "19 %\"}]}\n"
      "= 0\n");
  INSPECT ("synthetic:8x4x3?samples=6&classes=2",
           "Synthetic noise (measures only the device): synthetic\n"
           "samples     6\n"
           "size        4x8 (width x height), 3 channels, uint8\n"
           "fed         noise made on the device\n"
           "classes     2\n"
           "\n"
           "class  samples   share\n"
           "    0        4  66.7 %\n"
           "    1        2  33.3 %\n"
           "= 0\n");
  INSPECT ("$/X.npy --set data.task=labels",
           "NumPy arrays: X.npy\n"
           "samples     8\n"
           "size        1x1 (width x height), 3 channels, float32\n"
           "axes        NF\n"
           "fed         values as they are\n"
           "on disk     557 B\n"
           "classes     10, any number for each sample\n"
           "\n"
           "label   samples   share\n"
           "a             1  12.5 %\n"
           "b             1  12.5 %\n"
           "c             2  25.0 %\n"
           "d             1  12.5 %\n"
           "e             1  12.5 %\n"
           "f             1  12.5 %\n"
           "g             1  12.5 %\n"
           "h             1  12.5 %\n"
           "i             1  12.5 %\n"
           "j (mm)        1  12.5 %\n"
           "\n"
           "example  target\n"
           "#0       a, b, c, d, e, f, g, h and 2 more\n"
           "#1       a?, c\n"
           "#2       none\n"
           "#3       none\n"
           "#4       none\n"
           "#5       none\n"
           "#6       none\n"
           "#7       none\n"
           "\n"
           "what may hurt:\n"
           "  3 samples are the same as another, the first: #4, #5; a random split can put "
           "one into training and the other into validation\n"
           "= 0\n");
  INSPECT (
      "$/X.npy --set data.task=labels --json",
      "{\"kind\": \"npy\", \"title\": \"NumPy arrays\", \"name\": \"X.npy\", \"data\": "
      "\"$/X.npy\", "
      "\"samples\": 8, \"unreadable\": 0, \"bytes\": 557, \"element\": \"float32\", \"axes\": "
      "\"NF\", \"normalise\": false, \"fed\": \"values as they are\", \"channels\": 3, "
      "\"min_width\": 1, \"max_width\": 1, \"min_height\": 1, \"max_height\": 1, "
      "\"resizable\": false, \"target\": \"labels\", \"task\": \"labels\", \"task_guessed\": "
      "false, \"classes\": 10, \"class_names\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", "
      "\"h\", "
      "\"i\", \"j (mm)\"], \"class_counts\": [1, 1, 2, 1, 1, 1, 1, 1, 1, 1], \"fields\": "
      "[{\"name\": \"image\", \"role\": \"input\", \"element\": \"float32\", \"axes\": \"HWC\", "
      "\"shape\": [1, 1, 3], \"variable\": false}, {\"name\": \"labels\", \"role\": \"target\", "
      "\"element\": \"float32\", \"axes\": \"C\", \"shape\": [10], \"variable\": false}, "
      "{\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", \"shape\": "
      "[], "
      "\"variable\": false}], \"has_split\": false, \"generated\": false, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [\"3 samples are the same as "
      "another, the first: #4, #5; a random split can put one into training and the other "
      "into validation\"], \"examples\": [{\"index\": 0, \"name\": \"#0\", \"target\": \"a, b, c, "
      "d, "
      "e, f, g, h and 2 more\"}, {\"index\": 1, \"name\": \"#1\", \"target\": \"a?, c\"}, "
      "{\"index\": 2, \"name\": \"#2\", \"target\": \"none\"}, {\"index\": 3, \"name\": \"#3\", "
      "\"target\": \"none\"}, {\"index\": 4, \"name\": \"#4\", \"target\": \"none\"}, {\"index\": "
      "5, "
      "\"name\": \"#5\", \"target\": \"none\"}, {\"index\": 6, \"name\": \"#6\", \"target\": "
      "\"none\"}, {\"index\": 7, \"name\": \"#7\", \"target\": \"none\"}]}\n"
      "= 0\n");
  y[10] = 0.5f;
  write_array ("y.npy", "8, 10", y, G_N_ELEMENTS (y));
  INSPECT ("$/X.npy --set data.task=values",
           "NumPy arrays: X.npy\n"
           "samples     8\n"
           "size        1x1 (width x height), 3 channels, float32\n"
           "axes        NF\n"
           "fed         values as they are\n"
           "on disk     557 B\n"
           "targets     10 values per sample: a, b, c, d, e, f, g, h, i, j (mm)\n"
           "\n"
           "example                 target\n"
           "#0         1 1 1 1 1 1 1 1 ...\n"
           "#1       0.5 0 1 0 0 0 0 0 ...\n"
           "#2         0 0 0 0 0 0 0 0 ...\n"
           "#3         0 0 0 0 0 0 0 0 ...\n"
           "#4         0 0 0 0 0 0 0 0 ...\n"
           "#5         0 0 0 0 0 0 0 0 ...\n"
           "#6         0 0 0 0 0 0 0 0 ...\n"
           "#7         0 0 0 0 0 0 0 0 ...\n"
           "\n"
           "what may hurt:\n"
           "  3 samples are the same as another, the first: #4, #5; a random split can put "
           "one into training and the other into validation\n"
           "= 0\n");
  INSPECT (
      "$/X.npy --set data.task=values --json",
      "{\"kind\": \"npy\", \"title\": \"NumPy arrays\", \"name\": \"X.npy\", \"data\": "
      "\"$/X.npy\", "
      "\"samples\": 8, \"unreadable\": 0, \"bytes\": 557, \"element\": \"float32\", \"axes\": "
      "\"NF\", \"normalise\": false, \"fed\": \"values as they are\", \"channels\": 3, "
      "\"min_width\": 1, \"max_width\": 1, \"min_height\": 1, \"max_height\": 1, "
      "\"resizable\": false, \"target\": \"values\", \"task\": \"values\", \"task_guessed\": "
      "false, \"targets\": 10, \"target_names\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", "
      "\"h\", \"i\", \"j\"], \"target_units\": [\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", "
      "\"\", \"mm\"], "
      "\"fields\": [{\"name\": \"image\", \"role\": \"input\", \"element\": \"float32\", \"axes\": "
      "\"HWC\", \"shape\": [1, 1, 3], \"variable\": false}, {\"name\": \"values\", \"role\": "
      "\"target\", \"element\": \"float32\", \"axes\": \"C\", \"shape\": [10], \"variable\": "
      "false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": [], \"variable\": false}], \"has_split\": false, \"generated\": false, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [\"3 samples are the same as "
      "another, the first: #4, #5; a random split can put one into training and the other "
      "into validation\"], \"examples\": [{\"index\": 0, \"name\": \"#0\", \"target\": \"1 1 1 1 1 "
      "1 "
      "1 1 ...\"}, {\"index\": 1, \"name\": \"#1\", \"target\": \"0.5 0 1 0 0 0 0 0 ...\"}, "
      "{\"index\": 2, \"name\": \"#2\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}, {\"index\": 3, "
      "\"name\": \"#3\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}, {\"index\": 4, \"name\": \"#4\", "
      "\"target\": \"0 0 0 0 0 0 0 0 ...\"}, {\"index\": 5, \"name\": \"#5\", \"target\": \"0 0 0 "
      "0 0 0 0 0 ...\"}, {\"index\": 6, \"name\": \"#6\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}, "
      "{\"index\": 7, \"name\": \"#7\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}]}\n"
      "= 0\n");
  INSPECT ("$/grouped.csv --set data.group_column=who",
           "Pixels in rows of text: grouped.csv\n"
           "samples     6\n"
           "size        8x8 (width x height), 1 channel, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.5/0.25; as they "
           "are with data.normalise=false\n"
           "on disk     1.38 KiB\n"
           "classes     2\n"
           "groups      3 by the column “who”, of 1 to 3 samples\n"
           "parts       5 samples of 2 groups to train, 1 sample of 1 group to validate\n"
           "\n"
           "class  samples   share\n"
           "x            3  50.0 %\n"
           "y            3  50.0 %\n"
           "\n"
           "example  target\n"
           "#0       x\n"
           "#2       x\n"
           "#4       x\n"
           "#1       y\n"
           "#3       y\n"
           "#5       y\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of each of the classes “x”, “y”: a "
           "network hardly learns them, and their accuracies say little. Add samples, or set "
           "data.balance=sampling\n"
           "= 0\n");
  INSPECT (
      "$/grouped.csv --set data.group_column=who --set data.test_split=0.3 --set "
      "data.val_split=0.3 --json",
      "{\"kind\": \"pixel-rows\", \"title\": \"Pixels in rows of text\", \"name\": "
      "\"grouped.csv\", \"data\": \"$/grouped.csv\", \"samples\": 6, \"unreadable\": 0, "
      "\"bytes\": 1413, \"element\": \"uint8\", \"axes\": null, \"normalise\": true, \"fed\": "
      "\"bytes divided by 255, less mean over deviation 0.5/0.25; as they are with "
      "data.normalise=false\", \"channels\": 1, \"min_width\": 8, \"max_width\": 8, "
      "\"min_height\": 8, \"max_height\": 8, \"resizable\": true, \"target\": \"class\", "
      "\"task\": \"classes\", \"task_guessed\": false, \"classes\": 2, \"class_names\": [\"x\", "
      "\"y\"], \"class_counts\": [3, 3], \"fields\": [{\"name\": \"image\", \"role\": \"input\", "
      "\"element\": \"uint8\", \"axes\": \"HWC\", \"shape\": [8, 8, 1], \"variable\": false}, "
      "{\"name\": \"class\", \"role\": \"target\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": "
      "[], \"variable\": false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", "
      "\"axes\": \"\", \"shape\": [], \"variable\": false}], \"has_split\": false, "
      "\"generated\": false, \"groups\": {\"column\": \"who\", \"groups\": 3, \"smallest\": 1, "
      "\"largest\": 3}, \"parts\": {\"n_train\": 3, \"n_validation\": 1, \"n_test\": 2, "
      "\"groups_train\": 1, \"groups_validation\": 1, \"groups_test\": 1}, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [\"Fewer than 10 samples of "
      "each of the classes “x”, “y”: a network hardly learns them, and their accuracies say "
      "little. Add samples, or set data.balance=sampling\"], "
      "\"examples\": [{\"index\": 0, \"name\": \"#0\", \"target\": \"x\"}, {\"index\": 2, "
      "\"name\": "
      "\"#2\", \"target\": \"x\"}, {\"index\": 4, \"name\": \"#4\", \"target\": \"x\"}, "
      "{\"index\": 1, "
      "\"name\": \"#1\", \"target\": \"y\"}, {\"index\": 3, \"name\": \"#3\", \"target\": \"y\"}, "
      "{\"index\": 5, \"name\": \"#5\", \"target\": \"y\"}]}\n"
      "= 0\n");
  INSPECT ("$/grouped.csv --set data.test_split=0.3",
           "Pixels in rows of text: grouped.csv\n"
           "samples     6\n"
           "size        8x8 (width x height), 1 channel, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.5/0.25; as they "
           "are with data.normalise=false\n"
           "on disk     1.38 KiB\n"
           "classes     2\n"
           "parts       2 samples to train, 2 samples to validate, 2 samples to test\n"
           "\n"
           "class  samples   share\n"
           "x            3  50.0 %\n"
           "y            3  50.0 %\n"
           "\n"
           "example  target\n"
           "#0       x\n"
           "#2       x\n"
           "#4       x\n"
           "#1       y\n"
           "#3       y\n"
           "#5       y\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of each of the classes “x”, “y”: a "
           "network hardly learns them, and their accuracies say little. Add samples, or set "
           "data.balance=sampling\n"
           "= 0\n");
  INSPECT ("$/grouped.csv --set data.test_split=0.9 --set data.val_split=0.9",
           "Pixels in rows of text: grouped.csv\n"
           "samples     6\n"
           "size        8x8 (width x height), 1 channel, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.5/0.25; as they "
           "are with data.normalise=false\n"
           "on disk     1.38 KiB\n"
           "classes     2\n"
           "parts       1 sample to train, 1 sample to validate, 4 samples to test\n"
           "\n"
           "class  samples   share\n"
           "x            3  50.0 %\n"
           "y            3  50.0 %\n"
           "\n"
           "example  target\n"
           "#0       x\n"
           "#2       x\n"
           "#4       x\n"
           "#1       y\n"
           "#3       y\n"
           "#5       y\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of each of the classes “x”, “y”: a "
           "network hardly learns them, and their accuracies say little. Add samples, or set "
           "data.balance=sampling\n"
           "= 0\n");
  INSPECT ("builtin:shapes --set augment.flip=true",
           "inspect: --set takes other settings than those of how DATA is read "
           "(data.task) or divided (data.test_split) only with --preview FILE.png\n"
           "Try 'inspect --help'.\n"
           "= 2\n");
  INSPECT ("builtin:shapes --set augment.flip=true --set data.task=classes",
           "inspect: --set takes other settings than those of how DATA is read (data.task) or "
           "divided (data.test_split) only with --preview FILE.png\n"
           "Try 'inspect --help'.\n"
           "= 2\n");
  INSPECT ("builtin:shapes --set augment.flip",
           "dynoctl: --set augment.flip: a setting is given as KEY=VALUE\n"
           "= 2\n");
#undef INSPECT
}

void
verbs_add_inspect (void)
{
  g_test_add_func ("/cli/verbs/inspect", test_inspect);
}
