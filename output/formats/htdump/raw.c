/* raw.c - see formats/htdump/raw.h. The rows are in the order of the enum; the fields in that of
 * the wire, after the base that each class has. */
#include "formats/htdump/raw.h"

#include <stddef.h>

#include "model/profile.h"

#define TEXT HTDUMP_RAW_TEXT
#define U8 HTDUMP_RAW_U8
#define U32 HTDUMP_RAW_U32
#define U64 HTDUMP_RAW_U64
#define AT(row, member)                                                                            \
    offsetof(struct profile_##row, member), sizeof(((struct profile_##row *)NULL)->member)

/* No field is called label, name, duration or thread_id: HawkTracer's converters would take the
 * event for a call. */
/* clang-format off */
#define HAND(name, type) {name, type, HTDUMP_RAW_BY_HAND, 0, 0, 0}
#define SELF(name, type) {name, type, HTDUMP_RAW_SELF, 0, 0, 0}
#define MEMBER(name, type, row, member) {name, type, HTDUMP_RAW_MEMBER, AT(row, member), 0}
#define REF(name, type, row, member, table) {name, type, HTDUMP_RAW_REF, AT(row, member), table}
#define LENGTH(name, row) {name, U64, HTDUMP_RAW_LENGTH, AT(row, begin_ns), 0}
#define END {NULL, HTDUMP_RAW_TEXT, HTDUMP_RAW_BY_HAND, 0, 0, 0}

const struct htdump_raw_description htdump_raw_classes[HTDUMP_RAW_N] = {
    [HTDUMP_RAW_RECORDING] = {"ProfRecordingEvent",
        {HAND("raw_version", U32), HAND("start_monotonic_ns", U64), HAND("start_realtime_ns", U64),
         HAND("length_ns", U64), HAND("sample_period", U64), HAND("samples_have_times", U8), END}},
    [HTDUMP_RAW_KIND] = {"ProfKindEvent",
        {HAND("kind_ref", U32), HAND("kind_title", TEXT), HAND("kind_unit", TEXT), HAND("is_weight", U8), END}},
    [HTDUMP_RAW_METADATA] = {"ProfMetadataEvent",
        {MEMBER("meta_key", TEXT, metadata, key), MEMBER("meta_value", TEXT, metadata, value), END}},
    [HTDUMP_RAW_MODULE] = {"ProfModuleEvent",
        {SELF("module_id", U64), MEMBER("module", TEXT, module, path), MEMBER("build_id", TEXT, module, build_id),
         MEMBER("start_address", U64, module, start), MEMBER("end_address", U64, module, end), END}},
    [HTDUMP_RAW_PROCESS] = {"ProfProcessEvent",
        {SELF("process_ref", U32), MEMBER("os_process", U64, process, pid), MEMBER("os_parent", U64, process, ppid),
         MEMBER("process_title", TEXT, process, name), MEMBER("start_ns", U64, process, start_ns),
         MEMBER("end_ns", U64, process, end_ns), END}},
    [HTDUMP_RAW_THREAD_DETAIL] = {"ProfThreadDetailEvent",
        {SELF("thread_ref", U32), MEMBER("os_thread", U64, thread, tid), MEMBER("start_ns", U64, thread, start_ns),
         MEMBER("end_ns", U64, thread, end_ns), MEMBER("cpu_ns", U64, thread, cpu_ns), END}},
    [HTDUMP_RAW_THREAD] = {"ProfThreadEvent",
        {SELF("thread_ref", U32), REF("process_ref", U32, thread, process, HTDUMP_RAW_PROCESSES),
         MEMBER("thread_title", TEXT, thread, name), END}},
    [HTDUMP_RAW_FUNCTION] = {"ProfFunctionEvent",
        {SELF("function_id", U64), MEMBER("function", TEXT, function, name),
         MEMBER("system_function", TEXT, function, system_name), MEMBER("source_file", TEXT, function, file),
         MEMBER("definition_line", U32, function, line), MEMBER("definition_column", U32, function, column),
         REF("module_id", U64, function, module, HTDUMP_RAW_MODULES), END}},
    [HTDUMP_RAW_FRAME_DETAIL] = {"ProfFrameDetailEvent",
        {SELF("frame_id", U64), REF("function_id", U64, frame, function, HTDUMP_RAW_FUNCTIONS),
         MEMBER("source_column", U32, frame, column), MEMBER("frame_flags", U32, frame, flags), END}},
    [HTDUMP_RAW_FRAME] = {"ProfFrameEvent",
        {SELF("frame_id", U64), MEMBER("address", U64, frame, address), HAND("function", TEXT), HAND("module", TEXT),
         HAND("source_file", TEXT), MEMBER("source_line", U32, frame, line), END}},
    [HTDUMP_RAW_STACK] = {"ProfStackEvent",
        {SELF("stack_id", U64), REF("parent_id", U64, stack, parent, HTDUMP_RAW_STACKS),
         REF("frame_id", U64, stack, frame, HTDUMP_RAW_FRAMES), END}},
    [HTDUMP_RAW_SAMPLE] = {"ProfSampleEvent",
        {HAND("thread_ref", U32), HAND("cpu", U32), HAND("stack_id", U64), HAND("weight_ns", U64), END}},
    [HTDUMP_RAW_VALUE] = {"ProfValueEvent", {HAND("kind_ref", U32), HAND("amount", U64), END}},
    [HTDUMP_RAW_SPAN] = {"ProfSpanEvent",
        {REF("thread_ref", U32, span, thread, HTDUMP_RAW_THREADS), REF("frame_id", U64, span, frame, HTDUMP_RAW_FRAMES),
         LENGTH("span_ns", span), END}},
    [HTDUMP_RAW_INSTANT] = {"ProfInstantEvent",
        {REF("thread_ref", U32, instant, thread, HTDUMP_RAW_THREADS), REF("frame_id", U64, instant, frame, HTDUMP_RAW_FRAMES),
         HAND("value_kind", U8), HAND("value_bits", U64), HAND("value_text", TEXT), END}},
    [HTDUMP_RAW_OFF_CPU] = {"ProfOffCpuEvent",
        {REF("thread_ref", U32, off_cpu, thread, HTDUMP_RAW_THREADS), LENGTH("off_ns", off_cpu),
         MEMBER("next_process", TEXT, off_cpu, to_process), MEMBER("next_thread", U64, off_cpu, to_tid), END}},
    [HTDUMP_RAW_BOOKMARK] = {"ProfBookmarkEvent",
        {MEMBER("bookmark", TEXT, bookmark, text), MEMBER("color", U32, bookmark, color), END}},
};
/* clang-format on */

_Static_assert(offsetof(struct profile_span, end_ns) ==
                       offsetof(struct profile_span, begin_ns) + sizeof(uint64_t) &&
                   offsetof(struct profile_off_cpu, end_ns) ==
                       offsetof(struct profile_off_cpu, begin_ns) + sizeof(uint64_t),
               "HTDUMP_RAW_LENGTH finds the end next to the begin");

const char *const htdump_raw_units[HTDUMP_RAW_N_UNITS] = {"", "count", "ns", "bytes", "events"};
