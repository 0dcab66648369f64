/* Check digits and shapes of the identifiers of loans. Every text is upper case and as long as its function says. */

#ifndef CUSHION_IDENTIFIERS_H
#define CUSHION_IDENTIFIERS_H

#include <stdint.h>
#include <string.h>

/* One more than the value of a sign: 0 to 9, A to Z as 10 to 35, * @ # as 36 to 38; 0 for any other. */
static const uint8_t SIGN[256] = {
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16, ['G'] = 17, ['H'] = 18, ['I'] = 19,
    ['J'] = 20, ['K'] = 21, ['L'] = 22, ['M'] = 23, ['N'] = 24, ['O'] = 25, ['P'] = 26, ['Q'] = 27, ['R'] = 28,
    ['S'] = 29, ['T'] = 30, ['U'] = 31, ['V'] = 32, ['W'] = 33, ['X'] = 34, ['Y'] = 35, ['Z'] = 36, ['*'] = 37,
    ['@'] = 38, ['#'] = 39
};

/* For each sign the digit sum of its value, and of twice the value; 256 marks a sign that fits. */
static const uint16_t SUM_ONCE[256] = {
    ['0'] = 256, ['1'] = 257, ['2'] = 258, ['3'] = 259, ['4'] = 260, ['5'] = 261, ['6'] = 262, ['7'] = 263,
    ['8'] = 264, ['9'] = 265, ['A'] = 257, ['B'] = 258, ['C'] = 259, ['D'] = 260, ['E'] = 261, ['F'] = 262,
    ['G'] = 263, ['H'] = 264, ['I'] = 265, ['J'] = 266, ['K'] = 258, ['L'] = 259, ['M'] = 260, ['N'] = 261,
    ['O'] = 262, ['P'] = 263, ['Q'] = 264, ['R'] = 265, ['S'] = 266, ['T'] = 267, ['U'] = 259, ['V'] = 260,
    ['W'] = 261, ['X'] = 262, ['Y'] = 263, ['Z'] = 264, ['*'] = 265, ['@'] = 266, ['#'] = 267
};
static const uint16_t SUM_TWICE[256] = {
    ['0'] = 256, ['1'] = 258, ['2'] = 260, ['3'] = 262, ['4'] = 264, ['5'] = 257, ['6'] = 259, ['7'] = 261,
    ['8'] = 263, ['9'] = 265, ['A'] = 258, ['B'] = 260, ['C'] = 262, ['D'] = 264, ['E'] = 266, ['F'] = 259,
    ['G'] = 261, ['H'] = 263, ['I'] = 265, ['J'] = 267, ['K'] = 260, ['L'] = 262, ['M'] = 264, ['N'] = 266,
    ['O'] = 268, ['P'] = 261, ['Q'] = 263, ['R'] = 265, ['S'] = 267, ['T'] = 269, ['U'] = 262, ['V'] = 264,
    ['W'] = 266, ['X'] = 268, ['Y'] = 270, ['Z'] = 263, ['*'] = 265, ['@'] = 267, ['#'] = 269
};

static inline int is_digit(uint8_t sign) { return sign >= '0' && sign <= '9'; }

static inline int is_letter(uint8_t sign) { return sign >= 'A' && sign <= 'Z'; }

/* Nine signs whose last is the check digit of the eight before: every second value doubled, digits summed, to the next
   ten. Nine zeros would fit, and are nobody's. */
static inline int cusip_fits(const uint8_t *text)
{
    unsigned total = 0;
    uint64_t eight;
    for (int at = 0; at < 8; at += 2)
        total += SUM_ONCE[text[at]] + SUM_TWICE[text[at + 1]];
    memcpy(&eight, text, 8);
    return total >> 8 == 8 && eight != 0x3030303030303030u && is_digit(text[8])
        && (10 - total % 256 % 10) % 10 == (unsigned)(text[8] - '0');
}

static inline int luhn(int digit, int doubled)
{
    return !doubled ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
}

/* Twelve signs: two letters, nine letters or digits, and the digit that makes the Luhn sum of all a multiple of ten when
   a letter counts as its two-digit value. */
static inline int isin_fits(const uint8_t *text)
{
    int total = 0, doubled = 0;
    if (!(is_letter(text[0]) && is_letter(text[1]) && is_digit(text[11])))
        return 0;
    for (int at = 11; at >= 0; at--) {
        int value = SIGN[text[at]] - 1;
        if (value < 0 || value > 35)
            return 0;
        if (value >= 10) {
            total += luhn(value % 10, doubled) + luhn(value / 10, !doubled);
        } else {
            total += luhn(value, doubled);
            doubled = !doubled;
        }
    }
    return total % 10 == 0;
}

/* LX, five or six digits, and perhaps T and one digit more. */
static inline int loanx_fits(const uint8_t *text, int64_t length)
{
    int64_t at = 2;
    if (length < 7 || text[0] != 'L' || text[1] != 'X')
        return 0;
    while (at < length && is_digit(text[at]))
        at++;
    if (at < 7 || at > 8)
        return 0;
    return at == length || (length - at == 2 && text[at] == 'T' && is_digit(text[at + 1]));
}

#endif
