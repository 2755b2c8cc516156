
/* the distance from edge e, in its units */
static double across(int e, double x[COLUMNS][BLOCK], size_t k)
{
    double t = edges[e][0];
    int j;
    for (j = 0; j < INPUTS; j++)
        t += edges[e][1 + j] * x[j][k];
    return t;
}

/* the input that is derived from edge e: a jump, or a bend */
static double edge(int e, double x[COLUMNS][BLOCK], size_t k)
{
    double t = across(e, x, k);
    if (bends[e])
        return t > 0.0 ? t : 0.0;
    t = t > 1.0 ? 1.0 : t < -1.0 ? -1.0 : t;
    return 0.25 * t * (3.0 - t * t);
}

static double edge_slope(int e, double x[COLUMNS][BLOCK], size_t k)
{
    const double t = across(e, x, k);
    if (bends[e])
        return t > 0.0 ? 1.0 : 0.0;
    return t > 1.0 || t < -1.0 ? 0.0 : 0.75 * (1.0 - t * t);
}
