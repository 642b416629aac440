/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: LSTM and GRU nodes as PyTorch's exporters write them. */
#include "import-test.h"

/* Five steps of four values. */
static const ImportTestShape five_steps = {
  .n_outputs = 3, .height = 1, .width = 5, .channels = 4, .mode = DYNO_MODE_PREDICT
};

/* A body between an input with the samples first, or the steps first, and a linear layer on v. */
#define HEAD(columns)                                                                          \
  ";w fc.weight 3," columns ";w fc.bias 3;Gemm /fc/Gemm v,fc.weight,fc.bias out transB=1;out " \
  "out N,3"
#define SAMPLES_FIRST(body) "in x N,5,4;Transpose /rnn/Transpose x t perm=1,0,2;" body HEAD ("6")
#define STEPS_FIRST(body)   "in t 5,N,4;" body HEAD ("6")
/* weights of an exporter that evaluates constants: 6 units on 4 values */
#define LSTM_WEIGHTS "w l.1 1,24,4;w l.2 1,24,6;w l.3 1,48;"
#define GRU_WEIGHTS  "w l.1 1,18,4;w l.2 1,18,6;w l.3 1,36;"
/* the last step of y (T, 1, N, 6) with the samples first */
#define LAST                                                                                  \
  ";i ax 1,;Squeeze - y,ax s;Transpose - s u perm=1,0,2;i end -1;Gather /Gather u,end v axis" \
  "=1"
#define PARAMETERS(prefix, rows)                                                                  \
  prefix "weight_ih_l0[" rows ",4] " prefix "weight_hh_l0[" rows ",6] " prefix "bias_ih_l0[" rows \
         "] " prefix "bias_hh_l0[" rows "] fc.weight[3,6] fc.bias[3]"

static void
test_layers (void)
{
  static const struct {
    const char *text, *ops, *parameters;
  } rows[] = {
    { SAMPLES_FIRST (LSTM_WEIGHTS "w h0 1,2,6;LSTM /rnn/LSTM t,l.1,l.2,l.3,,h0,h0 y,h,c "
                                  "hidden_size=6" LAST),
      "linear lstm last_step linear", PARAMETERS ("rnn.", "24") },
    { SAMPLES_FIRST (GRU_WEIGHTS "w h0 1,1,6;GRU /rnn/GRU t,l.1,l.2,l.3,,h0 y,h hidden_size=6 "
                                 "linear_before_reset=1" LAST),
      "linear gru last_step linear", PARAMETERS ("rnn.", "18") },
    /* with the steps first; the last step as an element, and as a slice */
    { STEPS_FIRST (LSTM_WEIGHTS "LSTM /a/b/LSTM t,l.1,l.2,l.3 y hidden_size=6;i ax 1,;"
                                "Squeeze - y,ax s;i end -1;Gather - s,end v axis=0"),
      "linear lstm last_step linear", PARAMETERS ("a.b.", "24") },
    { STEPS_FIRST (LSTM_WEIGHTS "LSTM /LSTM t,l.1,l.2,l.3 y hidden_size=6;i ax 1,;Squeeze - y,ax "
                                "s;i b -1,;i e 9,;i a 0,;Slice - s,b,e,a q;Squeeze - q,a v"),
      "linear lstm last_step linear", PARAMETERS ("", "24") },
    /* the last state; the mean over time; the first step */
    { SAMPLES_FIRST (LSTM_WEIGHTS "LSTM node_LSTM_3 t,l.1,l.2,l.3 y,h hidden_size=6;i a 0,;"
                                  "Squeeze - h,a v"),
      "linear lstm last_step linear", PARAMETERS ("l.1.", "24") },
    { SAMPLES_FIRST (GRU_WEIGHTS "GRU /rnn/GRU t,l.1,l.2,l.3 y hidden_size=6 linear_before_reset="
                                 "1;i ax 1,;Squeeze - y,ax s;Transpose - s u perm=1,0,2;i m 1,;"
                                 "ReduceMean - u,m v keepdims=0"),
      "linear gru global_avg_pool linear", PARAMETERS ("rnn.", "18") },
    /* without biases, and with constants for all inputs that may be left out */
    { SAMPLES_FIRST ("w l.1 1,24,4;w l.2 1,24,6;i lengths 5,5;i zs 1,2,6;ConstantOfShape - zs z;"
                     "LSTM /rnn/LSTM t,l.1,l.2,,lengths,z,z y hidden_size=6 direction=forward "
                     "activations=Sigmoid,Tanh,tanh" LAST),
      "linear lstm last_step linear",
      "rnn.weight_ih_l0[24,4] rnn.weight_hh_l0[24,6] fc.weight[3,6] fc.bias[3]" },
    /* states and axes of sizes that are computed from the input's shape */
    { SAMPLES_FIRST (
          GRU_WEIGHTS
          "Shape - x xs;i zero 0;Gather - xs,zero bn;i p 0,;Unsqueeze - bn,p ub;i one 1,;"
          "i six 6,;Concat - one,ub,six hs axis=0;f nil 0;Expand - nil,hs h0;"
          "GRU /rnn/GRU t,l.1,l.2,l.3,,h0 y,h hidden_size=6 direction=forward "
          "linear_before_reset=1;Transpose - y r perm=0,2,1,3;Shape - r rs;i two 2,;"
          "Slice - rs,p,two,p st;i rest -1,;Concat - st,rest sz axis=0;Reshape - r,sz s;"
          "Transpose - s u perm=1,0,2;i end -1;Gather /Gather u,end v axis=1"),
      "linear gru last_step linear", PARAMETERS ("rnn.", "18") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].text);
      import_test_assert_builds (rows[i].text, five_steps, rows[i].ops, rows[i].parameters);
    }
}

/* Two layers; their last states, of which the last one is read, are joined. */
static void
test_stacks (void)
{
  import_test_assert_builds (
      SAMPLES_FIRST (LSTM_WEIGHTS
                     "LSTM /rnn/LSTM t,l.1,l.2,l.3 y,h hidden_size=6;i ax 1,;Squeeze - y,ax s;"
                     "w m.1 1,24,6;w m.2 1,24,6;w m.3 1,48;LSTM /rnn/LSTM_1 s,m.1,m.2,m.3 q,k "
                     "hidden_size=6;Concat - h,k j axis=0;i end -1;Gather - j,end v axis=0"),
      five_steps, "linear lstm last_step linear lstm last_step concat channels linear",
      "rnn.weight_ih_l0[24,4] rnn.weight_hh_l0[24,6] rnn.bias_ih_l0[24] rnn.bias_hh_l0[24] "
      "rnn.weight_ih_l1[24,6] rnn.weight_hh_l1[24,6] rnn.bias_ih_l1[24] rnn.bias_hh_l1[24] "
      "fc.weight[3,6] fc.bias[3]");
}

/* Both directions: the outputs of the directions become channels, forward first. */
static void
test_both_directions (void)
{
  static const char parameters[] =
      "rnn.weight_ih_l0[9,4] rnn.weight_hh_l0[9,3] rnn.bias_ih_l0[9] rnn.bias_hh_l0[9] "
      "rnn.weight_ih_l0_reverse[9,4] rnn.weight_hh_l0_reverse[9,3] rnn.bias_ih_l0_reverse[9] "
      "rnn.bias_hh_l0_reverse[9] fc.weight[3,6] fc.bias[3]";
#define BOTH                                                                                   \
  "w l.1 2,9,4;w l.2 2,9,3;w l.3 2,18;GRU /rnn/GRU t,l.1,l.2,l.3 y,h hidden_size=3 direction=" \
  "bidirectional linear_before_reset=1;"
  import_test_assert_builds (
      SAMPLES_FIRST (BOTH "Transpose - y r perm=0,2,1,3;i all 0,0,-1;Reshape - r,all s;Transpose - "
                          "s u perm=1,0,2;i end -1;Gather - u,end v axis=1"),
      five_steps, "linear linear gru last_step linear", parameters);
  /* torch.cat ((h[-2], h[-1]), 1) */
  import_test_assert_builds (
      SAMPLES_FIRST (BOTH
                     "i a -2;Gather - h,a p axis=0;i b -1;Gather - h,b q axis=0;Concat - p,q v "
                     "axis=1"),
      five_steps,
      "linear linear gru last_step first_step channels channels concat channels channels concat "
      "linear",
      parameters);
#undef BOTH
}

/* The gates of a module's weights in ONNX's order, as an exporter computes them that does not
 * evaluate constants. */
#define RANGE(of, begin, end, made) \
  "i b" made " " begin ",;i e" made " " end ",;Slice - " of ",b" made ",e" made ",z " made ";"
#define LSTM_ROWS(of, made, after) \
  RANGE (of, "0", "6", made "i")   \
  RANGE (of, "18", "24", made "o") \
  RANGE (of, "6", "18", made "f")  \
  "Concat - " made "i," made "o," made "f " made after " axis=0;"

static void
test_computed_weights (void)
{
  static const char nodes[] =
      "i z 0,;w rnn.weight_ih_l0 24,4;w rnn.weight_hh_l0 24,6;w rnn.bias_ih_l0 24;"
      "w rnn.bias_hh_l0 24;" LSTM_ROWS ("rnn.weight_ih_l0", "w", "x")
          LSTM_ROWS ("rnn.weight_hh_l0", "r", "x") LSTM_ROWS ("rnn.bias_ih_l0", "p", "x")
              LSTM_ROWS ("rnn.bias_hh_l0", "q", "x") "Concat - px,qx bx axis=0;Unsqueeze - wx,z W;"
                                                     "Unsqueeze - rx,z R;Unsqueeze - bx,z B;"
                                                     "LSTM rnn t,W,R,B y hidden_size=6" LAST;
  g_autofree char *text =
      g_strconcat ("in x N,5,4;Transpose - x t perm=1,0,2;", nodes, HEAD ("6"), NULL);
  import_test_assert_builds (text, five_steps, "linear lstm last_step linear",
                             PARAMETERS ("rnn.", "24"));
  /* by Split, in a GRU without biases */
  import_test_assert_builds (
      SAMPLES_FIRST ("w g.weight_ih_l0 18,4;w g.weight_hh_l0 18,6;i z 0,;"
                     "Split - g.weight_ih_l0 ra,za,na axis=0;Concat - za,ra,na W axis=0;"
                     "Split - g.weight_hh_l0 rb,zb,nb axis=0;Concat - zb,rb,nb R axis=0;"
                     "Unsqueeze - W,z WW;Unsqueeze - R,z RR;"
                     "GRU g t,WW,RR y hidden_size=6 linear_before_reset=1" LAST),
      five_steps, "linear gru last_step linear",
      "g.weight_ih_l0[18,4] g.weight_hh_l0[18,6] fc.weight[3,6] fc.bias[3]");
  /* PyTorch's order as it is would be another network. */
  import_test_assert_refused (
      SAMPLES_FIRST ("w g.weight_ih_l0 18,4;w g.weight_hh_l0 18,6;i z 0,;"
                     "Unsqueeze - g.weight_ih_l0,z WW;Unsqueeze - g.weight_hh_l0,z RR;"
                     "GRU g t,WW,RR y hidden_size=6 linear_before_reset=1" LAST),
      five_steps, "*GRU “g”: its W is not made of the weights of PyTorch's nn.GRU with 6 units*");
}

static void
test_recurrent_refusals (void)
{
#define LSTM(inputs, attributes) \
  SAMPLES_FIRST (LSTM_WEIGHTS "LSTM n t,l.1,l.2," inputs " y hidden_size=6" attributes LAST)
#define GRU(attributes) \
  SAMPLES_FIRST (GRU_WEIGHTS "GRU n t,l.1,l.2,l.3 y hidden_size=6" attributes LAST)
  static const struct {
    const char *text, *pattern;
  } rows[] = {
    { LSTM ("l.3", " direction=reverse"), "*LSTM “n”: its direction is “reverse”*" },
    { LSTM ("l.3", " layout=1"), "*LSTM “n”: *layout 0*" },
    { LSTM ("l.3", " clip=3.0"), "*LSTM “n”: it clips*" },
    { LSTM ("l.3", " input_forget=1"), "*LSTM “n”: it couples*" },
    { LSTM ("l.3", " activations=Sigmoid,Tanh,Relu"), "*LSTM “n”: its activations are not those*" },
    { LSTM ("l.3", " activations=Sigmoid"), "*LSTM “n”: its activations are not those*" },
    { SAMPLES_FIRST (LSTM_WEIGHTS "LSTM n t,l.1,l.2,l.3 y" LAST),
      "*LSTM “n”: its hidden_size is not from 1*" },
    { SAMPLES_FIRST (LSTM_WEIGHTS "LSTM n t,l.1,l.2,l.3 y hidden_size=7" LAST),
      "*LSTM “n”: its W is not made of*with 7 units*" },
    { "w p 1,18;" LSTM ("l.3,,,,p", ""), "*LSTM “n”: it has peepholes*" },
    { "i lengths 5,4;" LSTM ("l.3,lengths", ""), "*LSTM “n”: its sequence_lens*" },
    { "f on 1;i sh 1,2,6;Expand - on,sh h0;" LSTM ("l.3,,h0", ""),
      "*LSTM “n”: its initial state is not a constant*" },
    { "f on 1;i sh 1,2,6;Expand - on,sh c0;" LSTM ("l.3,,,c0", ""),
      "*LSTM “n”: its initial state is not a constant*" },
    { LSTM ("x", ""), "*LSTM “n”: its W is not made of the weights of PyTorch's nn.LSTM*" },
    { GRU (""), "*GRU “n”: *linear_before_reset 0*" },
    { GRU (" linear_before_reset=1 activations=Tanh,Tanh"),
      "*GRU “n”: its activations are not those*" },
    { SAMPLES_FIRST (GRU_WEIGHTS "Relu - x g;GRU n g,l.1,l.2,l.3 y hidden_size=6 "
                                 "linear_before_reset=1" LAST),
      "*GRU “n”: its input, (2, 5, 4), is not (steps, samples, values)*" },
    /* the last cells, weights of two nodes, and weights for another number of values */
    { SAMPLES_FIRST (LSTM_WEIGHTS
                     "LSTM n t,l.1,l.2,l.3 y,h,c hidden_size=6;i a 0,;Squeeze - c,a v"),
      "*LSTM “n”: the network reads its last cells*" },
    { SAMPLES_FIRST (
          "w l.1 1,24,4;w l.2 1,24,6;LSTM n t,l.1,l.2 y hidden_size=6;LSTM m t,l.1,l.2 q "
          "hidden_size=6;Add - y,q o;i ax 1,;Squeeze - o,ax s;i end -1;Gather - s,end v"),
      "*LSTM “n”: its W is not made of*LSTM “m”: its W*" },
    { SAMPLES_FIRST ("w l.1 1,24,3;w l.2 1,24,6;LSTM n t,l.1,l.2 y hidden_size=6" LAST),
      "*LSTM “n”: its W is not made of*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].text);
      import_test_assert_refused (rows[i].text, five_steps, rows[i].pattern);
    }
#undef LSTM
#undef GRU
}

void
import_test_add_recurrent (void)
{
  g_test_add_func ("/nn/import/recurrent-layers", test_layers);
  g_test_add_func ("/nn/import/recurrent-stacks", test_stacks);
  g_test_add_func ("/nn/import/recurrent-both-directions", test_both_directions);
  g_test_add_func ("/nn/import/recurrent-weights-that-nodes-compute", test_computed_weights);
  g_test_add_func ("/nn/import/recurrent-refusals", test_recurrent_refusals);
}
