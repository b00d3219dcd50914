//! Host names of a server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A host as in the `Host` header: a name or an address, and optionally a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    name: Name,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Address(IpAddr),
    Domain(String),
}

/// The error for an invalid host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a host such as docs.example.com, docs.example.com:8443 or [::1]")]
pub(crate) struct BadHost;

impl Host {
    /// The names of the local machine.
    pub(super) fn local() -> [Self; 3] {
        [
            Self::named("localhost"),
            Self::of(IpAddr::from(Ipv4Addr::LOCALHOST)),
            Self::of(IpAddr::from(Ipv6Addr::LOCALHOST)),
        ]
    }

    /// An address, with any port.
    pub(super) fn of(address: IpAddr) -> Self {
        Self {
            name: Name::Address(address),
            port: None,
        }
    }

    fn named(name: &str) -> Self {
        Self {
            name: Name::Domain(name.to_owned()),
            port: None,
        }
    }

    /// Whether `self` matches `requested`; without a port, it matches all ports.
    pub(super) fn covers(&self, requested: &Self) -> bool {
        self.name == requested.name && (self.port.is_none() || self.port == requested.port)
    }
}

impl FromStr for Host {
    type Err = BadHost;

    /// Stricter than URLs: no user, no path, and brackets only around IPv6 addresses.
    fn from_str(text: &str) -> Result<Self, BadHost> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']').ok_or(BadHost)?;
                let address: Ipv6Addr = address.parse().map_err(|_| BadHost)?;
                let port = match rest {
                    "" => "",
                    _ => rest.strip_prefix(':').ok_or(BadHost)?,
                };
                (Name::Address(address.into()), port)
            }
            None => {
                let (name, port) = text.split_once(':').unwrap_or((text, ""));
                (Name::parse(name)?, port)
            }
        };
        let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
        Ok(Self {
            name,
            port: match port {
                "" => None,
                _ if is_number => Some(port.parse().map_err(|_| BadHost)?),
                _ => return Err(BadHost),
            },
        })
    }
}

impl Name {
    fn parse(text: &str) -> Result<Self, BadHost> {
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        match text.bytes().all(is_allowed) && !text.is_empty() {
            true => Ok(Self::Domain(text.to_ascii_lowercase())),
            false => Err(BadHost),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        text.parse().unwrap()
    }

    #[test]
    fn a_host_without_a_port_matches_all_ports() {
        assert!(host("Docs.Example.com").covers(&host("docs.example.com:8443")));
        assert!(host("docs.example.com:443").covers(&host("DOCS.example.com:443")));
        assert!(!host("docs.example.com:443").covers(&host("docs.example.com")));
        assert!(!host("docs.example.com:443").covers(&host("docs.example.com:8443")));
        assert!(host("localhost").covers(&host("localhost:")));
    }

    #[test]
    fn an_address_is_the_same_however_it_is_written() {
        assert_eq!(host("[0:0::1]:80"), host("[::1]:80"));
        assert_ne!(host("[::ffff:127.0.0.1]"), host("127.0.0.1"));
        assert_ne!(host("localhost."), host("localhost"));
        assert_ne!(host("2130706433"), host("127.0.0.1"));
    }

    #[test]
    fn invalid_hosts_are_rejected() {
        for text in [
            "",
            ":80",
            "me@localhost",
            "me:pw@localhost",
            "localhost/",
            "localhost:8765/x",
            "[localhost]",
            "[::1",
            "[::1]x",
            "[::1]]",
            "[127.0.0.1]",
            "[::1%lo]",
            "::1",
            "localhost:http",
            "localhost:+80",
            "localhost:99999",
            "localhost:80:80",
            "local host",
            "localhost,evil",
            "http://localhost",
            "löcalhost",
            "*",
        ] {
            assert_eq!(text.parse::<Host>(), Err(BadHost), "{text}");
        }
    }
}
