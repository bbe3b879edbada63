/* sources.c - see sources.h. */
#include "model/sources.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define PREFIX "source:"
#define PREFIX_LENGTH (sizeof PREFIX - 1)

bool profile_source(const struct profile *profile, struct text path, struct text *out)
{
    for (size_t i = 0; i < profile->n_metadata; i++) {
        struct text key = profile_text(profile, profile->metadata[i].key);
        if (key.length == PREFIX_LENGTH + path.length &&
            memcmp(key.bytes, PREFIX, PREFIX_LENGTH) == 0 &&
            text_equal(text_from(key, PREFIX_LENGTH), path)) {
            *out = profile_text(profile, profile->metadata[i].value);
            return true;
        }
    }
    return false;
}

void profile_add_source(struct profile_builder *builder, const char *path, struct text source)
{
    char key[PREFIX_LENGTH + PATH_MAX];
    snprintf(key, sizeof key, PREFIX "%s", path);
    profile_add_metadata(builder, key, source.bytes, source.length);
}
