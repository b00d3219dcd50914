//! The projects that a call covers, by the names and patterns of its arguments.

use std::collections::HashSet;

use docsearch_core::answer::delivery::Notice;
use docsearch_core::query::project_selection::{MAX_SELECTED, is_pattern, select};
use docsearch_core::values::bounds::shown;

use crate::postgres::report::{Result, invalid, undefined};
use crate::postgres::role::Caller;
use crate::tables::project::{self, Project};

/// The arguments `project` and `projects`.
pub(crate) struct Selection<'a>(Option<Vec<&'a str>>);

impl<'a> Selection<'a> {
    /// Checks the arguments; both NULL select all projects.
    pub(crate) fn new(project: Option<&'a str>, projects: Option<&'a [Option<String>]>) -> Result<Self> {
        let several = match (project, projects) {
            (None, None) => return Ok(Self(None)),
            (Some(one), None) => return Ok(Self(Some(vec![one]))),
            (Some(_), Some(_)) => {
                return Err(invalid(
                    "project and projects are both given",
                    "Give all names in projects: projects => '{kit,rpi-*}'.",
                ));
            }
            (None, Some(several)) => several,
        };
        let hint = "Give names or patterns, projects => '{kit,rpi-*}', or omit projects to search all.";
        if several.is_empty() {
            return Err(invalid("projects is empty", hint));
        }
        if several.len() > MAX_SELECTED {
            return Err(invalid(
                format!("projects has {} elements", several.len()),
                format!("Give at most {MAX_SELECTED} names or patterns."),
            ));
        }
        let texts: Option<Vec<&str>> = several.iter().map(Option::as_deref).collect();
        match texts {
            Some(texts) => Ok(Self(Some(texts))),
            None => Err(invalid("projects has an element that is NULL", hint)),
        }
    }

    /// Reads the projects, in the order of their ids. A text that means no visible project is an error.
    pub(crate) fn read(&self, caller: &Caller) -> Result<Vec<Project>> {
        let Some(texts) = &self.0 else {
            return project::selected(caller, None);
        };
        let exact = project::by_names(caller, texts)?;
        let known: HashSet<&str> = exact.iter().map(|project| project.name.as_str()).collect();
        if texts.iter().all(|text| known.contains(text)) {
            return Ok(exact);
        }
        let all = project::selected(caller, None)?;
        let names: Vec<&str> = all.iter().map(|project| project.name.as_str()).collect();
        match select(texts, &names) {
            Ok(places) => {
                let selected = (0..).zip(all).filter(|(place, _)| places.contains(place));
                Ok(selected.map(|(_, project)| project).collect())
            }
            Err(text) => {
                let problem = match is_pattern(text) {
                    true => format!("no project matches \"{}\"", shown(text)),
                    false => format!("project \"{}\" does not exist", shown(text)),
                };
                Err(undefined(problem, project::known_projects(caller, text)?))
            }
        }
    }

    /// The projects that can be searched, with a notice about the others. If none of those that are given can be
    /// searched, that is an error.
    pub(crate) fn searched(&self, caller: &Caller) -> Result<(Vec<Project>, Option<Notice>)> {
        project::searchable(caller, self.read(caller)?, self.0.is_some())
    }

    /// The names of the projects; `None` for all.
    pub(crate) fn names(&self, caller: &Caller) -> Result<Option<Vec<String>>> {
        let Self(None) = self else {
            let projects = self.read(caller)?;
            return Ok(Some(projects.into_iter().map(|project| project.name).collect()));
        };
        Ok(None)
    }
}
