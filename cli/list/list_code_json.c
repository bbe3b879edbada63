/* list_code_json.c - instructions of functions for programs: view/row_json.h. */
#include "list/list.h"
#include "view/row_json.h"

static void json_named_text(struct json *json, const char *key, struct text text)
{
    if (text.length == 0)
        return;
    json_key(json, key);
    json_text(json, text);
}

static void json_instruction(struct json *json, const struct code_instruction *instruction,
                             struct instruction_weight weight)
{
    json_object_begin(json);
    row_json_number(json, "address", instruction->vaddr);
    row_json_number(json, "self", weight.self);
    row_json_number(json, "total", weight.total);
    json_named_text(json, "text", instruction->text);
    if (instruction->line != 0) {
        json_named_text(json, "file", instruction->file);
        row_json_number(json, "line", instruction->line);
    }
    json_object_end(json);
}

static void json_piece(struct json *json, const struct profile *profile,
                       const struct list_piece *piece)
{
    const struct code_function *function = piece->function;
    json_object_begin(json);
    json_named_text(json, "module", profile_text(profile, profile->modules[piece->module].path));
    json_named_text(json, "symbol", function->name);
    row_json_number(json, "start", function->start);
    row_json_number(json, "end", function->end);
    row_json_number(json, "self", piece->self);
    if (piece->inlined_into != 0)
        json_named_text(json, "inlined_into",
                        summary_row_name(profile, SUMMARY_BY_FUNCTION,
                                         (struct summary_key){.id = piece->inlined_into}));
    json_key(json, "instructions");
    json_array_begin(json);
    for (size_t i = 0; i < function->n; i++)
        json_instruction(json, &piece->code->instructions[function->first + i], piece->weights[i]);
    json_array_end(json);
    json_object_end(json);
}

bool list_code_json(const struct list *list, struct json *json, uint32_t function, struct err *err)
{
    const struct profile *profile = list->input->profile;
    struct list_pieces pieces;
    char why[512];
    bool ok = list_pieces_init(&pieces, &list->code, function);
    json_key(json, "code");
    json_array_begin(json);
    for (size_t i = 0; ok && i < pieces.all.n; i++)
        json_piece(json, profile, &pieces.all.items[i]);
    json_array_end(json);
    if (pieces.missing_module != 0) {
        const struct err *of_module = &list->code.modules[pieces.missing_module].err;
        row_json_number(json, "self_elsewhere", pieces.self_elsewhere);
        if (of_module->code != ERR_NONE)
            json_named_text(json, "not_here", text_make(err_describe(of_module, why, sizeof why)));
    }
    list_pieces_deinit(&pieces);
    if (!ok)
        err_fail_memory(err);
    return ok;
}
