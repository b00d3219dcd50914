//! From bytes to text: what is compressed, packed or in another encoding.

pub(crate) mod compression;
pub(crate) mod encoding;
pub(crate) mod package;
pub(crate) mod xml;
