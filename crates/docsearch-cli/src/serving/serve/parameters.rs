//! Parameters in the address of a request. Some may be repeated.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::Uri;
use axum::http::uri::InvalidUri;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use super::http_error::HttpError;

/// Parses the parameters of a request, and returns the values of those that may be repeated, by these names.
pub(super) fn parsed<T: DeserializeOwned, const N: usize>(
    uri: &Uri,
    repeated: [&str; N],
) -> Result<(T, [Vec<String>; N]), HttpError> {
    let mut lists: [Vec<String>; N] = std::array::from_fn(|_| Vec::new());
    let mut others: Vec<(String, &str)> = Vec::new();
    for parameter in uri.query().unwrap_or_default().split('&') {
        let Some((name, value)) = form_urlencoded::parse(parameter.as_bytes()).next() else {
            continue;
        };
        if let Some(place) = repeated.iter().position(|known| name == *known) {
            lists[place].push(value.into_owned());
        } else if others.iter().any(|(earlier, _)| *earlier == name) {
            let hint = match repeated.is_empty() {
                true => "Give each parameter once.".to_owned(),
                false => format!("Give it once. Only these may be repeated: {}.", repeated.join(", ")),
            };
            return Err(HttpError::bad_request(format!("the parameter {name} is repeated")).hint(hint));
        } else {
            others.push((name.into_owned(), parameter));
        }
    }
    let others: Vec<&str> = others.into_iter().map(|(_, parameter)| parameter).collect();
    let others: Uri = format!("/?{}", others.join("&"))
        .parse()
        .map_err(|error: InvalidUri| HttpError::bad_request(error.to_string()))?;
    let Query(query) = Query::<T>::try_from_uri(&others)?;
    Ok((query, lists))
}

impl From<QueryRejection> for HttpError {
    fn from(rejection: QueryRejection) -> Self {
        let text = rejection.body_text();
        let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
        Self::bad_request(format!("invalid parameters: {reason}")).hint("See /openapi.json for the parameters.")
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Known {
        #[serde(alias = "q")]
        query: Option<String>,
    }

    fn read(query: &str) -> Result<(Known, [Vec<String>; 1]), HttpError> {
        parsed(&format!("/v1/search?{query}").parse().unwrap(), ["project"])
    }

    #[test]
    fn only_lists_may_be_repeated() {
        let (known, [projects]) = read("project=a&q=x%26y&&project=b%20c").unwrap();
        assert_eq!(known.query.as_deref(), Some("x&y"));
        assert_eq!(projects, ["a", "b c"]);
        for refused in [
            "q=a&q=b",
            "q=a&%71=a",
            "q=a&query=b",
            "colour=red",
            "colour=red&colour=blue",
        ] {
            let error = read(refused).unwrap_err();
            assert_eq!(error.status(), StatusCode::BAD_REQUEST, "{refused}");
            assert!(error.hint_text().is_some(), "{refused}");
        }
    }

    proptest! {
        /// Whatever comes, it is read or refused.
        #[test]
        fn any_address_is_read_or_refused(query in "([a-q=&%+0-9]|project=|q=){0,30}") {
            if let Ok(uri) = format!("/?{query}").parse::<Uri>() {
                let found = parsed::<Known, 1>(&uri, ["project"]);
                prop_assert!(found.is_ok() || found.is_err_and(|error| error.status() == StatusCode::BAD_REQUEST));
            }
        }
    }
}
