//! `robots.txt` (RFC 9309), with the common extension `Crawl-delay`.

use std::time::Duration;

use percent_encoding::percent_decode_str;

/// The name of this program in `robots.txt` files and robots tags.
pub(crate) const AGENT: &str = "pg_docsearch";
/// Longer files are cut here, as the standard allows.
pub(crate) const MAX_BYTES: usize = 500 * 1024;

/// What a site allows this program to fetch.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Robots {
    rules: Vec<PathRule>,
    pub(crate) delay: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PathRule {
    allow: bool,
    pattern: Vec<u8>,
}

/// A group: one or more user-agent lines and the rules that follow.
#[derive(Debug, Default)]
struct AgentGroup {
    robots: Robots,
    named: bool,
    for_all: bool,
}

impl Robots {
    /// Parses a file. Ignores unknown lines and everything beyond [`MAX_BYTES`].
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
        let mut groups: Vec<AgentGroup> = Vec::new();
        let mut in_heading = false;
        for line in text.trim_start_matches('\u{feff}').split(['\r', '\n']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if !in_heading {
                    groups.push(AgentGroup::default());
                }
                in_heading = true;
                if let Some(group) = groups.last_mut() {
                    group.for_all |= value == "*";
                    group.named |= product(value).eq_ignore_ascii_case(AGENT);
                }
                continue;
            }
            let Some(group) = groups.last_mut() else {
                continue;
            };
            match key.as_str() {
                "allow" | "disallow" => {
                    in_heading = false;
                    // An empty rule matches nothing.
                    if !value.is_empty() {
                        group.robots.rules.push(PathRule {
                            allow: key == "allow",
                            pattern: normalize(value),
                        });
                    }
                }
                "crawl-delay" => {
                    in_heading = false;
                    let delay = value.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
                    group.robots.delay = delay.max(group.robots.delay);
                }
                // Sitemap lines do not end a group.
                _ => {}
            }
        }
        let named = groups.iter().any(|group| group.named);
        let mut robots = Self::default();
        for group in groups {
            if if named { group.named } else { group.for_all } {
                robots.rules.extend(group.robots.rules);
                robots.delay = robots.delay.max(group.robots.delay);
            }
        }
        robots
    }

    /// Whether `path`, with its query string, may be fetched. The longest matching rule decides.
    pub(crate) fn allows(&self, path: &str) -> bool {
        let path = normalize(path);
        self.rules
            .iter()
            .filter(|rule| rule.matches(&path))
            .max_by_key(|rule| (rule.pattern.len(), rule.allow))
            .is_none_or(|rule| rule.allow)
    }
}

impl PathRule {
    /// `*` matches any characters, and a final `$` the end of the path. Each part between is matched at its first
    /// position, which takes linear time for each part.
    fn matches(&self, path: &[u8]) -> bool {
        let (pattern, anchored) = match self.pattern.strip_suffix(b"$") {
            Some(pattern) => (pattern, true),
            None => (self.pattern.as_slice(), false),
        };
        let mut parts = pattern.split(|&byte| byte == b'*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else {
            return false;
        };
        let mut parts = parts.peekable();
        if anchored && parts.peek().is_none() {
            return rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if anchored && parts.peek().is_none() {
                return rest.ends_with(part);
            }
            match find(rest, part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

/// The product name in `pg_docsearch/1.0 (bot)`.
fn product(agent: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '-';
    let end = agent.find(|c| !is_name(c)).unwrap_or(agent.len());
    &agent[..end]
}

/// Decodes a path, so that `/%7Ejoe` and `/~joe` are equal. Characters with a meaning in paths or patterns stay
/// encoded.
fn normalize(path: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let code = rest
            .as_bytes()
            .get(at..at + 3)
            .and_then(|code| std::str::from_utf8(code).ok());
        match code
            .map(|code| percent_decode_str(code).collect::<Vec<u8>>())
            .as_deref()
        {
            Some(&[byte]) if !matches!(byte, b'/' | b'?' | b'%' | b'*' | b'$' | b'#') => {
                bytes.push(byte);
                rest = &rest[at + 3..];
            }
            Some(&[byte]) => {
                bytes.extend_from_slice(format!("%{byte:02X}").as_bytes());
                rest = &rest[at + 3..];
            }
            _ => {
                bytes.push(b'%');
                rest = &rest[at + 1..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(robots: &str, path: &str) -> bool {
        Robots::parse(robots.as_bytes()).allows(path)
    }

    #[test]
    fn the_longest_rule_decides_and_a_tie_allows() {
        let robots = "User-agent: *\nDisallow: /docs\nAllow: /docs/guide\nDisallow: /docs/guide/old\n\
                      Disallow: /both\nAllow: /both\n";
        assert!(allows(robots, "/"));
        assert!(!allows(robots, "/docs/x"));
        assert!(allows(robots, "/docs/guide/x"));
        assert!(!allows(robots, "/docs/guide/old.html"));
        assert!(allows(robots, "/both"));
    }

    #[test]
    fn the_group_of_this_program_goes_before_the_one_for_all() {
        let robots = "User-agent: *\nDisallow: /\n\nuser-agent: Other\nUSER-AGENT: PG_docsearch/2.0 # it\n\
                      Disallow: /private\n\nUser-agent: pg_docsearch\nDisallow: /more";
        assert!(allows(robots, "/guide"));
        assert!(!allows(robots, "/private/x"));
        assert!(!allows(robots, "/more"));
        assert!(!allows("User-agent: *\nDisallow: /", "/guide"));
        assert!(allows("User-agent: pg_docsearch_other\nDisallow: /", "/guide"));
        assert!(allows("Disallow: /", "/guide"));
    }

    #[test]
    fn stars_and_ends() {
        let robots = "User-agent: *\nDisallow: /*.pdf$\nDisallow: /a*b*c\nDisallow: /end$\nDisallow: /x*$";
        for (path, allowed) in [
            ("/f.pdf", false),
            ("/f.pdf.html", true),
            ("/f.pdf?x.pdf", false),
            ("/a-b-c-d", false),
            ("/a-c-b", true),
            ("/end", false),
            ("/end/", true),
            ("/xyz", false),
        ] {
            assert_eq!(allows(robots, path), allowed, "{path}");
        }
        let stars = format!("User-agent: *\nDisallow: /{}b", "a*".repeat(2_000));
        assert!(allows(&stars, &format!("/{}", "a".repeat(10_000))));
    }

    #[test]
    fn paths_match_however_they_are_encoded() {
        let robots = "User-agent: *\nDisallow: /%7Ejoe\nDisallow: /caf\u{e9}\nDisallow: /a%2fb\nDisallow: /100%";
        assert!(!allows(robots, "/~joe/x"));
        assert!(!allows(robots, "/caf%C3%A9"));
        assert!(!allows(robots, "/a%2Fb"));
        assert!(allows(robots, "/a/b"));
        assert!(!allows(robots, "/100%\u{e9}"));
    }

    #[test]
    fn an_empty_rule_forbids_nothing_and_sitemaps_end_no_group() {
        assert!(allows("User-agent: *\nDisallow:\n", "/x"));
        let robots = "User-agent: *\r\nSitemap: https://x/s.xml\r\nDisallow: /x\r\n";
        assert!(!allows(robots, "/x"));
    }

    #[test]
    fn the_delay_belongs_to_its_group() {
        let delay = |text: &str| Robots::parse(text.as_bytes()).delay;
        assert_eq!(
            delay("User-agent: *\nCrawl-delay: 1.5"),
            Some(Duration::from_millis(1500))
        );
        assert_eq!(delay("User-agent: other\nCrawl-delay: 9"), None);
        assert_eq!(delay("User-agent: *\nCrawl-delay: -1"), None);
        assert_eq!(delay("User-agent: *\nCrawl-delay: inf"), None);
    }

    #[test]
    fn text_beyond_the_limit_is_ignored() {
        let long = format!("User-agent: *\n#{}\nDisallow: /", "x".repeat(MAX_BYTES));
        assert!(allows(&long, "/x"));
    }
}
