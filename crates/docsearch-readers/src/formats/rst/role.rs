//! What roles show. The names are those of docutils, Sphinx and its extensions.

use super::directive::vocabulary::is_domain;

/// Roles whose content is prose, also if it is one word.
const PROSE: &str = "ref doc term any numref abbr abbreviation sup sub superscript subscript menuselection guilabel kbd \
     title title-reference t emphasis strong dfn download eq index cite footcite citation newsgroup";

/// Roles whose content is code, also if it has several words. So is that of all roles of a domain; that of other roles
/// is code if it is one word.
const CODE: &str = "code literal command option program samp file math token envvar keyword regexp expr mailheader";

/// Other roles that are known.
const OTHERS: &str = "raw pep pep-reference rfc rfc-reference ticket cve cwe commit manpage makevar mimetype mod func data \
     const class meth attr exc obj deco type macro member var enum enumerator struct union texpr namespace confval \
     setting ttag tfilter lookup djadmin opcode pdbcmd event dir role source issue gh pr pypi user git sub-ref";

pub(super) fn is_prose(role: &str) -> bool {
    contains(PROSE, role)
}

pub(super) fn is_code(role: &str) -> bool {
    contains(CODE, role)
}

/// Whether a role, with its domain, is a row or one of a known domain.
pub(super) fn is_known(name: &str) -> bool {
    match name.split_once(':') {
        Some((domain, _)) => is_domain(domain),
        None => [PROSE, CODE, OTHERS].iter().any(|roles| contains(roles, name)),
    }
}

fn contains(roles: &str, name: &str) -> bool {
    roles.split(' ').any(|role| role == name)
}
