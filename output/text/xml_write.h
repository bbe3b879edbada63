/* xml_write.h - any bytes as text of an XML file.
 *
 * Names come from the profiled program: what would be markup is escaped, and what no XML file may hold
 * (bytes that are no UTF-8, control characters, U+FFFE, U+FFFF) becomes U+FFFD. */
#ifndef SAMPLER_XML_WRITE_H
#define SAMPLER_XML_WRITE_H

#include "sink.h"
#include "text.h"

/* Between tags, or as an attribute's value in double quotes. Failure is the sink's: sticky. */
void xml_text(struct sink *out, struct text text);

#endif
