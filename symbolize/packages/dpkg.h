/* dpkg.h - which package of Debian's kind a file belongs to, as dpkg-query says.
 *
 * A file of /usr/lib may be listed as one of /lib, and be loaded as one of /lib though it is listed
 * as one of /usr/lib: links lead from there to it since /usr was merged. */
#ifndef SAMPLER_PACKAGES_DPKG_H
#define SAMPLER_PACKAGES_DPKG_H

#include <stdbool.h>
#include <stddef.h>

#include "packages/file_package.h"

/* Fills `package` and `source` of those that belong to one. `root`: the system's folder, "" for
 * this one. False: dpkg-query does not answer. */
bool dpkg_find_packages(const char *root, struct file_package *files, size_t n);

#endif
