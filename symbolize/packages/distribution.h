/* distribution.h - which distribution a system is, and how people get debug information there. */
#ifndef SAMPLER_PACKAGES_DISTRIBUTION_H
#define SAMPLER_PACKAGES_DISTRIBUTION_H

struct distribution {
    const char *id;      /* as in os-release(5), "" for all others                             */
    const char *server;  /* of debuginfod                                                      */
    const char *install; /* the command, up to the name of the package; NULL: there is none     */
    const char *suffix;  /* from the name of a package to that of its debug package             */
    const char *archive; /* that has to be added for it; NULL: it is among the usual ones       */
};

/* Never NULL. `root`: the system's folder, "" for this one. */
const struct distribution *distribution_find(const char *root);

#endif
