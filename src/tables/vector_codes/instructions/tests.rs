//! Every way to compare computes the same products.

#[pgrx::pg_schema]
mod tests {
    use docsearch_core::index::vector_code::CodeQuery;
    use pgrx::prelude::*;

    #[pg_test]
    fn a_product_does_not_depend_on_the_processor() {
        use std::arch::is_x86_feature_detected;

        use crate::tables::vector_codes::instructions::{avx2, avx512};
        let has_avx2 = is_x86_feature_detected!("avx2");
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq");
        for dimension in [1, 8, 63, 64, 65, 128, 192, 384, 1000, 1024, 1088, 2000, 16_000] {
            let words = usize::div_ceil(dimension, 64);
            // The greatest sums, and some between.
            let value = |place: usize| (place * 37 % 255) as f32 - 127.0;
            let values: [&dyn Fn(usize) -> f32; 3] = [&|_| 127.0, &|_| -127.0, &value];
            let byte = |place: usize| (place * 101 % 256) as u8;
            let bytes: [&dyn Fn(usize) -> u8; 3] = [&|_| 0xff, &|_| 0, &byte];
            for (value, byte) in values.into_iter().flat_map(|value| bytes.map(|byte| (value, byte))) {
                let query: Vec<f32> = (0..dimension).map(value).collect();
                let query = CodeQuery::new(&query);
                let planes: Vec<u8> = (0..16 * words).map(byte).collect();
                let product = query.product(&planes);
                if has_avx2 {
                    // SAFETY: the processor has the instructions.
                    let multiplied = unsafe { avx2::product(query.weights(), &planes) };
                    assert_eq!(multiplied, product, "{dimension}");
                }
                if has_avx512 {
                    // SAFETY: the processor has the instructions.
                    let counted = unsafe { avx512::product(query.planes(), &planes) };
                    assert_eq!(counted, product, "{dimension}");
                }
            }
        }
    }
}
