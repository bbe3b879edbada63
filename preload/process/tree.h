/* tree.h - a program that was started with plain LD_PRELOAD and all that it starts: one profile for
 * the whole tree of processes.
 *
 *   first process   records into NAME.sampler next to the output, and makes the profile of all when
 *                   it ends
 *   later ones      record into the folder NAME.children, which the first of them makes, and report
 *                   nothing
 *
 * They know of each other by SAMPLER_TREE (include/environment.h), which our hooks of exec put into
 * the environment of what is started, and by nothing else: the program's own environment stays as
 * it is. The first process remains the first when it replaces itself by exec.
 *
 * Outlived    What later processes have done by the end of the first is in its profile. Recordings of
 *             those that still run stay, and the last of them to end makes another profile, under a
 *             name that is free.
 * Alone       Under sampler-run there is no tree of ours: the launcher makes the profile. A later
 *             process that cannot write to the folder (it is another user's by then, or has another
 *             root) begins a tree of its own.
 * Context     tree_enter: SETUP. tree_name_is_free, tree_begin, tree_make_folder: SETUP, HOOK. tree_forked: HOOK, in a
 *             forked child. The rest: HOOK, EXIT. */
#ifndef SAMPLER_TREE_H
#define SAMPLER_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/line.h"

enum tree_place {
    TREE_NONE,  /* somebody else makes the profile: sampler-run */
    TREE_FIRST, /* this process does, when it ends */
    TREE_LATER, /* the first one does */
};

/* Takes this process into the tree that the environment names, if any: its folder becomes
 * settings.recording_dir. A tree of another machine, and one whose first process gave up its
 * recording before it became this program, is none. */
void tree_enter(void);

/* Whether no tree has left a folder that one whose first recording is `recording` would take. */
bool tree_name_is_free(const char *recording);

/* Makes this process the first of a new tree; its recording is `recording`, NAME.sampler. What it
 * starts from now on is told, if children are followed. */
void tree_begin(const char *recording);

/* A child of the process that was in the tree. */
void tree_forked(void);

enum tree_place tree_place(void);

/* The folder for later processes, made if it is missing. False with errno: EACCES where a folder of
 * that name is somebody else's. */
bool tree_make_folder(void);

/* Whether there is something of later processes, or of what the first one was before an exec. */
bool tree_has_folder(void);

/* NAME.children; "" where no children are followed. */
const char *tree_folder(void);

pid_t tree_first_pid(void);

/* In a later process: whether the first one has ended. False where that cannot be told, as in
 * another pid namespace. */
bool tree_is_over(void);

/* The folder's descriptor, once no other process reports what is in it; -1: there is no folder. */
int tree_take_turn(void);

/* Lets the next one in, and closes the descriptor. */
void tree_give_turn(int fd);

/* The first process's NAME.sampler moves into the folder, so that all is in one place. */
void tree_gather(void);

/* Removes a folder in which there are brief recordings at most. */
void tree_drop(void);

/* Adds where a profile of the tree goes: NAME, a number from the 1st attempt on, `extension`. */
void tree_add_output(struct line *line, unsigned attempt, const char *extension);

#endif
