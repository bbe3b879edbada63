/* facts.h - the last step of reading: what follows from the tables of a recording and several
 * ask for (struct recording_facts), worked out once. */
#ifndef SAMPLER_RECORDING_FACTS_H
#define SAMPLER_RECORDING_FACTS_H

#include "arena.h"
#include "recording/recording.h"

/* Fills recording->facts; texts go to the arena. False when out of memory. */
MUST_CHECK bool facts_find(struct recording *recording, struct arena *arena);

#endif
