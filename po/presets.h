/* SPDX-License-Identifier: MIT */
/* From data/presets by po/presets.py, for xgettext alone: nothing compiles this. */
/* xgettext:no-c-format */
N_ ("Much memory and bandwidth: batch 32 to 48 at 512x512 with AMP, and eight to twelve workers, or the data pipeline limits it. For 224x224 no guide gives a batch, nor how many batches ahead; 64 to 96, and four, are a start.")
/* xgettext:no-c-format */
N_ ("A card with much memory for its speed. AMP on, batch 32 to 64 at 224x224 and two to four workers keep it busy; a larger batch mostly adds memory. TensorFlow reserves more, so start at 16 there.")
/* xgettext:no-c-format */
N_ ("Fast, but short of memory: AMP is a must, and the batch stays at 6 to 8 for 512x512 and 16 to 24 for 224x224. For a larger effective batch use gradient accumulation; when that is not enough, activation checkpointing.")
/* xgettext:no-c-format */
N_ ("Plenty of memory: the data pipeline is the usual limit. Eight workers that live through the whole run, four batches ahead, AMP on and the channels-last layout; 12 to 16 workers when the CPU is the bottleneck. Head pose takes batch 64 to 128 on BIWI; on 300W-LP 96 is safe, 128 recommended and 256 the most.")
/* xgettext:no-c-format */
N_ ("The card waits for data, not for memory: eight workers with six batches ahead and AMP on. For sequences the batch was raised from 16 to 64. For images no guide gives a batch; 64 at 224x224 is a start.")
/* xgettext:no-c-format */
N_ ("The fastest desktop card here: it outruns the data pipeline first. Eight to twelve workers, AMP on, batch 16 to 24 at 512x512 and 32 to 48 at 224x224; cache decoded samples when they fit into RAM.")
/* xgettext:no-c-format */
N_ ("The card of hosted notebooks, which give it few CPU cores: two to four workers, and a cache of decoded samples where RAM allows. AMP on; batch 8 to 12 at 512x512, 16 to 32 at 224x224.")
/* xgettext:no-c-format */
N_ ("The first card with tensor cores: they work in fp16, so AMP is what makes it fast. Four to eight workers, batch 12 to 16 at 512x512. For 224x224 no guide gives a batch; 16 to 32, as on a T4 with as much memory, is a start.")
