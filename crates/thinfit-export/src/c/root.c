/* The square root of v >= 0 by Newton's method for 1/sqrt(v), from a guess that halves the exponent. */
static inline double root(double v)
{
    double y, r;
    uint64_t bits;
    int step;
    memcpy(&bits, &v, sizeof bits);
    bits = UINT64_C(0x5fe6eb50c7b537a9) - (bits >> 1);
    memcpy(&y, &bits, sizeof y);
    for (step = 0; step < 4; step++)
        y = y * (1.5 - 0.5 * v * y * y);
    r = v * y;
    return r + 0.5 * y * (v - r * r);
}
