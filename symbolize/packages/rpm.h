/* rpm.h - which package of Fedora's kind a file belongs to, as rpm says. */
#ifndef SAMPLER_PACKAGES_RPM_H
#define SAMPLER_PACKAGES_RPM_H

#include <stdbool.h>
#include <stddef.h>

#include "packages/file_package.h"

/* Fills `package` of those that belong to one. `root`: the system's folder, "" for this one.
 * False: rpm does not answer. */
bool rpm_find_packages(const char *root, struct file_package *files, size_t n);

#endif
