/* order.h - the orders a finished profile promises: samples by (thread, time), spans by
 * (thread, begin, longer first), both stable, and which span lies in which.
 *
 * Only profile.c includes this. Nothing here recurses; tables already in order (the usual case) are
 * only looked at. False means out of memory; the tables may then be half sorted. */
#ifndef SAMPLER_PROFILE_ORDER_H
#define SAMPLER_PROFILE_ORDER_H

#include "array.h"
#include "model/profile.h"
#include "model/value_column.h"

/* The numbers of the `columns`, one for each kind, move with the samples. */
MUST_CHECK bool profile_order_samples(struct array *samples, struct value_column *columns,
                                      uint32_t n_kinds, uint32_t n_threads);

/* Sorts `spans` (entry 0 is "none" and stays) and fills in `parent`. */
MUST_CHECK bool profile_order_spans(struct array *spans);

/* Fills in `span` of each instant, linear in both. The spans are in order. */
MUST_CHECK bool profile_place_instants(struct array *instants, const struct array *spans);

#endif
