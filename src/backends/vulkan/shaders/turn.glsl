// SPDX-License-Identifier: MIT OR Apache-2.0
// The angle of a rotary embedding and its sine and cosine.

// theta^-share for theta >= 1, 0 <= share <= 1, within 2 ULP: log2 theta = e + log2 m, its fraction as the sum of two floats, because
// an error in the exponent's last place is multiplied by the position.
float inverse_power(float theta, float share) {
    const uint bits = floatBitsToUint(theta);
    float e = float(int(bits >> 23) - 127);
    float m = uintBitsToFloat((bits & 0x007fffffu) | 0x3f800000u);
    if (m > 1.41421354) {
        m *= 0.5;
        e += 1.0;
    }
    // log m = 2 atanh(s), s = (m - 1) / (m + 1) = s1 + s2
    precise float num = m - 1.0, den = m + 1.0;
    precise float s1 = num / den;
    precise float h = uintBitsToFloat(floatBitsToUint(s1) & 0xfffff000u), l = s1 - h;
    precise float dh = uintBitsToFloat(floatBitsToUint(den) & 0xfffff000u), dl = (m - dh) + 1.0;
    precise float left = num - h * dh;
    left = left - h * dl;
    left = left - l * dh;
    left = left - l * dl;
    precise float s2 = left / den;
    precise float z = s1 * s1;
    precise float series = z * s1 * (0.333333333 + z * (0.2 + z * (0.142857143 + z * (0.111111111 + z * 0.0909090909))));
    // exponent of e: share (e log 2 + 2 s1 + 2 (s2 + series)), each product split so that what is large is exact
    precise float sh = uintBitsToFloat(floatBitsToUint(share) & 0xffffc000u), sl = share - sh;
    precise float low = 2.0 * (s2 + series);
    precise float lead = e * 0.693359375; // 9 bits of log 2
    low = low - e * 2.12194440e-4;
    precise float h2 = uintBitsToFloat(floatBitsToUint(2.0 * s1) & 0xffffc000u), l2 = 2.0 * s1 - h2;
    precise float big = sh * lead, mid = sh * h2;
    precise float total = big + mid;
    precise float back = total - big;
    precise float lost = (big - (total - back)) + (mid - back);
    precise float small_part = lost + sl * (lead + h2) + share * (l2 + low);
    // exp(-(total + small)) = exp(-n log 2 - r)
    precise float n = roundEven((total + small_part) * 1.44269504);
    precise float r = total - n * 0.693359375;
    r = r + (small_part + n * 2.12194440e-4);
    precise float tail = 0.00833331002 - r * (0.00139345419 - r * 0.00019891981);
    tail = 0.0416664568 - r * tail;
    tail = 0.166666667 - r * tail;
    tail = 0.5 - r * tail;
    precise float value = 1.0 + (r * r * tail - r);
    return value * uintBitsToFloat(uint(127 - int(n)) << 23);
}

// Sine and cosine of |x| < 2^16 within about 1.5e-7: pi/2 in three parts, of which the first two have 8 and 11 bits.
vec2 sine_cosine(float x) {
    const float n = roundEven(x * 0.636619772);
    precise float r = x - n * 1.5703125;
    r = r - n * 4.8375129699707031e-4;
    r = r - n * 7.5497899548918821e-8;
    const float z = r * r;
    precise float s = r + r * z * (-0.166666667 + z * (0.00833333333 + z * (-0.000198412698 + z * 2.7557319e-6)));
    precise float c = 1.0 + z * (-0.5 + z * (0.0416666667 + z * (-0.00138888889 + z * (2.48015873e-5 - z * 2.7557319e-7))));
    const int quadrant = int(n) & 3;
    const float sine = (quadrant & 1) == 0 ? s : c, cosine = (quadrant & 1) == 0 ? c : s;
    return vec2(quadrant >= 2 ? -sine : sine, quadrant == 1 || quadrant == 2 ? -cosine : cosine);
}
