/* apt.h - which package that apt knows has the debug information of a file.
 *
 *   ROOT/var/lib/apt/lists/..._Packages[.lz4|.gz|...], unpacked by apt-helper
 *     Package: libc6-dbg
 *     Version: 2.36-9+deb12u7
 *     Build-Ids: 0022ee53c7b3... 0053e2c7d1c3...
 *
 * The one with the file's build id, whatever its name; else the one that goes by the name of the
 * file's package or of its source: NAME-dbgsym or NAME-dbg. */
#ifndef SAMPLER_PACKAGES_APT_H
#define SAMPLER_PACKAGES_APT_H

#include <stdbool.h>
#include <stddef.h>

#include "packages/file_package.h"

/* Fills what is known of the debug package of those whose `package` is known. `root`: as for dpkg.
 * False: a list could not be read. */
bool apt_find_debug_packages(const char *root, struct file_package *files, size_t n);

#endif
