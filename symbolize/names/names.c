/* names.c - see names.h.
 *
 * libiberty's demanglers are used through their callbacks: the text goes straight into our buffer,
 * and a name that wants more than it holds is abandoned there and then. That matters because a name
 * of a hundred characters can stand for a text of gigabytes (each substitution doubling the one
 * before), and a module may come from anywhere. D's has no such form: see d_name.h. */
#include "names/names.h"

#include <demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "names/d_name.h"
#include "text.h"
#include "text/short_name.h"

/* As c++filt: parameters, const and the like, std::string in full where the name says so. */
#define FULL_CXX (DMGL_PARAMS | DMGL_ANSI | DMGL_VERBOSE)
#define NO_PARAMETERS_CXX (DMGL_ANSI | DMGL_VERBOSE)

#define FRAME_SUFFIX ".Frame"
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

static bool is_among(struct text word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text_is(word, words[i]))
            return true;
    return false;
}

#define IS_AMONG(word, words) is_among(word, words, sizeof(words) / sizeof(words)[0])

static bool is_number(struct text word)
{
    size_t n = 0;
    while (n < word.length && char_is_digit(word.bytes[n]))
        n++;
    return n > 0 && n == word.length;
}

/* Up to the next point or the end; `rest` begins at a point, and is left at what follows. */
static struct text word_take(struct text *rest)
{
    struct text word = text_from(*rest, 1);
    const char *point = memchr(word.bytes, '.', word.length);
    if (point != NULL)
        word.length = (size_t)(point - word.bytes);
    *rest = text_from(*rest, 1 + word.length);
    return word;
}

/* True when all from the point on is what compilers add to the name of a function for parts and
 * variants of it: ".isra.0.cold". Functions of Go may be called main.part. */
static bool is_clone_suffix(struct text rest, bool is_cxx)
{
    static const char *const numbered[] = {"isra",     "constprop", "part", /* gcc */
                                           "lto_priv", "llvm",      "__uniq" /* clang */};
    static const char *const alone[] = {"cold", "localalias"};
    static const char *const coroutine[] = {"actor", "destroy", "resume", "cleanup"};
    while (rest.length > 0) {
        struct text word = word_take(&rest), after = rest;
        bool has_number = rest.length > 0 && is_number(word_take(&after));
        if (!(has_number ? IS_AMONG(word, numbered) : is_cxx && IS_AMONG(word, coroutine)) &&
            !IS_AMONG(word, alone))
            return false;
        if (has_number)
            rest = after;
    }
    return true;
}

/* gcc names what a coroutine does after its first wait like a function that takes the coroutine's
 * frame: "_Z3genPZ3genlE14_Z3genl.Frame" is the one of "_Z3genl". */
static struct text coroutine_name(struct text base)
{
    char length[24];
    for (size_t at = 2; at + sizeof FRAME_SUFFIX < base.length; at++) {
        if (base.bytes[at] != '_' || base.bytes[at + 1] != 'Z')
            continue;
        int n = snprintf(length, sizeof length, "%zu", base.length - at);
        if ((size_t)n < at && memcmp(base.bytes + at - n, length, (size_t)n) == 0)
            return (struct text){base.bytes + at, base.length - at - (sizeof FRAME_SUFFIX - 1)};
    }
    return base;
}

struct text names_base(struct text name)
{
    bool is_cxx = text_starts(name, "_Z");
    struct text base = name;
    for (size_t at = 1; at < name.length; at++) {
        if (name.bytes[at] != '.' || !is_clone_suffix(text_from(name, at), is_cxx))
            continue;
        base.length = at;
        break;
    }
    return is_cxx && text_ends(base, FRAME_SUFFIX) ? coroutine_name(base) : base;
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
    if (base[1] != 'D')
        return false;
    buffer->length = d_name_demangle(base, buffer->text, sizeof buffer->text);
    return buffer->length > 0;
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
    struct text base = text_make(name);
    if (plt)
        base.length -= PLT_SUFFIX_LENGTH;
    else
        base = names_base(base);
    if (base.length == 0 || base.length >= sizeof buffer->base)
        return name;
    memcpy(buffer->base, base.bytes, base.length);
    buffer->base[base.length] = '\0';
    if (demangle_base(mode, buffer)) {
        const char *text = shorten(buffer->text, mode, buffer);
        return plt ? plt_put_back(text, name, buffer) : text;
    }
    return plt || base.length == strlen(name) ? shorten(name, mode, buffer)
                                              : shorten(buffer->base, mode, buffer);
}
