/* Check digits and shapes of the identifiers of loans. Every text is upper case and as long as its function says. */

#ifndef CUSHION_IDENTIFIERS_H
#define CUSHION_IDENTIFIERS_H

#include <stdint.h>

/* One more than the value of a sign: 0 to 9, A to Z as 10 to 35, * @ # as 36 to 38; 0 for any other. */
static const uint8_t SIGN[256] = {
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16, ['G'] = 17, ['H'] = 18, ['I'] = 19,
    ['J'] = 20, ['K'] = 21, ['L'] = 22, ['M'] = 23, ['N'] = 24, ['O'] = 25, ['P'] = 26, ['Q'] = 27, ['R'] = 28,
    ['S'] = 29, ['T'] = 30, ['U'] = 31, ['V'] = 32, ['W'] = 33, ['X'] = 34, ['Y'] = 35, ['Z'] = 36, ['*'] = 37,
    ['@'] = 38, ['#'] = 39
};

/* The digit sum of a sign's value, and of twice the value. */
static const uint8_t SUM_ONCE[256] = {
    ['0'] = 0, ['1'] = 1, ['2'] = 2, ['3'] = 3, ['4'] = 4, ['5'] = 5, ['6'] = 6, ['7'] = 7, ['8'] = 8, ['9'] = 9,
    ['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7, ['H'] = 8, ['I'] = 9, ['J'] = 10,
    ['K'] = 2, ['L'] = 3, ['M'] = 4, ['N'] = 5, ['O'] = 6, ['P'] = 7, ['Q'] = 8, ['R'] = 9, ['S'] = 10, ['T'] = 11,
    ['U'] = 3, ['V'] = 4, ['W'] = 5, ['X'] = 6, ['Y'] = 7, ['Z'] = 8, ['*'] = 9, ['@'] = 10, ['#'] = 11
};
static const uint8_t SUM_TWICE[256] = {
    ['0'] = 0, ['1'] = 2, ['2'] = 4, ['3'] = 6, ['4'] = 8, ['5'] = 1, ['6'] = 3, ['7'] = 5, ['8'] = 7, ['9'] = 9,
    ['A'] = 2, ['B'] = 4, ['C'] = 6, ['D'] = 8, ['E'] = 10, ['F'] = 3, ['G'] = 5, ['H'] = 7, ['I'] = 9, ['J'] = 11,
    ['K'] = 4, ['L'] = 6, ['M'] = 8, ['N'] = 10, ['O'] = 12, ['P'] = 5, ['Q'] = 7, ['R'] = 9, ['S'] = 11, ['T'] = 13,
    ['U'] = 6, ['V'] = 8, ['W'] = 10, ['X'] = 12, ['Y'] = 14, ['Z'] = 7, ['*'] = 9, ['@'] = 11, ['#'] = 13
};

static inline int is_digit(uint8_t sign) { return sign >= '0' && sign <= '9'; }

static inline int is_letter(uint8_t sign) { return sign >= 'A' && sign <= 'Z'; }

/* Nine signs whose last is the check digit of the eight before: every second value doubled, digits summed, to the next
   ten. Nine zeros would fit, and are nobody's. */
static inline int cusip_fits(const uint8_t *text)
{
    int total = 0, known = 1, figure = 0;
    for (int at = 0; at < 8; at += 2) {
        known = known && SIGN[text[at]] && SIGN[text[at + 1]];
        figure = figure || text[at] != '0' || text[at + 1] != '0';
        total += SUM_ONCE[text[at]] + SUM_TWICE[text[at + 1]];
    }
    return known && figure && is_digit(text[8]) && (10 - total % 10) % 10 == text[8] - '0';
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
