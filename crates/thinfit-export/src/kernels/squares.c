/* q[k] = sum over the axes of ((x[axis][k] - p[axis]) * inverse)^2 */
static void squares(const int *axes, const double *inverse, int count, const double *p, double x[COLUMNS][BLOCK],
                    double q[BLOCK])
{
    int j, k;
    for (k = 0; k < BLOCK; k++)
        q[k] = 0.0;
    for (j = 0; j < count; j++)
        for (k = 0; k < BLOCK; k++) {
            const double t = (x[axes[j]][k] - p[axes[j]]) * inverse[j];
            q[k] += t * t;
        }
}

/* slope[axis][k] -= factor[k] * (x[axis][k] - p[axis]) * inverse^2 */
static void descend(const int *axes, const double *inverse, int count, const double *p, double x[COLUMNS][BLOCK],
                    const double factor[BLOCK], double slope[COLUMNS][BLOCK])
{
    int j, k;
    for (j = 0; j < count; j++)
        for (k = 0; k < BLOCK; k++)
            slope[axes[j]][k] -= factor[k] * ((x[axes[j]][k] - p[axes[j]]) * inverse[j]) * inverse[j];
}
