/* distribution.c - see distribution.h. The servers are those that https://debuginfod.elfutils.org
 * names; it asks all of them itself. */
#include "packages/distribution.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct distribution distributions[] = {
    {"debian", "https://debuginfod.debian.net", "apt install ", "-dbgsym", "debian-debug"},
    {"ubuntu", "https://debuginfod.ubuntu.com", "apt install ", "-dbgsym", "ddebs.ubuntu.com"},
    {"fedora", "https://debuginfod.fedoraproject.org", "dnf debuginfo-install ", "", NULL},
    {"centos", "https://debuginfod.centos.org", "dnf debuginfo-install ", "", NULL},
    {"opensuse", "https://debuginfod.opensuse.org", "zypper install ", "-debuginfo", NULL},
    {"suse", "https://debuginfod.opensuse.org", "zypper install ", "-debuginfo", NULL},
    {"arch", "https://debuginfod.archlinux.org", NULL, "", NULL},
    {"", "https://debuginfod.elfutils.org", NULL, "", NULL},
};

#define N_KNOWN (sizeof distributions / sizeof distributions[0] - 1)

/* The first known one among the words of "debian ubuntu", which may be quoted; NULL: none. */
static const struct distribution *find_word(char *words)
{
    char *rest = NULL;
    for (char *word = strtok_r(words, "\"' \n", &rest); word != NULL;
         word = strtok_r(NULL, "\"' \n", &rest))
        for (size_t i = 0; i < N_KNOWN; i++)
            if (strcmp(word, distributions[i].id) == 0)
                return &distributions[i];
    return NULL;
}

static const struct distribution *read_release(FILE *file)
{
    const struct distribution *is = NULL, *is_like = NULL;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        if (is == NULL && strncmp(line, "ID=", 3) == 0)
            is = find_word(line + 3);
        else if (is_like == NULL && strncmp(line, "ID_LIKE=", 8) == 0)
            is_like = find_word(line + 8);
    }
    free(line);
    return is != NULL ? is : is_like;
}

const struct distribution *distribution_find(const char *root)
{
    char path[PATH_MAX];
    const struct distribution *found = NULL;
    snprintf(path, sizeof path, "%s/etc/os-release", root);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        found = read_release(file);
        fclose(file);
    }
    return found != NULL ? found : &distributions[N_KNOWN];
}
