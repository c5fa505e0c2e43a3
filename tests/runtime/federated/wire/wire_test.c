/* wire_test.c -- messages come back from bytes as they were, bytes are those of the format, and what a reader must
 * refuse is refused.  The golden bytes were put down by hand from the encoding rules of Protocol Buffers; where
 * protoc-c is installed, its own --encode and --decode (of the C++ library, which the runtime does not use) are the
 * second opinion. */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "federated/wire/block.h"
#include "runtime/federated/wire/wire_kit.h"

#define PROTO "runtime/federated/wire/penumbra.proto"

/* ---- to bytes and back ---- */

static bool round_trip(const pn_message *message)
{
    unsigned char *bytes, *again;
    size_t size, size_again;
    pn_message back = { 0 };
    pn_err err = { .message = "" };
    bool same = pn_wire_write(message, &bytes, &size, &err) == PN_OK;

    same = same && pn_wire_read(&back, bytes, size, NULL, &err) == PN_OK && kit_same(message, &back);
    same = same && pn_wire_write(&back, &again, &size_again, &err) == PN_OK;
    if (same) {
        same = size == size_again && memcmp(bytes, again, size) == 0;
        pn_free(again);
    }
    pn_free(bytes);
    pn_message_clear(&back);
    if (!same)
        (void)fprintf(stderr, "    %s: %s\n", pn_message_names[message->kind], err.message);
    return same;
}

static void every_kind_comes_back_bit_for_bit(void)
{
    for (int kind = PN_MESSAGE_HELLO; kind <= PN_MESSAGE_REFUSED; kind++) {
        pn_message m = { 0 };

        CHECK(kit_message(&m, (pn_message_kind)kind) == PN_OK);
        if (kind != PN_MESSAGE_CHOICE && kind != PN_MESSAGE_HELLO)
            CHECK(isfinite(m.score));
        CHECK(round_trip(&m));
        pn_message_clear(&m);
    }
}

static void edges_of_fields_come_back(void)
{
    static const int64_t codes[] = { 0, 1, -1, (int64_t)UINT32_MAX + 1, -(int64_t)UINT32_MAX - 1 };
    pn_message m = { 0 };

    CHECK(kit_message(&m, PN_MESSAGE_CHOICE) == PN_OK);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        m.code = codes[i];
        CHECK(round_trip(&m));
    }
    m.stay_score = -DBL_MAX;
    CHECK(round_trip(&m));
    m.score = m.stay_score = NAN;
    CHECK(round_trip(&m));
    m.round = UINT64_MAX;
    m.party = PN_PARTIES_MAX - 1;
    CHECK(round_trip(&m));
    pn_message_clear(&m);

    CHECK(kit_message(&m, PN_MESSAGE_ROUND) == PN_OK); /* the first round: x is 0 */
    m.count = 0;
    CHECK(round_trip(&m));
    m.count = KIT_ENTRIES;
    pn_message_clear(&m);

    CHECK(kit_message(&m, PN_MESSAGE_REFUSED) == PN_OK);
    m.round = 9;
    memset(m.reason, 'r', sizeof m.reason - 1);
    CHECK(round_trip(&m));
    m.reason[0] = '\0';
    CHECK(round_trip(&m));
    pn_message_clear(&m);
}

static void a_reason_with_line_breaks_is_written_without(void)
{
    pn_message m = { 0 }, back = { 0 };
    unsigned char *bytes;
    size_t size;

    CHECK(kit_message(&m, PN_MESSAGE_REFUSED) == PN_OK);
    (void)strcpy(m.reason, "a\nb\x1b[2Jc\xff Z\xc3\xbc \xe2\x80\xae");
    if (CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK)) {
        CHECK(pn_wire_read(&back, bytes, size, NULL, NULL) == PN_OK);
        CHECK(strcmp(back.reason, "a?b?[2Jc? Z\xc3\xbc ???") == 0);
        pn_free(bytes);
    }
    memset(m.reason, 'x', sizeof m.reason); /* not even a zero at its end */
    if (CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK)) {
        CHECK(pn_wire_read(&back, bytes, size, NULL, NULL) == PN_OK);
        CHECK(strlen(back.reason) == PN_REASON_BYTES - 1);
        pn_free(bytes);
    }
    pn_message_clear(&back);
    pn_message_clear(&m);
}

/* ---- the bytes themselves ---- */

static void bytes_are_those_of_the_format(void)
{
    /* version 2; run, 16 bytes; party 3; round 7; fetch { column 5 }.  Tag: field << 3 | type. */
    static const unsigned char fetch[] = { 0x08, 0x02, 0x12, 0x10, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55,
                                           0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
                                           0x18, 0x03, 0x20, 0x07, 0x6a, 0x02, 0x08, 0x05 };
    /* ... choice { code -6, zigzag 11; score -0.0 } */
    static const unsigned char choice[] = { 0x62, 0x0b, 0x08, 0x0b, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x80 };
    /* ... choice { code 0; pick 1, 0, 300 } */
    static const unsigned char vertex[] = { 0x62, 0x08, 0x08, 0x00, 0x22, 0x04, 0x01, 0x00, 0xac, 0x02 };
    static const uint32_t picks[] = { 1, 0, 300 };
    pn_message m = { 0 };
    unsigned char *bytes;
    size_t size;

    CHECK(kit_message(&m, PN_MESSAGE_FETCH) == PN_OK);
    CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK);
    CHECK(size == sizeof fetch && memcmp(bytes, fetch, size) == 0);
    pn_free(bytes);
    pn_message_clear(&m);
    CHECK(kit_message(&m, PN_MESSAGE_CHOICE) == PN_OK);
    CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK);
    CHECK(size == 24 + sizeof choice && memcmp(bytes, fetch, 24) == 0 &&
          memcmp(bytes + 24, choice, sizeof choice) == 0);
    pn_free(bytes);
    m.code = 0;
    m.score = NAN;
    CHECK(pn_message_reserve_picks(&m, 3, NULL) == PN_OK);
    memcpy(m.pick, picks, sizeof picks);
    CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK);
    CHECK(size == 24 + sizeof vertex && memcmp(bytes + 24, vertex, sizeof vertex) == 0);
    pn_free(bytes);
    pn_message_clear(&m);
}

/* The kit's messages as text for the other program. */
#define HEAD "version: 2\nrun: \"\\000\\021\\\"3DUfw\\210\\231\\252\\273\\314\\335\\356\\377\"\nparty: 3\n"
static const char *const as_text[] = {
    [PN_MESSAGE_READY] = HEAD "ready {\n}\n",
    [PN_MESSAGE_ROUND] = HEAD
    "round: 7\nround_request {\n  index: 0\n  index: 300\n  index: 4294967295\n  value: -0.25\n"
    "  value: 1.48219693752374e-323\n  value: 3\n  q: -0\n  q: 4.94065645841247e-324\n  q: -2.2250738585072009e-308\n"
    "  q: 1.7976931348623157e+308\n  q: -1.7976931348623157e+308\n  q: 0.1\n}\n",
    [PN_MESSAGE_CHOICE] = HEAD "round: 7\nchoice {\n  code: -6\n  score: -0\n}\n",
    [PN_MESSAGE_FETCH] = HEAD "round: 7\nfetch {\n  column: 5\n}\n",
    [PN_MESSAGE_FEATURE] = HEAD "round: 7\nfeature {\n  column: 5\n  vector: -0\n  vector: 4.94065645841247e-324\n"
                                "  vector: -2.2250738585072009e-308\n  vector: 1.7976931348623157e+308\n"
                                "  vector: -1.7976931348623157e+308\n  vector: 0.1\n}\n",
    [PN_MESSAGE_DONE] = HEAD "done {\n  index: 0\n  index: 300\n  index: 4294967295\n  value: -0.25\n"
                             "  value: 1.48219693752374e-323\n  value: 3\n}\n",
    [PN_MESSAGE_REFUSED] = HEAD "refused {\n  status: BUDGET\n  reason: \"party: the ledger does not cover it\"\n}\n",
    [PN_MESSAGE_HELLO] =
        "version: 2\nhello {\n  name: \"Z\\303\\274rich\"\n  records: 18446744073709551615\n  columns: 4294967295\n"
        "  alignment: "
        "\"\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245"
        "\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\\245\"\n"
        "  session: \"\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\"\n"
        "  feature_bound: 2.2250738585072014e-308\n  label_bound: 1\n}\n",
    [PN_MESSAGE_TERMS] = HEAD
    "terms {\n  mode: PAPER\n  loss: LOGISTIC\n  neighbours: ZERO_OUT\n  is_private: true\n  simulated: true\n"
    "  records: 18446744073709551615\n  parties: 4096\n  iterations: 18446744073709551614\n  feature_bound: 1\n"
    "  label_bound: 0.1\n  sketch_kind: SPARSE\n  sketch_rows: 64\n  sketch_columns: 18446744073709551615\n"
    "  sketch_seed: 18446744073709551615\n  columns: 77\n  sampled: 1\n  radius: 1.7976931348623157e+308\n"
    "  epsilon0: 4.94065645841247e-324\n  laplace_scale: -0\n  sigma_feature: 0.33333333333333331\n"
    "  sigma_score: 2\n  clip: 1e+300\n  stay: true\n  block: 5\n  block: 77\n  block: 0.1\n  features: 12\n"
    "  positive: true\n}\n",
};

/* What `protoc-c --how` makes of data[size]. */
static size_t other_program(const char *how, const void *data, size_t size, char *out, size_t room)
{
    char path[] = "/tmp/penumbra-wire-XXXXXX", command[256];
    int fd = mkstemp(path);
    size_t got = 0;
    FILE *pipe;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        return 0;
    (void)close(fd);
    (void)snprintf(command, sizeof command, "protoc-c --%s=penumbra.Envelope " PROTO " <%s", how, path);
    pipe = popen(command, "r");
    if (pipe) {
        got = fread(out, 1, room, pipe);
        (void)pclose(pipe);
    }
    (void)unlink(path);
    return got;
}

static void another_program_reads_and_writes_the_same_bytes(void)
{
    if (access(PROTO, R_OK) != 0 || system("protoc-c --version >/dev/null 2>&1") != 0) {
        (void)fprintf(stderr, "    skipped: no protoc-c, or not run from the top of the tree\n");
        return;
    }
    for (int kind = PN_MESSAGE_HELLO; kind <= PN_MESSAGE_REFUSED; kind++) {
        pn_message m = { 0 };
        unsigned char *bytes;
        char other[4096];
        size_t size, got;

        CHECK(kit_message(&m, (pn_message_kind)kind) == PN_OK);
        CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK);
        got = other_program("decode", bytes, size, other, sizeof other - 1);
        other[got] = '\0';
        if (!CHECK(strcmp(other, as_text[kind]) == 0))
            (void)fprintf(stderr, "%s", other);
        got = other_program("encode", as_text[kind], strlen(as_text[kind]), other, sizeof other);
        CHECK(got == size && memcmp(other, bytes, size) == 0);
        pn_free(bytes);
        pn_message_clear(&m);
    }
}

/* ---- what is refused ---- */

static pn_status read_bytes(const void *bytes, size_t size, const pn_wire_limits *limits, pn_err *err)
{
    pn_message m = { 0 };
    pn_status status = pn_wire_read(&m, bytes, size, limits, err);

    CHECK(status == PN_OK ||
          (m.kind == PN_MESSAGE_NONE && !m.vector && !m.index && !m.value && !m.pick && !m.terms.block));
    pn_message_clear(&m);
    return status;
}

/* fetch, as above, with something changed; `what` is in the message. */
static void refuses(const char *hex, pn_status want, const char *what)
{
    unsigned char bytes[512];
    size_t size = 0;
    pn_err err = { .message = "" };

    for (const char *at = hex; *at; at += *at == ' ' ? 1 : 2) {
        unsigned byte;

        if (*at != ' ' && sscanf(at, "%2x", &byte) == 1)
            bytes[size++] = (unsigned char)byte;
    }
    if (!CHECK(read_bytes(bytes, size, NULL, &err) == want && strstr(err.message, what)))
        (void)fprintf(stderr, "    %s\n    for %s, wanted \"%s\"\n", err.message, hex, what);
}

#define RUN  "12100011223344556677 8899aabbccddeeff "
#define RUN1 "08 02 " RUN "1803 "

static void what_is_not_a_message_is_refused(void)
{
    refuses("", PN_EPARSE, "0 bytes that do not begin with a version");
    refuses("08", PN_EPARSE, "do not begin with a version");
    refuses("08 ff ff ff ff ff ff", PN_EPARSE, "do not begin with a version");
    refuses("08 01", PN_EUNSUPPORTED, "version 1, this program speaks version 2");
    refuses("08 ac 02 ff ff", PN_EUNSUPPORTED, "version 300, this program speaks version 2");
    refuses("08 02", PN_EPARSE, "run or party is missing");
    refuses("08 82 00", PN_EPARSE, "twice, unknown or loosely encoded");
    refuses("08 02 07", PN_EPARSE, "cut, damaged");
    refuses(RUN1, PN_EPARSE, "without a body");
    refuses(RUN1 "2007 6a03 0805", PN_EPARSE, "cut, damaged");
    refuses(RUN1 "2007 6a00", PN_EPARSE, "without a field that their kind has");
    refuses(RUN1 "2007 6a02 0805 6a02 0805", PN_EPARSE, "twice, unknown");
    refuses(RUN1 "2007 6a02 0805 62 02 0800", PN_EPARSE, "twice, unknown");
    refuses(RUN1 "2007 6a02 0805 fa01 00", PN_EPARSE, "twice, unknown");
    refuses(RUN1 "2007 6a04 0805 1000", PN_EPARSE, "twice, unknown");
    refuses(RUN1 "2007 6a03 088500", PN_EPARSE, "loosely encoded");
    refuses(RUN1 "6a02 0805", PN_EPARSE, "fetch: rounds begin at 1");
    refuses(RUN1 "2000 6a02 0805", PN_EPARSE, "rounds begin at 1");
    refuses(RUN1 "2007 5200", PN_EPARSE, "ready: belongs to no round");
    refuses("08 02 " RUN "2007 6a02 0805", PN_EPARSE, "run or party is missing");
    refuses("08 02 1803 2007 6a02 0805", PN_EPARSE, "run or party is missing");
    refuses("08 02 " RUN "188020 2007 6a02 0805", PN_EPARSE, "party must be below 4096, got 4096");
    refuses("08 02 120201021803 2007 6a02 0805", PN_EPARSE, "run must have 16 bytes, got 2");
    refuses(RUN1 "2007 7209 0805 12 05 00000000 00", PN_EPARSE, "cut, damaged"); /* 5 bytes are no number */
    refuses(RUN1 "2007 7202 0805", PN_EPARSE, "feature has 0 numbers");
    refuses(RUN1 "2007 5a0a 1a08 000000000000f07f", PN_EPARSE, "q[0] is inf");
    refuses(RUN1 "2007 5a0a 1a08 000000000000f8ff", PN_EPARSE, "nan, must be a finite number");
    refuses(RUN1 "2007 5a0d 0a01 01 1a08 0000000000000000", PN_EPARSE, "x has 1 indices and 0 values");
    refuses(RUN1 "7a16 0a02 0202 1210 000000000000f03f 000000000000f03f", PN_EPARSE, "indices of x must rise");
    refuses(RUN1 "7a16 0a02 0201 1210 000000000000f03f 000000000000f03f", PN_EPARSE, "indices of x must rise");
    refuses(RUN1 "2007 620b 080b 11 000000000000f07f", PN_EPARSE, "a score is infinite");
    refuses(RUN1 "2007 620b 080b 11 000000000000f87f", PN_EPARSE, "a score is NaN");
    refuses(RUN1 "2007 620b 080b 19 000000000000f03f", PN_EPARSE, "stay_score without a score");
    refuses(RUN1 "2007 6207 0882 80808080 01", PN_EPARSE, "code must be -4294967296 to 4294967296, got");
    refuses(RUN1 "2007 6206 080b 2202 0102", PN_EPARSE, "a vertex of 2 choices has no code and no score");
    refuses(RUN1 "2007 620f 0800 11 000000000000f03f 2202 0102", PN_EPARSE, "has no code and no score");
    refuses(RUN1 "2007 620a 0800 2206 8080808010 01", PN_EPARSE, "twice, unknown or loosely"); /* no 32 bits */
    refuses(RUN1 "820104 0800 1200", PN_EPARSE, "status must be 1 to 12, got 0");
    refuses(RUN1 "820104 080d 1200", PN_EPARSE, "status must be 1 to 12, got 13");
    refuses(RUN1 "820105 0801 12010a", PN_EPARSE, "printable");
    refuses(RUN1 "820105 0801 1201ff", PN_EPARSE, "printable");
    refuses(RUN1 "820106 0801 1202c0af", PN_EPARSE, "printable");
    refuses(RUN1 "820107 0801 1203eda080", PN_EPARSE, "printable");
    refuses(RUN1 "820107 0801 1203410042", PN_EPARSE, "twice, unknown"); /* a NUL inside */
}

/* Every change of one field of a good message that `spoil` makes is refused by the writer, saying so. */
static void writer_refuses(pn_message_kind kind, void (*spoil)(pn_message *), const char *what)
{
    pn_message m = { 0 };
    unsigned char *bytes = NULL;
    size_t size;
    pn_err err = { .message = "" };

    CHECK(kit_message(&m, kind) == PN_OK);
    spoil(&m);
    if (!CHECK(pn_wire_write(&m, &bytes, &size, &err) == PN_EINVAL && strstr(err.message, what)))
        (void)fprintf(stderr, "    %s; wanted \"%s\"\n", err.message, what);
    CHECK(bytes == NULL);
    pn_free(bytes);
    pn_message_clear(&m);
}

#define SPOIL(name, ...)                                                                                               \
    static void name(pn_message *m)                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
SPOIL(other_kind, m->kind = (pn_message_kind)10)
SPOIL(no_kind, m->kind = PN_MESSAGE_NONE)
SPOIL(no_name, m->name[0] = '\0')
SPOIL(bad_name, m->name[1] = '\n')
SPOIL(long_name, memset(m->name, 'n', sizeof m->name))
SPOIL(no_records, m->records = 0)
SPOIL(no_columns, m->columns = 0)
SPOIL(many_columns, m->columns = (uint64_t)UINT32_MAX + 1)
SPOIL(no_bound, m->feature_bound = 0.0)
SPOIL(nan_bound, m->label_bound = NAN)
SPOIL(hello_run, m->run[3] = 1)
SPOIL(hello_round, m->round = 1)
SPOIL(other_run, m->terms.run[0] = 1)
SPOIL(other_party, m->terms.party = 4)
SPOIL(few_parties, m->terms.parties = 3)
SPOIL(many_parties, m->terms.parties = PN_PARTIES_MAX + 1)
SPOIL(bad_mode, m->terms.mode = (pn_federated_mode)3)
SPOIL(bad_loss, m->terms.loss = (pn_federated_loss)2)
SPOIL(bad_neighbours, m->terms.neighbours = (pn_neighbours)3)
SPOIL(bad_sketch, m->terms.sketch.kind = (pn_sketch_kind)-1)
SPOIL(many_rows, m->terms.sketch.m = ((size_t)1 << 24) + 1)
SPOIL(infinite_radius, m->terms.radius = INFINITY)
SPOIL(nan_clip, m->terms.clip = NAN)
SPOIL(no_block, m->terms.block_size = 0)
SPOIL(many_numbers, m->terms.block_size = PN_BLOCK_NUMBERS_MAX + 1)
SPOIL(nan_block, m->terms.block[1] = NAN)
SPOIL(falling, m->index[1] = m->index[0])
SPOIL(nan_value, m->value[2] = NAN)
SPOIL(no_vector, m->size = 0)
SPOIL(long_vector, m->size = ((size_t)1 << 24) + 1)
SPOIL(long_block, m->count = ((size_t)1 << 24) + 1)

static void a_writer_refuses_what_a_reader_would(void)
{
    writer_refuses(PN_MESSAGE_FETCH, other_kind, "no message of kind 10");
    writer_refuses(PN_MESSAGE_FETCH, no_kind, "no message of kind 0");
    writer_refuses(PN_MESSAGE_HELLO, no_name, "name must have 1 to 63 bytes");
    writer_refuses(PN_MESSAGE_HELLO, bad_name, "name must have 1 to 63 bytes");
    writer_refuses(PN_MESSAGE_HELLO, long_name, "name must have 1 to 63 bytes");
    writer_refuses(PN_MESSAGE_HELLO, no_records, "records must be at least 1");
    writer_refuses(PN_MESSAGE_HELLO, no_columns, "columns must be 1 to 4294967295, got 0");
    writer_refuses(PN_MESSAGE_HELLO, many_columns, "columns must be 1 to 4294967295, got 4294967296");
    writer_refuses(PN_MESSAGE_HELLO, no_bound, "feature_bound must be a positive number, got 0");
    writer_refuses(PN_MESSAGE_HELLO, nan_bound, "label_bound must be a positive number, got nan");
    writer_refuses(PN_MESSAGE_HELLO, hello_run, "belongs to no run");
    writer_refuses(PN_MESSAGE_HELLO, hello_round, "belongs to no round");
    writer_refuses(PN_MESSAGE_TERMS, other_run, "another run or party");
    writer_refuses(PN_MESSAGE_TERMS, other_party, "another run or party");
    writer_refuses(PN_MESSAGE_TERMS, few_parties, "party 3 of 3");
    writer_refuses(PN_MESSAGE_TERMS, many_parties, "party 3 of 4097");
    writer_refuses(PN_MESSAGE_TERMS, bad_mode, "mode must be 0 to 2, got 3");
    writer_refuses(PN_MESSAGE_TERMS, bad_loss, "loss must be 0 to 1, got 2");
    writer_refuses(PN_MESSAGE_TERMS, bad_neighbours, "neighbours must be 0 to 2, got 3");
    writer_refuses(PN_MESSAGE_TERMS, bad_sketch, "sketch_kind must be 0 to 2, got -1");
    writer_refuses(PN_MESSAGE_TERMS, many_rows, "sketch_rows must be 1 to 16777216, got 16777217");
    writer_refuses(PN_MESSAGE_TERMS, infinite_radius, "terms[2] is inf");
    writer_refuses(PN_MESSAGE_TERMS, nan_clip, "terms[7] is nan");
    writer_refuses(PN_MESSAGE_TERMS, no_block, "a set of 0 numbers, must have 1 to 4194304");
    writer_refuses(PN_MESSAGE_TERMS, many_numbers, "a set of 4194305 numbers");
    writer_refuses(PN_MESSAGE_TERMS, nan_block, "block[1] is nan");
    writer_refuses(PN_MESSAGE_ROUND, falling, "indices of x must rise, got 0 after 0");
    writer_refuses(PN_MESSAGE_DONE, nan_value, "x[2] is nan");
    writer_refuses(PN_MESSAGE_ROUND, no_vector, "q has 0 numbers, must have 1 to 16777216");
    writer_refuses(PN_MESSAGE_FEATURE, long_vector, "feature has 16777217 numbers");
    writer_refuses(PN_MESSAGE_DONE, long_block, "x has 16777217 entries");
}

static void limits_of_the_reader_hold_to_the_entry(void)
{
    pn_message m = { 0 };
    unsigned char *bytes;
    size_t size;
    pn_err err;

    CHECK(kit_message(&m, PN_MESSAGE_ROUND) == PN_OK);
    CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK);
    CHECK(read_bytes(bytes, size, &(pn_wire_limits){ size, KIT_NUMBERS, KIT_ENTRIES }, NULL) == PN_OK);
    CHECK(read_bytes(bytes, size, &(pn_wire_limits){ .bytes = size - 1 }, &err) == PN_EPARSE);
    CHECK(strstr(err.message, "bytes, at most") != NULL);
    CHECK(read_bytes(bytes, size, &(pn_wire_limits){ .vector = KIT_NUMBERS - 1 }, &err) == PN_EPARSE);
    CHECK(strstr(err.message, "6 numbers, at most 5") != NULL);
    CHECK(read_bytes(bytes, size, &(pn_wire_limits){ .block = KIT_ENTRIES - 1 }, &err) == PN_EPARSE);
    CHECK(strstr(err.message, "3 entries, at most 2") != NULL);
    pn_free(bytes);
    pn_message_clear(&m);
    CHECK(kit_message(&m, PN_MESSAGE_CHOICE) == PN_OK && pn_message_reserve_picks(&m, 4, NULL) == PN_OK);
    m.code = 0;
    m.score = NAN;
    memset(m.pick, 0xff, 4 * sizeof *m.pick);
    CHECK(round_trip(&m));
    CHECK(pn_wire_write(&m, &bytes, &size, NULL) == PN_OK);
    CHECK(read_bytes(bytes, size, &(pn_wire_limits){ .block = 4 }, NULL) == PN_OK);
    CHECK(read_bytes(bytes, size, &(pn_wire_limits){ .block = 3 }, &err) == PN_EPARSE);
    CHECK(strstr(err.message, "a vertex of 4 choices, at most 3") != NULL);
    pn_free(bytes);
    pn_message_clear(&m);
}

int main(void)
{
    every_kind_comes_back_bit_for_bit();
    edges_of_fields_come_back();
    a_reason_with_line_breaks_is_written_without();
    bytes_are_those_of_the_format();
    another_program_reads_and_writes_the_same_bytes();
    what_is_not_a_message_is_refused();
    a_writer_refuses_what_a_reader_would();
    limits_of_the_reader_hold_to_the_entry();
    return check_summary();
}
