/* match.c - see match.h. */
#include "select/match.h"

#include <string.h>

static bool regex_make(struct match *match, const char *text, struct err *err)
{
    int status = regcomp(&match->regex, text, REG_EXTENDED | REG_NOSUB);
    match->is_compiled = status == 0;
    if (status == 0)
        return true;
    if (status == REG_ESPACE)
        return err_fail_memory(err);
    char why[100];
    (void)regerror(status, &match->regex, why, sizeof why);
    return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s '%.60s': no regular expression: %s",
                    match->option, match->text, why);
}

bool match_init(struct match *match, const char *option, const char *text, struct err *err)
{
    *match = (struct match){.option = option, .text = text};
    if (text == NULL)
        return true;
    static const struct {
        const char *prefix;
        enum match_subject subject;
    } subjects[] = {{"file:", MATCH_FILE}, {"module:", MATCH_MODULE}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        size_t length = strlen(subjects[i].prefix);
        if (strncmp(text, subjects[i].prefix, length) != 0 || text[length] == ':')
            continue; /* file::open is a name of C++ */
        match->subject = subjects[i].subject;
        return regex_make(match, text + length, err);
    }
    return regex_make(match, text, err);
}

void match_deinit(struct match *match)
{
    if (match->is_compiled)
        regfree(&match->regex);
    match->is_compiled = false;
}

bool match_text(const struct match *match, struct text text)
{
    regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)text.length};
    return regexec(&match->regex, text.bytes, 1, &part, REG_STARTEND) == 0;
}

struct text match_function_name(const struct profile *profile, uint32_t function)
{
    const struct profile_function *row = &profile->functions[function];
    return profile_text(profile, row->name != 0 ? row->name : row->system_name);
}

static bool is_met(const struct match *match, const struct profile *profile, uint32_t id)
{
    const struct profile_function *function = &profile->functions[id];
    switch (match->subject) {
    case MATCH_FILE:
        return match_text(match, profile_text(profile, function->file));
    case MATCH_MODULE:
        return match_text(match, profile_text(profile, profile->modules[function->module].path));
    case MATCH_FUNCTION:
        break;
    }
    return match_text(match, match_function_name(profile, id));
}

static bool nothing_is_met(const struct match *match, struct err *err)
{
    static const char *const subjects[] = {
        [MATCH_FUNCTION] = "function", [MATCH_FILE] = "source file", [MATCH_MODULE] = "module"};
    return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "%s '%.60s': no %s matches", match->option,
                    match->text, subjects[match->subject]);
}

bool match_mark_pattern(const struct match *match, const struct profile *profile, uint8_t *marks,
                        uint8_t bit, struct err *err)
{
    bool any = match->text == NULL;
    for (uint32_t id = 1; id < profile->n_functions && match->text != NULL; id++) {
        if (!is_met(match, profile, id))
            continue;
        marks[id] |= bit;
        any = true;
    }
    return any || nothing_is_met(match, err);
}

/* What follows the brackets that `text` begins with. */
static struct text after_brackets(struct text text)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.length; i++) {
        depth += text.bytes[i] == '<';
        depth -= depth > 0 && text.bytes[i] == '>';
        if (depth == 0)
            return text_from(text, i + 1);
    }
    return text_from(text, text.length);
}

/* How far a function's name is from what was typed, the nearest first. */
enum nearness { WHOLE_NAME, WITHOUT_ARGUMENTS, WITHOUT_SCOPE, N_NEARNESS };

/* Whether a name may end here: its arguments, of templates or calls, may follow. */
static bool ends_name(struct text rest)
{
    if (text_starts(rest, "<"))
        rest = after_brackets(rest);
    return rest.length == 0 || text_starts(rest, "(");
}

/* Behind the result, or behind the scope. */
static bool is_name_start(struct text name, size_t i, enum nearness nearness)
{
    if (i == 0 || name.bytes[i - 1] == ' ')
        return true;
    return nearness == WITHOUT_SCOPE && name.bytes[i - 1] == ':';
}

/* "ns::f" in "ns::f(int)", "void ns::f<int>(int)" and, without scope, "f" in both; but not "Table"
 * in "Table<int>::f()". */
static bool is_named(struct text name, struct text typed, enum nearness nearness)
{
    size_t depth = 0;
    if (nearness == WHOLE_NAME)
        return text_equal(name, typed);
    for (size_t i = 0; i + typed.length <= name.length; i++) {
        const char *at = name.bytes + i;
        if (depth == 0 && is_name_start(name, i, nearness) &&
            memcmp(at, typed.bytes, typed.length) == 0 &&
            ends_name(text_from(name, i + typed.length)))
            return true;
        depth += *at == '<' || *at == '(';
        depth -= depth > 0 && (*at == '>' || *at == ')');
    }
    return false;
}

bool match_mark_name(const struct match *match, const struct profile *profile, uint8_t *marks,
                     uint8_t bit, struct err *err)
{
    if (match->text == NULL)
        return true;
    struct text typed = text_make(match->text);
    for (enum nearness nearness = WHOLE_NAME; nearness < N_NEARNESS; nearness++) {
        bool any = false;
        for (uint32_t id = 1; id < profile->n_functions; id++) {
            if (!is_named(match_function_name(profile, id), typed, nearness))
                continue;
            marks[id] |= bit;
            any = true;
        }
        if (any)
            return true;
    }
    return match_mark_pattern(match, profile, marks, bit, err);
}
