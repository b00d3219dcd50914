//! What the processor can do for inference.

/// The instructions of the processor that matter most for the time of an embedding, such as `AVX2`: ONNX Runtime chooses
/// its code by them. `None` on other architectures than x86-64.
pub fn instructions() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        Some(if has_avx512 && is_x86_feature_detected!("avx512vnni") {
            "AVX-512 with VNNI"
        } else if is_x86_feature_detected!("avxvnni") {
            "AVX2 with VNNI"
        } else if has_avx512 {
            "AVX-512"
        } else if is_x86_feature_detected!("avx2") {
            "AVX2"
        } else {
            "no AVX2"
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}
