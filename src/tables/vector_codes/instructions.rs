//! Compares codes, with wider instructions of the processor where it has them.

use docsearch_core::index::vector_code::{CodeQuery, Codes, NearestCodes};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Compares the codes of a row with a query.
pub(super) fn compare(best: &mut NearestCodes, query: &CodeQuery, project: i64, codes: &Codes<'_>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vpopcntdq") {
        // SAFETY: the processor has the instructions.
        unsafe { avx512::compare(best, query, project, codes) };
        return;
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        unsafe { avx2::compare(best, query, project, codes) };
        return;
    }
    best.compare(query, project, codes);
}

#[cfg(all(feature = "pg_test", target_arch = "x86_64"))]
mod tests;
