/* SPDX-License-Identifier: MIT */
/* From data/presets by po/presets.py, for xgettext alone: nothing compiles this. */
/* xgettext:no-c-format */
N_ ("Much memory and bandwidth: batch 32 to 48 at 512x512 and 64 to 96 at 224x224 with AMP. Eight to twelve workers with four batches ahead, or the data pipeline limits it.")
/* xgettext:no-c-format */
N_ ("A card with much memory for its speed. AMP on, batch 32 to 64 at 224x224 and two to four workers keep it busy; a larger batch mostly adds memory. TensorFlow reserves more, so start at 16 there.")
/* xgettext:no-c-format */
N_ ("Fast, but short of memory: AMP is a must, and the batch stays at 6 to 8 for 512x512 and 16 to 24 for 224x224. For a larger effective batch use gradient accumulation; when that is not enough, activation checkpointing.")
/* xgettext:no-c-format */
N_ ("300-500 samples/s, 18-22 GB, 350 W")
/* xgettext:no-c-format */
N_ ("Plenty of memory: the data pipeline is the usual limit. Eight workers that live through the whole run, four batches ahead, AMP on and the channels-last layout; 12 to 16 workers when the CPU is the bottleneck. Head pose takes batch 64 to 128 on BIWI; on 300W-LP 96 is safe, 128 recommended and 256 the most. Expect 300 to 500 samples/s at 18 to 22 GB and 350 W.")
/* xgettext:no-c-format */
N_ ("105 samples/s, 2.07 GB, 43-49 % utilisation")
/* xgettext:no-c-format */
N_ ("The guide measured 105 samples/s at 2.07 GB and 43 to 49 % utilisation: the card waits for data, not for memory. Eight workers with six batches ahead, AMP on, batch 64; for sequences the batch went from 16 to 64.")
/* xgettext:no-c-format */
N_ ("The fastest desktop card here: it outruns the data pipeline first. Eight to twelve workers, AMP on, batch 16 to 24 at 512x512 and 32 to 48 at 224x224; cache decoded samples when they fit into RAM.")
/* xgettext:no-c-format */
N_ ("The card of hosted notebooks, which give it few CPU cores: two to four workers, and a cache of decoded samples where RAM allows. AMP on; batch 8 to 12 at 512x512, 16 to 32 at 224x224.")
/* xgettext:no-c-format */
N_ ("The first card with tensor cores: they work in fp16, so AMP is what makes it fast. Four to eight workers, batch 12 to 16 at 512x512 and 16 to 32 at 224x224.")
