/* process_name.c - see process_name.h. */
#include "recording/process_name.h"

static struct text cut_at(struct text text, const char *mark)
{
    const char *at = memmem(text.bytes, text.length, mark, strlen(mark));
    if (at != NULL)
        text.length = (size_t)(at - text.bytes);
    return text;
}

struct text process_name(struct text exe, struct text first_word)
{
    struct text of_file = text_base_name(exe);
    struct text name = text_base_name(first_word);
    if (text_equal(name, of_file))
        return of_file;
    name = cut_at(text_base_name(cut_at(first_word, ": ")), " ");
    if (text_starts(name, "-")) /* a login shell */
        name = text_from(name, 1);
    return name.length > 0 ? name : of_file;
}

struct text process_name_of(const struct recording *recording)
{
    struct text command = recording_info_get(recording, "command");
    command.length = strnlen(command.bytes, command.length);
    return process_name(recording_info_get(recording, "exe"), command);
}
