//! Which IP addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of a non-public address; `None` for a public one.
///
/// An address that contains an IPv4 address has the class of that one.
pub(crate) fn private_class(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => class_v4(address),
        IpAddr::V6(address) => class_v6(address),
    }
}

/// From the IANA registry of special-purpose addresses.
fn class_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [0, ..] => Some("an unspecified address"),
        [127, ..] => Some("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private address"),
        [169, 254, ..] => Some("a link-local address"),
        [100, 64..=127, ..] => Some("a carrier's private address"),
        [224..=239, ..] => Some("a multicast address"),
        [192, 0, 0, _] | [192, 0, 2, _] | [192, 88, 99, _] => Some("a reserved address"),
        [198, 18..=19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => Some("a reserved address"),
        [240..=255, ..] => Some("a reserved address"),
        _ => None,
    }
}

fn class_v6(address: Ipv6Addr) -> Option<&'static str> {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        class_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("an unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        // IPv4-compatible, IPv4-mapped and IPv4-translated.
        [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // NAT64 inside one network.
        [0x64, 0xff9b, 1, ..] => Some("a private address"),
        // 6to4.
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo: the client's address is stored inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            embedded(!high, !low).or_else(|| embedded(server_high, server_low))
        }
        [0xfc00..=0xfdff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xfec0..=0xfeff, ..] => Some("a private address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        [0x100, 0, 0, 0, ..] | [0x2001, 0x2, 0, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Some("a reserved address")
        }
        [0x5f00, ..] => Some("a reserved address"),
        // ISATAP.
        [.., 0 | 0x200, 0x5efe, high, low] => embedded(high, low),
        // Everything outside the allocated unicast block.
        [0x2000..=0x3fff, ..] => None,
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses() {
        let addresses = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1",
            "100::1",
            "2001:0:0a00:0001::",
            "2001:0:808:808:0:0:80ff:fffe",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2002:c0a8:101::1",
            "2a00::5efe:192.168.0.1",
            "3fff::1",
            "4000::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        for address in addresses {
            assert!(private_class(address.parse().unwrap()).is_some(), "{address}");
        }
    }

    #[test]
    fn public_addresses() {
        let addresses = [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
        ];
        for address in addresses {
            assert_eq!(private_class(address.parse().unwrap()), None, "{address}");
        }
    }
}
