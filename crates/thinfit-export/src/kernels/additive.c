
/* value[k] += weight * e_order of the one-dimensional kernels, by e_p = e_p + kappa e_(p-1) for every axis */
static void add_additive(const int *axes, const double *inverse, int count, int order, double weight, const double *p,
                         double x[COLUMNS][BLOCK], double value[BLOCK])
{
    double e[ORDER + 1][BLOCK], kappa[BLOCK];
    int i, j, k;
    for (i = 0; i <= order; i++)
        for (k = 0; k < BLOCK; k++)
            e[i][k] = i == 0 ? 1.0 : 0.0;
    for (j = 0; j < count; j++) {
        for (k = 0; k < BLOCK; k++) {
            const double t = (x[axes[j]][k] - p[axes[j]]) * inverse[j];
            kappa[k] = exponential(-0.5 * t * t);
        }
        for (i = order; i > 0; i--)
            for (k = 0; k < BLOCK; k++)
                e[i][k] += kappa[k] * e[i - 1][k];
    }
    for (k = 0; k < BLOCK; k++)
        value[k] += weight * e[order][k];
}

/* slope[axis][k] += weight * the derivative of e_order, backwards through the same recursion */
static void descend_additive(const int *axes, const double *inverse, int count, int order, double weight,
                             const double *p, double x[COLUMNS][BLOCK], double slope[COLUMNS][BLOCK])
{
    double before[AXES + 1][ORDER + 1] = {{0}}, adjoint[ORDER + 1], kappa[AXES] = {0}, t[AXES] = {0};
    int i, j, k;
    for (k = 0; k < BLOCK; k++) {
        for (i = 0; i <= order; i++) {
            before[0][i] = i == 0 ? 1.0 : 0.0;
            adjoint[i] = i == order ? 1.0 : 0.0;
        }
        for (j = 0; j < count; j++) {
            t[j] = (x[axes[j]][k] - p[axes[j]]) * inverse[j];
            kappa[j] = exponential(-0.5 * t[j] * t[j]);
            before[j + 1][0] = 1.0;
            for (i = 1; i <= order; i++)
                before[j + 1][i] = before[j][i] + kappa[j] * before[j][i - 1];
        }
        for (j = count - 1; j >= 0; j--) {
            double others = 0.0;
            for (i = 1; i <= order; i++) {
                others += adjoint[i] * before[j][i - 1];
                adjoint[i - 1] += kappa[j] * adjoint[i];
            }
            slope[axes[j]][k] -= weight * others * kappa[j] * t[j] * inverse[j];
        }
    }
}
