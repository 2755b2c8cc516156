
/* The square root of v >= 0 by Newton's method for 1/sqrt(v), from a guess that halves the exponent. */
static double root(double v)
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

/* (1 + r + r^2 / 3) e^-r with r^2 = 5 q, zero beyond r = 1000 */
static double matern(double q)
{
    const double square = 5.0 * q < 1e6 ? 5.0 * q : 1e6, r = root(square);
    return (1.0 + r + square / 3.0) * exponential(-r);
}

/* -2 times its derivative in q */
static double matern_slope(double q)
{
    const double square = 5.0 * q < 1e6 ? 5.0 * q : 1e6, r = root(square);
    return 5.0 / 3.0 * (1.0 + r) * exponential(-r);
}
