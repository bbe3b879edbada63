/* short_name.c - see short_name.h. One pass from left to right: what stands before a bracket tells what
 * it begins. Names are not parsed: what closes nothing, or does not close, is left as it is. */
#include "text/short_name.h"

#include <string.h>

#include "text.h"

/* So many brackets of a name that nothing closes are looked at: each is looked for up to the name's end. */
#define MAX_UNCLOSED 16u

struct shortening {
    const char *in; /* what is left of the name */
    char *out;
    size_t length;       /* of what is written */
    size_t room;         /* of `out`, in bytes */
    char before;         /* the last character written, which may stand for more */
    bool after_operator; /* it ends the symbol of an operator                     */
    size_t n_brackets;   /* '[' that are open                                     */
    unsigned n_unclosed;
};

static bool is_identifier(char c)
{
    return char_is_digit(c) || char_is_letter(c) || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static bool put(struct shortening *s, const char *text, size_t length)
{
    if (length >= s->room - s->length)
        return false;
    memcpy(s->out + s->length, text, length);
    s->length += length;
    return true;
}

/* Length of the operator's symbol at `text`, 0 of a word: "operator new". */
static size_t operator_symbol_length(const char *text)
{
    static const char *const symbols[] = {
        "<=>", "<<=", ">>=", "->*", "<<", "<=", ">>", ">=", "->", "()", "[]", "&&",  "||", "++",
        "--",  "==",  "!=",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",   ">",  "+",
        "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  ",",  "\"\""};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        size_t length = strlen(symbols[i]);
        if (strncmp(text, symbols[i], length) == 0)
            return length;
    }
    return 0;
}

/* After the '>' that closes the '<' at `text`, NULL if none does. What stands in parentheses is
 * jumped over: a comparison is always written in them. */
static const char *template_end(const char *text)
{
    size_t depth = 0;
    size_t parentheses = 0;
    for (; *text != '\0'; text++) {
        if (*text == '(')
            parentheses++;
        else if (*text == ')' && parentheses > 0)
            parentheses--;
        else if (parentheses != 0)
            continue;
        else if (*text == '<')
            depth++;
        else if (*text == '>' && text[-1] != '-' && --depth == 0)
            return text + 1;
    }
    return NULL;
}

/* After the ')' that closes the '(' at `text`, NULL if none does. */
static const char *parentheses_end(const char *text)
{
    size_t depth = 0;
    for (; *text != '\0'; text++) {
        if (*text == '(')
            depth++;
        else if (*text == ')' && --depth == 0)
            return text + 1;
    }
    return NULL;
}

/* Where the template arguments at `text` begin to matter: "<int>" after a name, "::<i32>" after a
 * Rust path, " <int>" after an operator. A '<' elsewhere begins a Rust path "<T as Trait>", and
 * "::<impl u32>" says which of a trait's functions it is. */
static const char *template_start(const struct shortening *s)
{
    const char *text = s->in;
    if (*text == '<' && (is_identifier(s->before) || s->after_operator || s->before == ']'))
        return text;
    if (strncmp(text, "::<", 3) == 0 && s->before != '\0' && strncmp(text + 3, "impl ", 5) != 0)
        return text + 2;
    if (s->after_operator && strncmp(text, " <", 2) == 0)
        return text + 1;
    return NULL;
}

/* "<int, char>" becomes "<...>". */
static bool template_take(struct shortening *s)
{
    const char *start = s->n_unclosed < MAX_UNCLOSED ? template_start(s) : NULL;
    if (start == NULL)
        return false;
    const char *end = template_end(start);
    s->n_unclosed += end == NULL;
    if (end == NULL)
        return false;
    if (!put(s, s->in, (size_t)(start - s->in)) || !put(s, "<...>", 5))
        return false;
    s->in = end;
    s->before = '>';
    s->after_operator = false;
    return true;
}

/* What says more about the function whose arguments end at `text`. */
static const char *qualifiers_end(const char *text)
{
    static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(text, words[i], length) == 0 && !is_identifier(text[length])) {
            text += length;
            i = (size_t)-1; /* from the first word on again */
        }
    }
    return text;
}

/* "(int, char) const" goes; D's "!(int, char)" becomes "!(...)". In "Map[func(int) string]" they are
 * part of a type. */
static bool arguments_take(struct shortening *s)
{
    bool of_template = s->before == '!';
    if (*s->in != '(' || s->n_unclosed == MAX_UNCLOSED || s->n_brackets > 0 ||
        !(of_template || is_identifier(s->before) || s->before == '>' || s->before == ']' ||
          s->before == '}' || s->before == ')' || s->after_operator))
        return false;
    const char *end = parentheses_end(s->in);
    s->n_unclosed += end == NULL;
    if (end == NULL || (of_template && !put(s, "(...)", 5)))
        return false;
    s->in = of_template ? end : qualifiers_end(end);
    s->before = ')';
    s->after_operator = false;
    return true;
}

/* "[abi:cxx11]" goes. */
static bool tag_take(struct shortening *s)
{
    const char *end = strncmp(s->in, "[abi:", 5) == 0 ? strchr(s->in, ']') : NULL;
    if (end == NULL)
        return false;
    s->in = end + 1;
    return true;
}

/* A character, or the word "operator" with its symbol. */
static bool rest_take(struct shortening *s)
{
    static const char word[] = "operator";
    const size_t word_length = sizeof word - 1;
    size_t n = 1;
    s->after_operator = false;
    if (!is_identifier(s->before) && strncmp(s->in, word, word_length) == 0 &&
        !is_identifier(s->in[word_length])) {
        n = word_length + operator_symbol_length(s->in + word_length);
        s->after_operator = true;
    }
    if (!put(s, s->in, n))
        return false;
    s->before = s->in[n - 1];
    if (n == 1 && s->before == '[')
        s->n_brackets++;
    else if (n == 1 && s->before == ']' && s->n_brackets > 0)
        s->n_brackets--;
    s->in += n;
    return true;
}

bool short_name_make(const char *name, char *out, size_t out_bytes)
{
    struct shortening s = {.in = name, .out = out, .room = out_bytes};
    if (strpbrk(name, "<([") == NULL || name[0] == '[')
        return false;
    while (*s.in != '\0') {
        if (!template_take(&s) && !arguments_take(&s) && !tag_take(&s) && !rest_take(&s))
            return false;
    }
    out[s.length] = '\0';
    return true;
}
