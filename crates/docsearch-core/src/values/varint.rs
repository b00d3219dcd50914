//! Numbers of one to five bytes, LEB128.

/// Appends a number.
pub(crate) fn write(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front; `None` if it is incomplete or too large.
#[inline]
pub(crate) fn read(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut number = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let (&next, rest) = bytes.split_first()?;
        *bytes = rest;
        if shift == 28 && next > 0x0f {
            return None;
        }
        number |= u32::from(next & 0x7f) << shift;
        if next < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Skips `count` numbers: each ends with a byte below 0x80. It skips eight bytes at a time while these end fewer
/// numbers than are left.
pub(crate) fn skip(bytes: &mut &[u8], mut count: usize) {
    while let Some((eight, rest)) = bytes.split_first_chunk::<8>() {
        let ends = (!u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080).count_ones() as usize;
        if ends >= count {
            break;
        }
        count -= ends;
        *bytes = rest;
    }
    let mut length = 0;
    while count > 0 {
        let Some(&byte) = bytes.get(length) else { break };
        length += 1;
        count -= usize::from(byte < 0x80);
    }
    *bytes = &bytes[length..];
}

/// Takes a length, and that number of bytes, from the front.
pub(crate) fn read_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(read(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// Appends the number of bytes, and the bytes.
pub(crate) fn write_bytes(bytes: &mut Vec<u8>, of: &[u8]) {
    write(bytes, u32::try_from(of.len()).unwrap_or(u32::MAX));
    bytes.extend_from_slice(of);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in proptest::collection::vec(any::<u32>(), 0..20)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|&number| write(&mut bytes, number));
            let mut rest = bytes.as_slice();
            let read: Vec<u32> = std::iter::from_fn(|| super::read(&mut rest)).collect();
            prop_assert_eq!(&read, &numbers);
            let mut rest = bytes.as_slice();
            skip(&mut rest, numbers.len() / 2);
            prop_assert_eq!(super::read(&mut rest), numbers.get(numbers.len() / 2).copied());
            let mut rest = bytes.as_slice();
            skip(&mut rest, numbers.len());
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn broken_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            let mut rest = bytes.as_slice();
            while read(&mut rest).is_some() {}
            let mut rest = bytes.as_slice();
            while read_bytes(&mut rest).is_some() {}
            skip(&mut bytes.as_slice(), 30);
        }
    }
}
