
static double gaussian(double q) { return exponential(-0.5 * q); }

static double gaussian_slope(double q) { return gaussian(q); }
