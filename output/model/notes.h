/* notes.h - things worth telling the user once, from whoever reads, converts or writes a profile:
 * "line 7: no count; 3 lines skipped", "lines are not kept".
 *
 * A note is one line without a final period or newline. It is never an error: what cannot be done
 * is reported by struct err. Who shows notes, and where, is the caller's business. */
#ifndef SAMPLER_NOTES_H
#define SAMPLER_NOTES_H

struct format_notes {
    void (*note)(void *context, const char *text); /* borrows `text`; NULL: nobody listens */
    void *context;
};

/* Cut to 511 bytes. `notes` may be NULL. */
void format_note(const struct format_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
