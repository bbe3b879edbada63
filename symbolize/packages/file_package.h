/* file_package.h - the package that a file belongs to, and the one with its debug information. */
#ifndef SAMPLER_PACKAGES_FILE_PACKAGE_H
#define SAMPLER_PACKAGES_FILE_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#define PACKAGE_NAME_BYTES 128u

/* By what a package is the one with the debug information, the surer the higher. */
enum debug_match {
    DEBUG_MATCH_NONE,    /* no such package is known                               */
    DEBUG_MATCH_SOURCE,  /* its name, which is made of that of the package's source */
    DEBUG_MATCH_PACKAGE, /* its name, which is made of that of the package          */
    DEBUG_MATCH_BUILD_ID /* the build id of the file, which it holds */
};

/* Texts are "" while they are not known. */
struct file_package {
    const char *path;
    const char *build_id; /* hexadecimal digits, "" if it has none        */
    char package[PACKAGE_NAME_BYTES];
    char source[PACKAGE_NAME_BYTES]; /* of the package        */
    enum debug_match debug_match;
    char debug_package[PACKAGE_NAME_BYTES];
    char debug_version[PACKAGE_NAME_BYTES]; /* the one with the build id  */
    size_t n_debug_versions;                /* of debug_package that are known          */
    bool is_debug_other; /* debug_package is of another version than the file          */
};

#endif
