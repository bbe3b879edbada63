/* json_read.cpp - see json_read.h. The only C++ of this project: simdjson has no C interface.
 *
 * simdjson's iterators are nested by the caller; here they stand in a vector, one level per open
 * bracket, so that deep input costs heap and not stack. No exception leaves this file. */
extern "C" {
#include "json_read.h"

#include "utf8.h"
}

#include <cmath>
#include <cstring>
#include <exception>
#include <new>
/* simdjson's own checks of its use (unoptimised builds only) limit the nesting by a table. */
#define SIMDJSON_DEVELOPMENT_CHECKS 0
#include <simdjson.h>
#include <vector>

namespace ondemand = simdjson::ondemand;

namespace
{

struct level {
    bool is_object;
    ondemand::object_iterator fields, fields_end;
    ondemand::array_iterator items, items_end;
    bool is_started;
};

} // namespace

struct json_reader {
    std::vector<char> text; /* the input, mended, and simdjson's padding */
    size_t size_bytes = 0;
    size_t skipped_bytes = 0; /* byte order mark                                                  */
    ondemand::parser parser;
    ondemand::document document;
    std::vector<level> levels;
    ondemand::value pending; /* the value of the key just told */
    bool has_pending = false;
    bool is_begun = false;
};

static bool fail(struct json_reader *reader, simdjson::error_code code, struct err *err)
{
    return err_fail(err, code == simdjson::MEMALLOC ? ERR_MEMORY : ERR_FORMAT, json_offset(reader),
                    "not JSON: %s", simdjson::error_message(code));
}

/* Input that is all UTF-8 (nearly always) is copied as it is. */
static void copy_mended(const char *bytes, size_t length, std::vector<char> &text)
{
    text.reserve(length + simdjson::SIMDJSON_PADDING);
    if (simdjson::validate_utf8(bytes, length)) {
        text.assign(bytes, bytes + length);
        return;
    }
    for (size_t pos = 0; pos < length;) {
        bool is_valid;
        size_t n = utf8_next(bytes + pos, length - pos, &is_valid);
        if (is_valid)
            text.insert(text.end(), bytes + pos, bytes + pos + n);
        else
            text.insert(text.end(), UTF8_REPLACEMENT, &UTF8_REPLACEMENT[3]);
        pos += n;
    }
}

/* The code unit of an escape \uXXXX at `pos`, or -1 if there is none. */
static int escaped_unit(const std::vector<char> &text, size_t pos)
{
    if (pos + 6 > text.size() || text[pos] != '\\' || text[pos + 1] != 'u')
        return -1;
    int unit = 0;
    for (size_t i = pos + 2; i < pos + 6; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* simdjson refuses escaped surrogates without their partner; as \ufffd they have the same length.
 */
static void mend_surrogates(std::vector<char> &text)
{
    char *begin = text.data(), *end = begin + text.size();
    for (char *at = begin;
         (at = static_cast<char *>(memchr(at, '\\', static_cast<size_t>(end - at)))) != nullptr;) {
        size_t pos = static_cast<size_t>(at - begin);
        int unit = escaped_unit(text, pos);
        if (unit < 0xd800 || unit > 0xdfff) {
            at += end - at >= 2 ? 2 : 1;
            continue;
        }
        int partner = escaped_unit(text, pos + 6);
        if (unit <= 0xdbff && partner >= 0xdc00 && partner <= 0xdfff) {
            at += 12;
            continue;
        }
        memcpy(at + 2, "fffd", 4);
        at += 6;
    }
}

bool json_reader_create(const uint8_t *data, size_t size_bytes, struct json_reader **out,
                        struct err *err)
{
    const char *bytes = reinterpret_cast<const char *>(data);
    struct json_reader *reader = nullptr;
    try {
        reader = new struct json_reader;
        if (size_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
            reader->skipped_bytes = 3;
        copy_mended(bytes + reader->skipped_bytes, size_bytes - reader->skipped_bytes,
                    reader->text);
        mend_surrogates(reader->text);
        reader->size_bytes = reader->text.size();
        reader->text.resize(reader->size_bytes + simdjson::SIMDJSON_PADDING);
    } catch (const std::exception &) {
        delete reader;
        return err_fail_memory(err);
    }
    auto code = reader->parser
                    .iterate(reader->text.data(), reader->size_bytes,
                             reader->size_bytes + simdjson::SIMDJSON_PADDING)
                    .get(reader->document);
    if (code != simdjson::SUCCESS) {
        err_fail(err, code == simdjson::MEMALLOC ? ERR_MEMORY : ERR_FORMAT, 0, "not JSON: %s",
                 simdjson::error_message(code));
        delete reader;
        return false;
    }
    *out = reader;
    return true;
}

void json_reader_destroy(struct json_reader *reader)
{
    delete reader;
}

uint64_t json_offset(struct json_reader *reader)
{
    const char *at = nullptr;
    if (reader->document.current_location().get(at) != simdjson::SUCCESS)
        return reader->skipped_bytes + reader->size_bytes;
    return reader->skipped_bytes + static_cast<uint64_t>(at - reader->text.data());
}

static simdjson::error_code enter_object(struct json_reader *reader, ondemand::object object)
{
    level inner{};
    inner.is_object = true;
    auto code = object.begin().get(inner.fields);
    if (code == simdjson::SUCCESS)
        code = object.end().get(inner.fields_end);
    if (code == simdjson::SUCCESS)
        reader->levels.push_back(inner);
    return code;
}

static simdjson::error_code enter_array(struct json_reader *reader, ondemand::array array)
{
    level inner{};
    auto code = array.begin().get(inner.items);
    if (code == simdjson::SUCCESS)
        code = array.end().get(inner.items_end);
    if (code == simdjson::SUCCESS)
        reader->levels.push_back(inner);
    return code;
}

template <typename Value> static simdjson::error_code number_get(Value &value, double *number)
{
    int64_t whole;
    if (value.get_int64().get(whole) == simdjson::SUCCESS) {
        *number = static_cast<double>(whole);
        return simdjson::SUCCESS;
    }
    return value.get_double().get(*number);
}

template <typename Value>
static simdjson::error_code string_get(Value &value, struct json_event *event)
{
    std::string_view view;
    auto code = value.get_string().get(view);
    if (code == simdjson::SUCCESS) {
        event->kind = JSON_STRING;
        event->bytes = view.data();
        event->length = view.size();
    }
    return code;
}

/* Value is ondemand::value or, for the outermost, ondemand::document. */
template <typename Value>
static simdjson::error_code value_event(struct json_reader *reader, Value &value,
                                        struct json_event *event)
{
    ondemand::json_type type;
    auto code = value.type().get(type);
    if (code != simdjson::SUCCESS)
        return code;
    switch (type) {
    case ondemand::json_type::object: {
        ondemand::object object;
        code = value.get_object().get(object);
        event->kind = JSON_OBJECT_BEGIN;
        return code == simdjson::SUCCESS ? enter_object(reader, object) : code;
    }
    case ondemand::json_type::array: {
        ondemand::array array;
        code = value.get_array().get(array);
        event->kind = JSON_ARRAY_BEGIN;
        return code == simdjson::SUCCESS ? enter_array(reader, array) : code;
    }
    case ondemand::json_type::string:
        return string_get(value, event);
    case ondemand::json_type::number:
        event->kind = JSON_NUMBER;
        code = number_get(value, &event->number);
        event->is_integer = std::floor(event->number) == event->number &&
                            std::fabs(event->number) <= 9007199254740992.0;
        return code;
    case ondemand::json_type::boolean:
        event->kind = JSON_BOOL;
        return value.get_bool().get(event->boolean);
    case ondemand::json_type::null:
        event->kind = JSON_NULL;
        bool is_null;
        code = value.is_null().get(is_null);
        return code == simdjson::SUCCESS && !is_null ? simdjson::N_ATOM_ERROR : code;
    }
    return simdjson::TAPE_ERROR;
}

static simdjson::error_code object_next(struct json_reader *reader, level &top,
                                        struct json_event *event)
{
    if (top.is_started)
        ++top.fields;
    top.is_started = true;
    if (!(top.fields != top.fields_end)) {
        event->kind = JSON_OBJECT_END;
        reader->levels.pop_back();
        return simdjson::SUCCESS;
    }
    ondemand::field field;
    auto code = (*top.fields).get(field);
    std::string_view key;
    if (code == simdjson::SUCCESS)
        code = field.unescaped_key().get(key);
    if (code != simdjson::SUCCESS)
        return code;
    event->kind = JSON_KEY;
    event->bytes = key.data();
    event->length = key.size();
    reader->pending = field.value();
    reader->has_pending = true;
    return simdjson::SUCCESS;
}

static simdjson::error_code array_next(struct json_reader *reader, level &top,
                                       struct json_event *event)
{
    if (top.is_started)
        ++top.items;
    top.is_started = true;
    if (!(top.items != top.items_end)) {
        event->kind = JSON_ARRAY_END;
        reader->levels.pop_back();
        return simdjson::SUCCESS;
    }
    ondemand::value value;
    auto code = (*top.items).get(value);
    return code == simdjson::SUCCESS ? value_event(reader, value, event) : code;
}

static simdjson::error_code next_event(struct json_reader *reader, struct json_event *event)
{
    if (!reader->is_begun) {
        reader->is_begun = true;
        return value_event(reader, reader->document, event);
    }
    if (reader->has_pending) {
        reader->has_pending = false;
        return value_event(reader, reader->pending, event);
    }
    if (reader->levels.empty()) {
        event->kind = JSON_END;
        return reader->document.current_location().error() == simdjson::OUT_OF_BOUNDS
                   ? simdjson::SUCCESS
                   : simdjson::TRAILING_CONTENT;
    }
    level &top = reader->levels.back();
    return top.is_object ? object_next(reader, top, event) : array_next(reader, top, event);
}

bool json_next(struct json_reader *reader, struct json_event *event, struct err *err)
{
    struct json_event next = {};
    try {
        auto code = next_event(reader, &next);
        if (code != simdjson::SUCCESS)
            return fail(reader, code, err);
    } catch (const std::exception &) {
        return err_fail_memory(err);
    }
    *event = next;
    return true;
}

void json_skip(struct json_reader *reader)
{
    if (reader->has_pending)
        reader->has_pending = false;
    else if (!reader->levels.empty())
        reader->levels.pop_back();
}

bool json_numbers(struct json_reader *reader, const char *what, struct array *numbers,
                  struct err *err)
{
    level &top = reader->levels.back();
    for (; top.items != top.items_end; ++top.items) {
        ondemand::value value;
        auto code = (*top.items).get(value);
        if (code != simdjson::SUCCESS)
            return fail(reader, code, err);
        double number;
        if (number_get(value, &number) != simdjson::SUCCESS)
            return err_fail(err, ERR_FORMAT, json_offset(reader), "%s is not a number", what);
        double *item = static_cast<double *>(array_push(numbers));
        if (item == nullptr)
            return err_fail_memory(err);
        *item = number;
    }
    reader->levels.pop_back();
    return true;
}
