/* names.c - see names.h.
 *
 * libiberty's demanglers are used through their callbacks: the text goes straight into our buffer,
 * and a name that wants more than it holds is abandoned there and then. That matters because a name
 * of a hundred characters can stand for a text of gigabytes (each substitution doubling the one
 * before), and a module may come from anywhere. */
#include "names/names.h"

#include <demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "text/short_name.h"

/* As c++filt: parameters, const and the like, std::string in full where the name says so. */
#define FULL_CXX (DMGL_PARAMS | DMGL_ANSI | DMGL_VERBOSE)
#define NO_PARAMETERS_CXX (DMGL_ANSI | DMGL_VERBOSE)

#define PLT_SUFFIX "@plt"
#define PLT_SUFFIX_LENGTH (sizeof PLT_SUFFIX - 1)

struct output {
    struct names_buffer *buffer;
    jmp_buf too_long;
};

/* Leaves the demangler when the buffer is full. Its callback form keeps its state on the stack. */
static void output_add(const char *text, size_t length, void *opaque)
{
    struct output *output = opaque;
    struct names_buffer *buffer = output->buffer;
    if (length >= sizeof buffer->text - buffer->length)
        longjmp(output->too_long, 1); /* NOLINT(cert-err52-cpp): the only way to stop it */
    memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
}

typedef int callback_demangler(const char *name, int options, demangle_callbackref callback,
                               void *opaque);

/* A demangled text that comes as a heap string: only D's demangler, whose output is linear in the
 * name. */
static bool demangle_d(const char *name, struct names_buffer *buffer)
{
    char *text = dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI);
    if (text == NULL)
        return false;
    size_t length = strlen(text);
    bool fits = length < sizeof buffer->text;
    if (fits) {
        memcpy(buffer->text, text, length + 1);
        buffer->length = length;
    }
    free(text);
    return fits;
}

static bool demangle_with(callback_demangler *demangler, const char *name, int options,
                          struct names_buffer *buffer)
{
    struct output output = {.buffer = buffer};
    buffer->length = 0;
    if (setjmp(output.too_long) != 0) /* NOLINT(cert-err52-cpp): see output_add */
        return false;
    if (demangler(name, options, output_add, &output) == 0)
        return false;
    buffer->text[buffer->length] = '\0';
    return buffer->length > 0;
}

/* ---- clone suffixes ---- */

static bool clone_word_known(struct text word)
{
    /* gcc: cold to localalias; clang: llvm and __uniq. */
    static const char *const known[] = {"cold",     "isra",       "constprop", "part",
                                        "lto_priv", "localalias", "llvm",      "__uniq"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (text_is(word, known[i]))
            return true;
    }
    return false;
}

/* True when all from the point on is clone words and their numbers: ".isra.0.cold". */
static bool is_clone_suffix(const char *point)
{
    bool first = true;
    while (*point == '.') {
        const char *word = point + 1;
        size_t length = strcspn(word, ".");
        bool number = length > 0 && strspn(word, "0123456789") == length;
        if (!clone_word_known((struct text){word, length}) && (first || !number))
            return false;
        first = false;
        point = word + length;
    }
    return !first;
}

/* Length of the name without its clone suffixes. */
static size_t base_length(const char *name)
{
    const char *point = name[0] == '\0' ? NULL : strchr(name + 1, '.');
    while (point != NULL && !is_clone_suffix(point))
        point = strchr(point + 1, '.');
    return point == NULL ? strlen(name) : (size_t)(point - name);
}

/* ---- all together ---- */

static bool demangle_base(enum names_mode mode, struct names_buffer *buffer)
{
    const char *base = buffer->base;
    if (base[0] != '_')
        return false;
    /* Rust's old scheme is C++'s with a hash at the end, so it is asked first. */
    if ((base[1] == 'R' || base[1] == 'Z') &&
        demangle_with(rust_demangle_callback, base, 0, buffer))
        return true;
    if (base[1] == 'Z')
        return demangle_with(cplus_demangle_v3_callback, base,
                             mode == NAMES_SHORT ? NO_PARAMETERS_CXX : FULL_CXX, buffer);
    return base[1] == 'D' && demangle_d(base, buffer);
}

/* The text in short mode; `text` itself if there is nothing to shorten. */
static const char *shorten(const char *text, enum names_mode mode, struct names_buffer *buffer)
{
    return mode == NAMES_SHORT && short_name_make(text, buffer->brief, sizeof buffer->brief)
               ? buffer->brief
               : text;
}

/* A function's name in front of "@plt", which stays. */
static const char *plt_put_back(const char *text, const char *name, struct names_buffer *buffer)
{
    size_t length = strlen(text);
    if (length + PLT_SUFFIX_LENGTH >= sizeof buffer->text)
        return name;
    memmove(buffer->text, text, length);
    memcpy(buffer->text + length, PLT_SUFFIX, sizeof PLT_SUFFIX);
    return buffer->text;
}

const char *demangle(const char *name, enum names_mode mode, struct names_buffer *buffer)
{
    if (mode == NAMES_RAW)
        return name;
    bool plt = text_ends(text_make(name), PLT_SUFFIX);
    size_t length = plt ? strlen(name) - PLT_SUFFIX_LENGTH : base_length(name);
    if (length == 0 || length >= sizeof buffer->base)
        return name;
    memcpy(buffer->base, name, length);
    buffer->base[length] = '\0';
    if (demangle_base(mode, buffer)) {
        const char *text = shorten(buffer->text, mode, buffer);
        return plt ? plt_put_back(text, name, buffer) : text;
    }
    return plt || name[length] == '\0' ? shorten(name, mode, buffer)
                                       : shorten(buffer->base, mode, buffer);
}
