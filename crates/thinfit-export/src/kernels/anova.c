
/* value[k] += weight * the product over the axes of 1 - share + share * kappa */
static void add_anova(double (*kappa)(double), const int *axes, const double *inverse, int count, const double *shares,
                      double weight, const double *p, double x[COLUMNS][BLOCK], double value[BLOCK])
{
    double product[BLOCK];
    int j, k;
    for (k = 0; k < BLOCK; k++)
        product[k] = weight;
    for (j = 0; j < count; j++)
        for (k = 0; k < BLOCK; k++) {
            const double t = (x[axes[j]][k] - p[axes[j]]) * inverse[j];
            product[k] *= 1.0 - shares[j] + shares[j] * kappa(t * t);
        }
    for (k = 0; k < BLOCK; k++)
        value[k] += product[k];
}

/* slope[axis][k] += weight * the derivative of the product: the factors before the axis, its own, and those after */
static void descend_anova(double (*kappa)(double), double (*kappa_slope)(double), const int *axes,
                          const double *inverse, int count, const double *shares, double weight, const double *p,
                          double x[COLUMNS][BLOCK], double slope[COLUMNS][BLOCK])
{
    double before[AXES + 1] = {0}, factor[AXES] = {0}, t[AXES] = {0}, after;
    int j, k;
    for (k = 0; k < BLOCK; k++) {
        before[0] = 1.0;
        for (j = 0; j < count; j++) {
            t[j] = (x[axes[j]][k] - p[axes[j]]) * inverse[j];
            factor[j] = 1.0 - shares[j] + shares[j] * kappa(t[j] * t[j]);
            before[j + 1] = before[j] * factor[j];
        }
        after = weight;
        for (j = count - 1; j >= 0; j--) {
            slope[axes[j]][k] -= before[j] * after * shares[j] * kappa_slope(t[j] * t[j]) * t[j] * inverse[j];
            after *= factor[j];
        }
    }
}
