/* print.h - the account in full: for people, and as JSON (docs/account.md has its schema).
 *
 * Same account, same bytes. Failure is the sink's. */
#ifndef SAMPLER_ACCOUNT_PRINT_H
#define SAMPLER_ACCOUNT_PRINT_H

#include "account/account.h"
#include "sink.h"

void account_print_text(const struct account *account, struct sink *out);
void account_print_json(const struct account *account, struct sink *out);

#endif
