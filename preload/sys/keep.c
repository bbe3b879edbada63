/* keep.c - see keep.h. */
#include "sys/keep.h"

#include <stddef.h>
#include <string.h>

#include "sys/layout.h"
#include "sys/os.h"

static LAYOUT_LARGE char room[2048];
static size_t used;

/* SETUP */
char *keep_text(const char *text)
{
    size_t n_bytes = strlen(text) + 1;
    char *copy = NULL;
    if (n_bytes <= sizeof room - used) {
        copy = room + used;
        used += n_bytes;
    } else {
        copy = os_map(n_bytes);
    }
    return copy == NULL ? NULL : memcpy(copy, text, n_bytes);
}
