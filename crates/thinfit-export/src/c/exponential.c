/* e^t = 2^n (1 + r + r^2 q(r)), t = n ln 2 + r, to 2e-16 relative between e^-708 and e^708, which bound it. Adding
   1.5 * 2^52 rounds to an integer that then stands in the low bits; 1023 more is the exponent's own offset. */
static inline double exponential(double t)
{
    const double whole = 6755399441055744.0 + 1023.0;
    double shifted, n, r, q, power;
    uint64_t bits;
    t = t > 708.0 ? 708.0 : t;
    t = t < -708.0 ? -708.0 : t;
    shifted = t * 1.4426950408889634 + whole;
    n = shifted - whole;
    r = (t - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
    q = 2.5114486938894986e-08;
    q = q * r + 2.762632710689249e-07;
    q = q * r + 2.755722790695252e-06;
    q = q * r + 2.4801504444576502e-05;
    q = q * r + 0.00019841269903088276;
    q = q * r + 0.00138888889323798;
    q = q * r + 0.008333333333314562;
    q = q * r + 0.04166666666657362;
    q = q * r + 0.16666666666666685;
    q = q * r + 0.5000000000000006;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 52;
    memcpy(&power, &bits, sizeof power);
    return (q * (r * r) + r + 1.0) * power;
}
