/* others_dir.h - where the processes of root's command leave their recordings once they are another
 * user's: setpriv, runuser, a server's workers.
 *
 * The folder of the run (recording_dir.h) is closed to them, and often so is the way to it (/root).
 * So a run of root has a second folder, in /var/tmp or /tmp, which the library makes in the first
 * process that gives up its user (preload/hooks/rights.c). Its name cannot be guessed, and the folder
 * it is in cannot be listed: whoever was told the name, in the environment, may create files there,
 * nobody else. In the run's folder a link named OTHERS_DIR_LINK leads to it, so that one folder
 * stands for all recordings. */
#ifndef SAMPLER_CLI_OTHERS_DIR_H
#define SAMPLER_CLI_OTHERS_DIR_H

#include <limits.h>
#include <stdbool.h>

#define OTHERS_DIR_LINK "other-users"

/* Where it is to be for the run whose folder is `folder`; `out` gets its absolute path, "" when we are
 * not root or there is no place: then those processes say that they cannot write. */
void others_dir_choose(const char *folder, char out[PATH_MAX]);

/* The folder that the run in `folder` has for other users, once one of its processes made it. False
 * when it was to have none. */
bool others_dir_find(const char *folder, char out[PATH_MAX]);

/* Removes it, with the link. What is in it was put there by others: files go, anything else keeps it
 * alive. */
void others_dir_remove(const char *folder);

#endif
