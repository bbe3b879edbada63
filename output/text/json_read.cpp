/* json_read.cpp - see json_read.h. The only C++ of this project: RapidJSON has no C interface.
 *
 *   bytes -> stream -> RapidJSON's reader -> walk -> visitor
 *                ^                            |
 *                +------- runs of digits -----+
 *
 * Long lists of plain integers are most of a profile. The walk takes them from the stream itself,
 * from one element to the next, and leaves to RapidJSON whatever is not a comma and a few digits:
 * the first and the last of each run, fractions, errors. No exception leaves this file. */
extern "C" {
#include "text/json_read.h"

#include "text/utf8.h"
}

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <endian.h>
#include <exception>
#include <new>
#include <string>
#include <vector>

/* RapidJSON 1.1.0 adds to the null pointers of a stack without memory, which only clang's sanitizer
 * minds. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

namespace
{

/* RapidJSON does not look at what its allocator returns. */
class throwing_allocator
{
  public:
    [[maybe_unused]] static const bool kNeedFree = true; /* RapidJSON asks for it */

    void *Malloc(size_t size_bytes)
    {
        return size_bytes == 0 ? nullptr : checked(std::malloc(size_bytes));
    }
    void *Realloc(void *old, size_t, size_t size_bytes)
    {
        if (size_bytes == 0) {
            std::free(old);
            return nullptr;
        }
        return checked(std::realloc(old, size_bytes));
    }
    static void Free(void *memory)
    {
        std::free(memory);
    }

  private:
    static void *checked(void *memory)
    {
        if (memory == nullptr)
            throw std::bad_alloc();
        return memory;
    }
};

/* The input where it lies. RapidJSON takes a NUL for its end. */
struct input_stream {
    using Ch = char;
    const char *begin, *at, *end;

    char Peek() const
    {
        return at < end ? *at : '\0';
    }
    char Take()
    {
        return at < end ? *at++ : '\0';
    }
    size_t Tell() const
    {
        return static_cast<size_t>(at - begin);
    }
    /* Only streams that are read and written in place need these. */
    char *PutBegin()
    {
        return nullptr;
    }
    void Put(char)
    {
    }
    size_t PutEnd(char *)
    {
        return 0;
    }
};

/* How many of the 8 bytes at `at` are digits before the first that is none, and the number they
 * are: all 8 at once, as no digit tells how the next will be. */
unsigned take_digits(const char *at, uint32_t *number)
{
    uint64_t digits;
    memcpy(&digits, at, sizeof digits);
    digits = le64toh(digits) ^ 0x3030303030303030u;
    /* The high bit of each byte that is over 9; carries reach only bytes after one of those. */
    uint64_t others = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
    unsigned n = others == 0 ? 8 : static_cast<unsigned>(__builtin_ctzll(others)) / 8;
    if (n == 0)
        return 0;
    digits <<= 64 - 8 * n; /* zeros in front */
    digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffu;
    digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffu;
    *number = static_cast<uint32_t>(digits * 10000 + (digits >> 32));
    return n;
}

/* Commas and integers of a few digits, as far as they go, with `at` after a number of a list. */
const char *take_integers(const char *at, const char *end, struct number_list *numbers)
{
    const int MOST_BYTES = 12;          /* comma, sign, 8 digits, what is after them */
    struct number_list list = *numbers; /* in registers */
    while (end - at > MOST_BYTES && *at == ',') {
        bool is_negative = at[1] == '-';
        const char *first = at + 1 + is_negative;
        uint32_t number = 0;
        unsigned n = take_digits(first, &number);
        const char *behind = first + n;
        if (n == 0 || (*first == '0' && n > 1) || (*behind != ',' && *behind != ']'))
            break;
        int32_t value = static_cast<int32_t>(number);
        if (!number_list_push_i32(&list, is_negative ? -value : value))
            break;
        at = behind;
    }
    *numbers = list;
    return at;
}

} // namespace

/* RapidJSON's handler. */
struct json_walk {
    input_stream in = {};
    size_t skipped_bytes = 0; /* byte order mark */
    const struct json_visitor *visitor = nullptr;
    struct err *err = nullptr;
    size_t skipping = 0;      /* brackets open in what is skipped   */
    bool skips_value = false; /* the value to come is skipped       */
    bool is_begin = false;    /* the visitor looks at a BEGIN event */
    const char *what = nullptr;
    struct number_list *numbers = nullptr; /* takes the elements of the list being read */
    std::string mended;

    bool visit(const struct json_event &event)
    {
        return visitor->event(visitor->context, this, &event, err);
    }

    /* Whether an event of the value that begins (and, with `opens`, continues) is left out. */
    bool is_skipped(bool opens)
    {
        if (skipping == 0 && !skips_value)
            return false;
        skipping += opens;
        skips_value = false;
        return true;
    }

    bool scalar(const struct json_event &event)
    {
        if (is_skipped(false))
            return true;
        if (numbers != nullptr)
            return not_a_number();
        return visit(event);
    }

    bool not_a_number()
    {
        return err_fail(err, ERR_FORMAT, json_offset(this), "%s is not a number", what);
    }

    bool begin(enum json_kind kind)
    {
        if (is_skipped(true))
            return true;
        if (numbers != nullptr)
            return not_a_number();
        struct json_event event = {};
        event.kind = kind;
        is_begin = true;
        bool ok = visit(event);
        is_begin = false;
        return ok;
    }

    bool end(enum json_kind kind)
    {
        if (skipping != 0) {
            skipping--;
            return true;
        }
        numbers = nullptr;
        struct json_event event = {};
        event.kind = kind;
        return visit(event);
    }

    bool text(enum json_kind kind, const char *bytes, size_t length)
    {
        struct json_event event = {};
        event.kind = kind;
        event.bytes = bytes;
        event.length = length;
        for (size_t pos = 0; pos < length; pos++) {
            if (static_cast<unsigned char>(bytes[pos]) >= 0x80) {
                mend(bytes, length, &event);
                break;
            }
        }
        return kind == JSON_KEY ? visit(event) : scalar(event);
    }

    void mend(const char *bytes, size_t length, struct json_event *event)
    {
        mended.clear();
        for (size_t pos = 0; pos < length;) {
            bool is_valid;
            size_t n = utf8_next(bytes + pos, length - pos, &is_valid);
            if (is_valid)
                mended.append(bytes + pos, n);
            else
                mended.append(UTF8_REPLACEMENT, 3);
            pos += n;
        }
        event->bytes = mended.data();
        event->length = mended.size();
    }

    bool number(double value)
    {
        if (numbers != nullptr && skipping == 0) {
            if (!number_list_push(numbers, value))
                return err_fail_memory(err);
            in.at = take_integers(in.at, in.end, numbers);
            return true;
        }
        struct json_event event = {};
        event.kind = JSON_NUMBER;
        event.number = value;
        event.is_integer = std::floor(value) == value && std::fabs(value) <= 9007199254740992.0;
        return scalar(event);
    }

    bool Null()
    {
        struct json_event event = {};
        event.kind = JSON_NULL;
        return scalar(event);
    }
    bool Bool(bool value)
    {
        struct json_event event = {};
        event.kind = JSON_BOOL;
        event.boolean = value;
        return scalar(event);
    }
    bool Int(int value)
    {
        return number(value);
    }
    bool Uint(unsigned value)
    {
        return number(value);
    }
    bool Int64(int64_t value)
    {
        return number(static_cast<double>(value));
    }
    bool Uint64(uint64_t value)
    {
        return number(static_cast<double>(value));
    }
    bool Double(double value)
    {
        return number(value);
    }
    bool RawNumber(const char *, rapidjson::SizeType, bool)
    {
        return false;
    }
    bool String(const char *bytes, rapidjson::SizeType length, bool)
    {
        return text(JSON_STRING, bytes, length);
    }
    bool Key(const char *bytes, rapidjson::SizeType length, bool)
    {
        return skipping != 0 || text(JSON_KEY, bytes, length);
    }
    bool StartObject()
    {
        return begin(JSON_OBJECT_BEGIN);
    }
    bool EndObject(rapidjson::SizeType)
    {
        return end(JSON_OBJECT_END);
    }
    bool StartArray()
    {
        return begin(JSON_ARRAY_BEGIN);
    }
    bool EndArray(rapidjson::SizeType)
    {
        return end(JSON_ARRAY_END);
    }
};

/* The code unit of an escape \uXXXX at `at`, or -1 if there is none. */
static int escaped_unit(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    int unit = 0;
    for (int i = 2; i < 6; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* The next escaped surrogate without its partner; `end` if there is none. */
static const char *lone_surrogate(const char *at, const char *end)
{
    while (at < end && (at = static_cast<const char *>(
                            memchr(at, '\\', static_cast<size_t>(end - at)))) != nullptr) {
        int unit = escaped_unit(at, end);
        if (unit < 0xd800 || unit > 0xdfff) {
            at += end - at >= 2 ? 2 : 1;
            continue;
        }
        int partner = escaped_unit(at + 6, end);
        if (unit > 0xdbff || partner < 0xdc00 || partner > 0xdfff)
            return at;
        at += 12;
    }
    return end;
}

/* RapidJSON refuses escaped surrogates without their partner; as \ufffd they have the same length.
 * The input is copied only when it has one. */
static void mend_surrogates(input_stream *in, std::vector<char> *copy)
{
    const char *lone = lone_surrogate(in->at, in->end);
    if (lone == in->end)
        return;
    copy->assign(in->begin, in->end);
    const char *begin = copy->data(), *end = begin + copy->size();
    for (const char *at = begin + (lone - in->begin); at != end; at = lone_surrogate(at + 6, end))
        std::copy_n("fffd", 4, copy->data() + (at - begin) + 2);
    *in = {begin, begin + in->Tell(), end};
}

static bool read_all(struct json_walk *walk)
{
    std::vector<char> copy;
    mend_surrogates(&walk->in, &copy);
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, throwing_allocator> reader;
    const unsigned FLAGS = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag;
    auto result = reader.Parse<FLAGS>(walk->in, *walk);
    if (walk->err->code != ERR_NONE)
        return false;
    if (result.IsError())
        return err_fail(walk->err, ERR_FORMAT, walk->skipped_bytes + result.Offset(),
                        "not JSON: %s", rapidjson::GetParseError_En(result.Code()));
    return walk->in.at == walk->in.end || err_fail(walk->err, ERR_FORMAT, json_offset(walk),
                                                   "not JSON: a NUL byte after the value");
}

bool json_read(const uint8_t *data, size_t size_bytes, const struct json_visitor *visitor,
               struct err *err)
{
    const char *bytes = reinterpret_cast<const char *>(data);
    struct err found = {};
    found.offset = ERR_NO_OFFSET;
    bool ok = false;
    try {
        struct json_walk walk;
        walk.skipped_bytes = utf8_mark_bytes(bytes, size_bytes);
        bytes += walk.skipped_bytes;
        walk.in = {bytes, bytes, bytes + (size_bytes - walk.skipped_bytes)};
        walk.visitor = visitor;
        walk.err = &found;
        ok = read_all(&walk);
    } catch (const std::exception &) {
        err_fail_memory(&found);
    }
    if (!ok && err->code == ERR_NONE)
        *err = found;
    return ok;
}

void json_skip(struct json_walk *walk)
{
    if (walk->is_begin)
        walk->skipping = 1;
    else
        walk->skips_value = true;
}

void json_numbers(struct json_walk *walk, const char *what, struct number_list *numbers)
{
    walk->what = what;
    walk->numbers = numbers;
}

uint64_t json_offset(const struct json_walk *walk)
{
    return walk->skipped_bytes + walk->in.Tell();
}
