/* cpuprofile.c - the format "cpuprofile": its row in the table, and how its files are
 * recognised. */
#include "formats/cpuprofile/cpuprofile.h"

#include <string.h>

#include "text/first_bracket.h"

/* An object that begins with one of the layouts' keys. */
static int cpuprofile_sniff(const uint8_t *head, size_t head_bytes)
{
    static const char *const keys[] = {"\"nodes\"", "\"head\"", "\"callFrame\"", "\"timeDeltas\""};
    if (json_first_bracket(head, head_bytes) != '{')
        return 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (memmem(head, head_bytes, keys[i], strlen(keys[i])) != NULL)
            return 80;
    }
    return 0;
}

const struct format format_cpuprofile = {
    .name = "cpuprofile",
    .extensions = (const char *const[]){"cpuprofile", NULL},
    .about = "V8 CPU profile: Chrome DevTools, VS Code, speedscope",
    .keeps = KEEPS_SAMPLES | KEEPS_TIMES | KEEPS_FILES,
    .is_one_thread = true,
    .sniff = cpuprofile_sniff,
    .read = cpuprofile_read,
    .write = cpuprofile_write,
    .dump = cpuprofile_dump,
};
