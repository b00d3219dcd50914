//! Products with codes by multiplying bytes, which takes less than a third of the time of counting bits.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi16,
    _mm256_add_epi32, _mm256_and_si256, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi8, _mm256_setr_epi16, _mm256_setzero_si256,
    _mm256_slli_epi32, _mm256_srli_epi16, _mm256_zextsi128_si256,
};

use docsearch_core::index::vector_code::{ByteWeights, CodeQuery, Codes, NearestCodes};

/// Groups of 32 bytes whose sums fit into 16 bits: each adds up to 2 · 2 · 8 · 127.
const GROUPS: usize = 8;

/// As [`NearestCodes::compare`].
#[target_feature(enable = "avx2")]
pub(super) fn compare(best: &mut NearestCodes, query: &CodeQuery, project: i64, codes: &Codes<'_>) {
    best.compare_by(query, project, codes, |planes| product(query.weights(), planes));
}

/// [`CodeQuery::product`]. The bits of a byte stay at their places, the upper four moved to the lower, and their sums are
/// shifted in the end.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn product(weights: &[ByteWeights], planes: &[u8]) -> i32 {
    // High bits count twice.
    let of_plane = _mm256_setr_epi16(2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1);
    let mut total = _mm256_setzero_si256();
    let mut rest = planes;
    for weights in weights.chunks(GROUPS) {
        let (mut first, mut second) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let (mut third, mut fourth) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for weights in weights {
            let bytes;
            (bytes, rest) = load_planes(rest);
            let moved = _mm256_srli_epi16::<4>(bytes);
            first = _mm256_add_epi16(first, products::<1>(bytes, &weights[0], moved, &weights[4]));
            second = _mm256_add_epi16(second, products::<2>(bytes, &weights[1], moved, &weights[5]));
            third = _mm256_add_epi16(third, products::<4>(bytes, &weights[2], moved, &weights[6]));
            fourth = _mm256_add_epi16(fourth, products::<8>(bytes, &weights[3], moved, &weights[7]));
        }
        let first = _mm256_slli_epi32::<3>(_mm256_madd_epi16(first, of_plane));
        let second = _mm256_slli_epi32::<2>(_mm256_madd_epi16(second, of_plane));
        let third = _mm256_slli_epi32::<1>(_mm256_madd_epi16(third, of_plane));
        let fourth = _mm256_madd_epi16(fourth, of_plane);
        let (upper, lower) = (_mm256_add_epi32(first, second), _mm256_add_epi32(third, fourth));
        total = _mm256_add_epi32(total, _mm256_add_epi32(upper, lower));
    }
    let sum = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256::<1>(total));
    let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b01_00_11_10>(sum));
    let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b10_11_00_01>(sum));
    _mm_cvtsi128_si32(sum) >> 3
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[i8; 32]) -> __m256i {
    // SAFETY: reads the 32 bytes, at any address.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast::<__m256i>()) }
}

/// The next 32 bytes, or the last 16 with nothing after them, and the rest.
#[inline]
#[target_feature(enable = "avx2")]
fn load_planes(bytes: &[u8]) -> (__m256i, &[u8]) {
    if let Some((whole, rest)) = bytes.split_first_chunk::<32>() {
        // SAFETY: reads the 32 bytes, at any address.
        return (unsafe { _mm256_loadu_si256(whole.as_ptr().cast::<__m256i>()) }, rest);
    }
    match bytes.first_chunk::<16>() {
        // SAFETY: reads the 16 bytes, at any address.
        Some(half) => (
            _mm256_zextsi128_si256(unsafe { _mm_loadu_si128(half.as_ptr().cast::<__m128i>()) }),
            &[],
        ),
        None => (_mm256_setzero_si256(), &[]),
    }
}

/// Products of one bit of the lower and of the upper half of each byte, the upper half `moved`.
#[inline]
#[target_feature(enable = "avx2")]
fn products<const BIT: i8>(bytes: __m256i, weights: &[i8; 32], moved: __m256i, of_moved: &[i8; 32]) -> __m256i {
    let mask = _mm256_set1_epi8(BIT);
    let lower = _mm256_maddubs_epi16(_mm256_and_si256(bytes, mask), load(weights));
    let upper = _mm256_maddubs_epi16(_mm256_and_si256(moved, mask), load(of_moved));
    _mm256_add_epi16(lower, upper)
}
