//! Products with codes by counting the bits of eight words at once.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_sub_epi64, _mm512_popcnt_epi64,
    _mm512_reduce_add_epi64, _mm512_set1_epi64, _mm512_setr_epi64, _mm512_setzero_si512, _mm512_sllv_epi64,
};

use docsearch_core::index::vector_code::{BitPlanes, CodeQuery, Codes, NearestCodes};

/// The sign of a component, in two's complement.
const SIGN: u8 = 1 << 7;

/// As [`NearestCodes::compare`].
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn compare(best: &mut NearestCodes, query: &CodeQuery, project: i64, codes: &Codes<'_>) {
    best.compare_by(query, project, codes, |planes| product(query.planes(), planes));
}

/// [`CodeQuery::product`].
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn product(query: &[BitPlanes], planes: &[u8]) -> i32 {
    let (mut highs, mut lows) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let (planes, _) = planes.as_chunks::<16>();
    let words = planes.len().min(query.len());
    let (planes, query) = (&planes[..words], &query[..words]);
    for word in 0..words {
        let code = u128::from_le_bytes(planes[word]);
        let query = load(&query[word]);
        highs = _mm512_add_epi64(highs, common_bits(query, code as i64));
        lows = _mm512_add_epi64(lows, common_bits(query, (code >> 64) as i64));
    }
    let counts = _mm512_add_epi64(_mm512_add_epi64(highs, highs), lows);
    let weighted = _mm512_sllv_epi64(counts, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    let signed = _mm512_mask_sub_epi64(weighted, SIGN, _mm512_setzero_si512(), weighted);
    _mm512_reduce_add_epi64(signed) as i32
}

#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn common_bits(query: __m512i, word: i64) -> __m512i {
    _mm512_popcnt_epi64(_mm512_and_si512(query, _mm512_set1_epi64(word)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(planes: &BitPlanes) -> __m512i {
    // SAFETY: reads the eight words, at any address.
    unsafe { _mm512_loadu_si512(planes.as_ptr().cast::<__m512i>()) }
}
