// SPDX-License-Identifier: MIT OR Apache-2.0
// The largest element of a row that comes after a given one, by value descending and index ascending: one step of a top-k.
shared uint pick_key[LANES];
shared uint pick_index[LANES];

// Larger floats have larger keys; NaN is the largest, and the zeros are one.
uint key_of(float v) {
    const uint bits = floatBitsToUint(v);
    if (lb_isnan(v)) return 0xffffffffu;
    if ((bits & 0x7fffffffu) == 0) return 0x80000000u;
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

bool comes_before(uint key, uint index, uint other_key, uint other_index) {
    return key > other_key || (key == other_key && index < other_index);
}

// Of the invocations' (key, index), the first in that order; all of them get it.
uvec2 group_first(uint lane, uint key, uint index) {
    barrier();
    pick_key[lane] = key;
    pick_index[lane] = index;
    for (uint step = LANES / 2; step > 0; step >>= 1) {
        barrier();
        if (lane < step && comes_before(pick_key[lane + step], pick_index[lane + step], pick_key[lane], pick_index[lane])) {
            pick_key[lane] = pick_key[lane + step];
            pick_index[lane] = pick_index[lane + step];
        }
    }
    barrier();
    return uvec2(pick_key[0], pick_index[0]);
}

const uint NONE = 0xffffffffu; // the index of no element

// The first of row `from` … `from + count` that comes after `last`; a last.y of NONE: the first of all.
#define PICK_NEXT(port, from, count, last, next)                                                         \
    {                                                                                                    \
        uint best_key = 0, best = NONE;                                                                  \
        for (uint i_ = lane; i_ < uint(count); i_ += LANES) {                                            \
            const uint key_ = key_of(T_LOAD(port, uint(from) + i_));                                     \
            const bool later = last.y == NONE || comes_before(last.x, last.y, key_, i_);                 \
            if (later && (best == NONE || comes_before(key_, i_, best_key, best))) {                     \
                best_key = key_;                                                                         \
                best = i_;                                                                               \
            }                                                                                            \
        }                                                                                                \
        next = group_first(lane, best_key, best);                                                        \
    }
