/* raw.c - see raw.h. */
#include "formats/htdump/raw.h"

#include <stddef.h>

#define TEXT HTDUMP_RAW_TEXT
#define U8 HTDUMP_RAW_U8
#define U32 HTDUMP_RAW_U32
#define U64 HTDUMP_RAW_U64
#define END                                                                                        \
    {                                                                                              \
        NULL, HTDUMP_RAW_TEXT                                                                      \
    }

/* No field is called label, name, duration or thread_id: HawkTracer's converters would take the
 * event for a call. */
/* clang-format off */
const struct htdump_raw_description htdump_raw_classes[HTDUMP_RAW_N] = {
    [HTDUMP_RAW_RECORDING] = {"ProfRecordingEvent",
        {{"raw_version", U32}, {"start_monotonic_ns", U64}, {"start_realtime_ns", U64}, {"length_ns", U64},
         {"sample_period", U64}, {"samples_have_times", U8}, END}},
    [HTDUMP_RAW_KIND] = {"ProfKindEvent",
        {{"kind_ref", U32}, {"kind_title", TEXT}, {"kind_unit", TEXT}, {"is_weight", U8}, END}},
    [HTDUMP_RAW_METADATA] = {"ProfMetadataEvent", {{"meta_key", TEXT}, {"meta_value", TEXT}, END}},
    [HTDUMP_RAW_MODULE] = {"ProfModuleEvent",
        {{"module_id", U64}, {"module", TEXT}, {"build_id", TEXT}, {"start_address", U64}, {"end_address", U64}, END}},
    [HTDUMP_RAW_PROCESS] = {"ProfProcessEvent",
        {{"process_ref", U32}, {"os_process", U64}, {"os_parent", U64}, {"process_title", TEXT}, {"start_ns", U64},
         {"end_ns", U64}, END}},
    [HTDUMP_RAW_THREAD_DETAIL] = {"ProfThreadDetailEvent",
        {{"thread_ref", U32}, {"os_thread", U64}, {"start_ns", U64}, {"end_ns", U64}, {"cpu_ns", U64}, END}},
    [HTDUMP_RAW_THREAD] = {"ProfThreadEvent",
        {{"thread_ref", U32}, {"process_ref", U32}, {"thread_title", TEXT}, END}},
    [HTDUMP_RAW_FUNCTION] = {"ProfFunctionEvent",
        {{"function_id", U64}, {"function", TEXT}, {"system_function", TEXT}, {"source_file", TEXT},
         {"definition_line", U32}, {"definition_column", U32}, {"module_id", U64}, END}},
    [HTDUMP_RAW_FRAME_DETAIL] = {"ProfFrameDetailEvent",
        {{"frame_id", U64}, {"function_id", U64}, {"source_column", U32}, {"frame_flags", U32}, END}},
    [HTDUMP_RAW_FRAME] = {"ProfFrameEvent",
        {{"frame_id", U64}, {"address", U64}, {"function", TEXT}, {"module", TEXT}, {"source_file", TEXT},
         {"source_line", U32}, END}},
    [HTDUMP_RAW_STACK] = {"ProfStackEvent", {{"stack_id", U64}, {"parent_id", U64}, {"frame_id", U64}, END}},
    [HTDUMP_RAW_SAMPLE] = {"ProfSampleEvent",
        {{"thread_ref", U32}, {"cpu", U32}, {"stack_id", U64}, {"weight_ns", U64}, END}},
    [HTDUMP_RAW_VALUE] = {"ProfValueEvent", {{"kind_ref", U32}, {"amount", U64}, END}},
    [HTDUMP_RAW_SPAN] = {"ProfSpanEvent", {{"thread_ref", U32}, {"frame_id", U64}, {"span_ns", U64}, END}},
    [HTDUMP_RAW_INSTANT] = {"ProfInstantEvent",
        {{"thread_ref", U32}, {"frame_id", U64}, {"value_kind", U8}, {"value_bits", U64}, {"value_text", TEXT}, END}},
    [HTDUMP_RAW_OFF_CPU] = {"ProfOffCpuEvent",
        {{"thread_ref", U32}, {"off_ns", U64}, {"next_process", TEXT}, {"next_thread", U64}, END}},
    [HTDUMP_RAW_BOOKMARK] = {"ProfBookmarkEvent", {{"bookmark", TEXT}, {"color", U32}, END}},
};
/* clang-format on */

const char *const htdump_raw_units[HTDUMP_RAW_N_UNITS] = {"", "count", "ns", "bytes", "events"};
