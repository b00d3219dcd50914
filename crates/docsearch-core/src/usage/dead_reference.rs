//! References that lead nowhere.

/// The reference that a call asked for by project, slug or reference, and section.
pub fn whole_reference(project: Option<&str>, reference: &str, section: Option<&str>) -> String {
    let is_prefixed = |name: &str| reference.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    let mut whole = match project {
        Some(name) if !is_prefixed(name) => format!("{name}/{reference}"),
        _ => reference.to_owned(),
    };
    if let Some(section) = section {
        whole.push('#');
        whole.push_str(section);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_all_that_was_asked_for() {
        assert_eq!(whole_reference(None, "kit/guides/install", None), "kit/guides/install");
        assert_eq!(
            whole_reference(Some("kit"), "install", Some("linux")),
            "kit/install#linux"
        );
        assert_eq!(whole_reference(Some("kit"), "kit/install", None), "kit/install");
        assert_eq!(whole_reference(Some("kit"), "kitchen", None), "kit/kitchen");
    }
}
