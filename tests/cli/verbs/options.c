/* SPDX-License-Identifier: MIT */
/* Options and refusals of the verbs that train, predict and serve. */
#include "verbs.h"
#include "cli.h"
#include "outfolder.h"
#include "output.h"
#include "predict-options.h"
#include <glib/gstdio.h>
#include <string.h>

/* --- options of predict and evaluate ---------------------------------------------------------- */

static int
parse_predict (int argc, char **argv)
{
  static const GOptionEntry own[] = { { NULL } };
  DynoPredictOptions o;
  g_autofree GOptionEntry *entries = NULL;
  g_autofree char *data = NULL;
  int code = -1;

  dyno_predict_options_init (&o);
  entries = dyno_predict_options_entries (&o, own);
  if (dyno_predict_options_parse (&o, argc, argv, "DATA...", "Tests.", entries, &code))
    {
      data = g_strjoinv (",", o.data);
      dyno_out_line ("run %s, weights %s, model %s, data %s, batch %d, size %d, device %d, workers "
                     "%d, %d %d %d",
                     o.run ? o.run : "-", o.weights, o.model ? o.model : "-", data, (int) o.batch,
                     (int) o.image_size, o.device, o.workers, o.amp, o.mirror, o.json);
    }
  dyno_predict_options_clear (&o);
  return code;
}

static void
test_predict_options (void)
{
#define PREDICT(line, expected) verbs_check (parse_predict, "predict " line, expected)
  PREDICT ("--run a b", "run a, weights a/weights.safetensors, model -, data b, batch 0, size 0, "
                        "device -1, workers 0, 0 0 0\n"
                        "= 0\n");
  PREDICT ("-w a -m b -d c -d d e f -b 65536 --image-size 65536 --workers 256 --device 3 --amp",
           "run -, weights a, model b, data c,d,e,f, batch 65536, size 65536, device 3, "
           "workers 256, 1 0 0\n"
           "= 0\n");
  PREDICT ("-w a b --mirror",
           "run -, weights a, model -, data b, batch 0, size 0, device -1, workers 0, 0 1 "
           "0\n"
           "= 0\n");
  PREDICT ("-w a b --json",
           "run -, weights a, model -, data b, batch 0, size 0, device -1, workers 0, 0 0 "
           "1\n"
           "= 0\n");
  PREDICT ("-w a", "predict: name the data: files, a folder, or any DATA\n"
                   "Try 'predict --help'.\n"
                   "= 2\n");
  PREDICT ("a", "predict: name the weights: --run DIR or --weights FILE\n"
                "Try 'predict --help'.\n"
                "= 2\n");
  PREDICT ("-w a -r b c", "predict: --run and --weights are two ways to say the same: name one\n"
                          "Try 'predict --help'.\n"
                          "= 2\n");
  PREDICT ("-w a b -b 65537", "predict: --batch 65537: it is from 1 to 65536\n"
                              "Try 'predict --help'.\n"
                              "= 2\n");
  PREDICT ("-w a b -b -1", "predict: --batch -1: it is from 1 to 65536\n"
                           "Try 'predict --help'.\n"
                           "= 2\n");
  PREDICT ("-w a b --image-size 65537", "predict: --image-size 65537: it is from 1 to 65536\n"
                                        "Try 'predict --help'.\n"
                                        "= 2\n");
  PREDICT ("-w a b --workers 257", "predict: --workers 257: it is from 1 to 256\n"
                                   "Try 'predict --help'.\n"
                                   "= 2\n");
  PREDICT ("-w a b --device -1",
           "predict: --device -1: it is a number from 'dynoctl devices', from 0; without "
           "it the best is taken\n"
           "Try 'predict --help'.\n"
           "= 2\n");
  PREDICT ("-w a -d ~", "predict: --data: its value is empty\n"
                        "Try 'predict --help'.\n"
                        "= 2\n");
  PREDICT ("-w a --dta b", "predict: Unknown option --dta; did you mean --data?\n"
                           "Try 'predict --help'.\n"
                           "= 2\n");
#undef PREDICT
}

/* --- the folder of --out ---------------------------------------------------------------------- */

static int
prepare_folder (int argc, char **argv)
{
  static const char *const names[] = { "one", "two", NULL };
  const DynoOutFiles files = { names, "an earlier search", ", go on by --resume" };

  return dyno_out_folder_prepare (argv[0], argv[1], &files, argc > 2);
}

/* A folder is refused for any of the verb's files, and for none of other names; with force it is
 * taken. */
static void
test_out_folder (void)
{
#define PREPARE(line, expected) verbs_check (prepare_folder, "tune " line, expected)
  g_autofree char *one = g_build_filename (verbs_folder, "new", "one", NULL),
                  *two = g_build_filename (verbs_folder, "new", "two", NULL),
                  *other = g_build_filename (verbs_folder, "new", "other", NULL);

  PREPARE ("$/new", "= 0\n");
  g_assert_true (g_file_set_contents (other, "x", 1, NULL));
  PREPARE ("$/new", "= 0\n");
  g_assert_true (g_file_set_contents (two, "x", 1, NULL));
  PREPARE ("$/new", "tune: “$/new” holds an earlier search (two); choose another folder, go on by "
                    "--resume, or write over it by --force\n"
                    "= 2\n");
  PREPARE ("$/new force", "= 0\n");
  g_assert_true (g_file_test (two, G_FILE_TEST_EXISTS) && !g_file_test (one, G_FILE_TEST_EXISTS));
  /* A file that cannot be written is an error with force too. */
  g_assert_cmpint (g_unlink (two), ==, 0);
  g_assert_cmpint (g_mkdir (two, 0700), ==, 0);
  PREPARE ("$/new force", "tune: Cannot write “$/new/two”: Is a directory; make room, or choose "
                          "another folder with --out\n"
                          "= 7\n");
  PREPARE ("$/new/other",
           "tune: cannot make the folder “$/new/other”: Not a directory; choose another "
           "with --out\n"
           "= 7\n");
  PREPARE ("$/new/other/new",
           "tune: cannot make the folder “$/new/other/new”: Not a directory; choose "
           "another with --out\n"
           "= 7\n");
#undef PREPARE
}

/* --- serve ------------------------------------------------------------------------------------ */

/* The options of serve at both ends of their ranges: whatever is accepted fails for want of the
 * weights. */
static void
test_serve (void)
{
#define SERVE(line, expected) verbs_check (dyno_verb_serve, "serve " line, expected)
  SERVE ("", "serve: name the weights: --run RUN, or --run NAME=RUN\n"
             "Try 'serve --help'.\n"
             "= 2\n");
  SERVE ("--run a --token-file b --no-token",
         "serve: --token-file and --no-token contradict each other: name one\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --tls-key b",
         "serve: --tls-key needs the certificate too: name it by --tls-certificate\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --max-batch 0", "serve: --max-batch 0: it is from 1 to 65536\n"
                                  "Try 'serve --help'.\n"
                                  "= 2\n");
  SERVE ("--run a --max-batch 65537", "serve: --max-batch 65537: it is from 1 to 65536\n"
                                      "Try 'serve --help'.\n"
                                      "= 2\n");
  SERVE ("--run a --max-delay-us -1", "serve: --max-delay-us -1: it is from 0 to 10000000\n"
                                      "Try 'serve --help'.\n"
                                      "= 2\n");
  SERVE ("--run a --max-delay-us 10000001",
         "serve: --max-delay-us 10000001: it is from 0 to 10000000\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --queue 0", "serve: --queue 0: it is from 1 to 65536\n"
                              "Try 'serve --help'.\n"
                              "= 2\n");
  SERVE ("--run a --queue 65537", "serve: --queue 65537: it is from 1 to 65536\n"
                                  "Try 'serve --help'.\n"
                                  "= 2\n");
  SERVE ("--run a --max-body 0", "serve: --max-body 0: it is from 1 to 1024\n"
                                 "Try 'serve --help'.\n"
                                 "= 2\n");
  SERVE ("--run a --max-body 1025", "serve: --max-body 1025: it is from 1 to 1024\n"
                                    "Try 'serve --help'.\n"
                                    "= 2\n");
  SERVE ("--run a --image-size 65537", "serve: --image-size 65537: it is from 0 to 65536\n"
                                       "Try 'serve --help'.\n"
                                       "= 2\n");
  SERVE ("--run a --timeout 0", "serve: --timeout 0: it is from 1 to 3600\n"
                                "Try 'serve --help'.\n"
                                "= 2\n");
  SERVE ("--run a --timeout 3601", "serve: --timeout 3601: it is from 1 to 3600\n"
                                   "Try 'serve --help'.\n"
                                   "= 2\n");
  SERVE ("--run a --workers 257", "serve: --workers 257: it is from 0 to 256\n"
                                  "Try 'serve --help'.\n"
                                  "= 2\n");
  SERVE ("--run a --listen 0.0.0.0:0",
         "serve: --listen 0.0.0.0: other machines could use the models; name a "
         "--token-file, or allow it by --no-token\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --listen [::]:0",
         "serve: --listen ::: other machines could use the models; name a --token-file, "
         "or allow it by --no-token\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --run b/a",
         "serve: --run: two models are called “a”; give one another name by --run "
         "NAME=RUN\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a=b --run c=b --run a=d",
         "serve: --run: two models are called “a”; give one another name by --run "
         "NAME=RUN\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a=", "serve: --run a=: a model's name has only letters, digits, “_”, “-” and “.”; "
                     "give it one by --run NAME=RUN\n"
                     "Try 'serve --help'.\n"
                     "= 2\n");
  SERVE ("--run a|b",
         "serve: --run a b: a model's name has only letters, digits, “_”, “-” and “.”; "
         "give it one by --run NAME=RUN\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a|b=c", "serve: --run a b=c: a model's name has only letters, digits, “_”, “-” and "
                        "“.”; give it one by --run NAME=RUN\n"
                        "Try 'serve --help'.\n"
                        "= 2\n");
  SERVE ("--run $/x=1/run",
         "dynoctl: Cannot read “$/x=1/run/weights.safetensors”: No such file or directory\n"
         "= 3\n");
  SERVE ("--run $/none --max-batch 65536 --max-delay-us 10000000 --queue 65536 --image-size 65536 "
         "--timeout 3600 --workers 256 --no-token --listen 0.0.0.0:0",
         "dynoctl: Cannot read “$/none/weights.safetensors”: No such file or directory\n"
         "= 3\n");
  SERVE ("--run m=$/none --max-batch 1 --max-delay-us 0 --queue 1 --max-body 1 --image-size 0 "
         "--workers 0 --listen [::1]:0 --json --timeout 1",
         "{\"event\": \"error\", \"text\": \"Cannot read “$/none/weights.safetensors”: No such "
         "file or directory\", \"code\": 3}\n"
         "dynoctl: Cannot read “$/none/weights.safetensors”: No such file or directory\n"
         "= 3\n");
#undef SERVE
}

/* --- train, save and evaluate ----------------------------------------------------------------- */

/* Refusals before anything is opened. */
static void
test_refusals (void)
{
#define TRAIN(line, expected)    verbs_check (dyno_verb_train, "train " line, expected)
#define SAVE(line, expected)     verbs_check (dyno_verb_save, "save " line, expected)
#define EVALUATE(line, expected) verbs_check (dyno_verb_evaluate, "evaluate " line, expected)
  TRAIN ("--steps 0", "train: --steps 0: it is 1 or more\n"
                      "Try 'train --help'.\n"
                      "= 2\n");
  TRAIN ("--folds 1", "train: --folds 1: it is 2 to 100\n"
                      "Try 'train --help'.\n"
                      "= 2\n");
  TRAIN ("--folds 101", "train: --folds 101: it is 2 to 100\n"
                        "Try 'train --help'.\n"
                        "= 2\n");
  TRAIN ("--folds 100 --devices 0", "train: folds are trained by one process on one device\n"
                                    "Try 'train --help'.\n"
                                    "= 2\n");
  TRAIN ("--folds 2 --save-weights w",
         "train: --save-weights: each fold has weights of its own, which are in its "
         "folder\n"
         "Try 'train --help'.\n"
         "= 2\n");
  TRAIN ("--out a --no-out", "train: --out and --no-out exclude each other\n"
                             "Try 'train --help'.\n"
                             "= 2\n");
  TRAIN ("--name a --resume b",
         "train: --name: a run that is resumed keeps its name; 'dynoctl runs rename' "
         "gives it another one\n"
         "Try 'train --help'.\n"
         "= 2\n");
  TRAIN ("--device 0 --devices 0,1", "train: --device and --devices exclude each other\n"
                                     "Try 'train --help'.\n"
                                     "= 2\n");
  TRAIN ("--save-weights $/output",
         "train: --save-weights: “$/output” exists; name another file, or replace it by "
         "--force\n"
         "Try 'train --help'.\n"
         "= 2\n");
  SAVE ("", "save: name the weights: --run DIR or --weights FILE\n"
            "Try 'save --help'.\n"
            "= 2\n");
  SAVE ("--run a --weights b", "save: --run and --weights are two ways to say the same: name one\n"
                               "Try 'save --help'.\n"
                               "= 2\n");
  SAVE ("--run a", "save: name the format: --to onnx or --to int8\n"
                   "Try 'save --help'.\n"
                   "= 2\n");
  SAVE ("--run a --to pth", "save: --to pth: it is onnx or int8\n"
                            "Try 'save --help'.\n"
                            "= 2\n");
  SAVE ("--run a --to int8 --half",
        "save: --half, --keep-batchnorm and --normalise are of --to onnx\n"
        "Try 'save --help'.\n"
        "= 2\n");
  SAVE ("--run a --to int8 --keep-batchnorm",
        "save: --half, --keep-batchnorm and --normalise are of --to onnx\n"
        "Try 'save --help'.\n"
        "= 2\n");
  SAVE ("--run a --to int8 --normalise",
        "save: --half, --keep-batchnorm and --normalise are of --to onnx\n"
        "Try 'save --help'.\n"
        "= 2\n");
  SAVE ("--run a --to onnx --data b", "save: --data measures what --to int8 costs\n"
                                      "Try 'save --help'.\n"
                                      "= 2\n");
  SAVE ("--run $/none --to onnx --json",
        "{\"event\": \"error\", \"text\": \"Cannot read “$/none/weights.safetensors”: No such "
        "file or directory\", \"code\": 3}\n"
        "dynoctl: Cannot read “$/none/weights.safetensors”: No such file or directory\n"
        "= 3\n");
  SAVE ("--weights $/output --to onnx --out $/output",
        "save: “$/output” is there; --force replaces it\n"
        "Try 'save --help'.\n"
        "= 2\n");
  EVALUATE ("-w a b --worst -1", "evaluate: --worst -1: it is from 0 to 100000\n"
                                 "Try 'evaluate --help'.\n"
                                 "= 2\n");
  EVALUATE ("-w a b --worst 100001", "evaluate: --worst 100001: it is from 0 to 100000\n"
                                     "Try 'evaluate --help'.\n"
                                     "= 2\n");
  EVALUATE ("-w a b c", "evaluate: more than one DATA; its labels come from one data set\n"
                        "Try 'evaluate --help'.\n"
                        "= 2\n");
  EVALUATE ("-w a b --calibrate --mirror",
            "evaluate: --calibrate and --mirror: a calibration is for predictions without "
            "the mirror image\n"
            "Try 'evaluate --help'.\n"
            "= 2\n");
  EVALUATE ("-w a b --part half", "dynoctl: Cannot read “a”: No such file or directory\n"
                                  "= 3\n");
  EVALUATE ("-w $/none builtin:shapes --worst 100000",
            "dynoctl: Cannot read “$/none”: No such file or directory\n"
            "= 3\n");
#undef TRAIN
#undef SAVE
#undef EVALUATE
}

void
verbs_add_options (void)
{
  g_test_add_func ("/cli/verbs/predict-options", test_predict_options);
  g_test_add_func ("/cli/verbs/out-folder", test_out_folder);
  g_test_add_func ("/cli/verbs/serve", test_serve);
  g_test_add_func ("/cli/verbs/refusals", test_refusals);
}
