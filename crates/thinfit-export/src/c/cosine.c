/* cos(2 pi t) = 1 - s^2 with s = sqrt(2) sin(pi r), where r is t less its nearest integer, to 2e-15 for |t| < 2^51:
   adding and subtracting 1.5 * 2^52 rounds to an integer. */
static inline double cosine(double t)
{
    const double whole = 6755399441055744.0;
    const double r = t - ((t + whole) - whole);
    const double u = r * r;
    double s = 1.088198744369485e-06;
    s = s * u - 3.097578185549353e-05;
    s = s * u + 0.0006594473439862868;
    s = s * u - 0.01042336274359363;
    s = s * u + 0.11617182688030422;
    s = s * u - 0.8474880248116888;
    s = s * u + 3.6064765714706315;
    s = s * u - 7.308249499995438;
    s = s * u + 4.442882938158366;
    s = s * r;
    return 1.0 - s * s;
}
