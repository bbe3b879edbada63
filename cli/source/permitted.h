/* permitted.h - which files a profile may have read for it.
 *
 * A profile is data from elsewhere, and says itself where its sources are. Shown on the terminal of whoever asks,
 * any file does no harm; put into a page that is passed on, a private key does. So a text is taken into
 * a profile only if it is source code by its name, and by the path that the profile tells only if the profile is of
 * this machine; for others it must lie below a folder that the user chose. */
#ifndef SAMPLER_CLI_PERMITTED_H
#define SAMPLER_CLI_PERMITTED_H

#include "model/profile.h"

/* Whether the path has the extension of a programming language, or is a header below a folder
 * "include" as those of C++ are, which have none. */
bool path_is_source_code(struct text path);

/* Whether all runs in it were made on the host with this name. */
bool profile_is_of_this_host(const struct profile *profile);

#endif
