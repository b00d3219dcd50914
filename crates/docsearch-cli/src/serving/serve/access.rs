//! Who may send requests, and as which role: the tokens, which may change while the server runs.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::interval;

use super::http_error::HttpError;
use super::request_id::RequestId;
use super::sender;
use super::tokens::{self, BearerToken};
use crate::connection::ConnectionTarget;
use crate::library::{Audience, Library, LogOrigin, LogSource, SearchObserver};
use crate::process::background_log;
use crate::process::error::Error;
use crate::serving::session::SessionArgs;
use crate::terminal::sanitize_line;

/// How often the file of tokens is looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Where tokens come from.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenSource {
    pub(super) file: Option<PathBuf>,
    /// A token from the environment.
    pub(super) variable: Option<String>,
}

/// Who sent a request, for the log of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// The role that runs its statements; `None` for the user of the connection.
    pub(super) role: Option<Arc<str>>,
    /// Where its token is; `None` without a token.
    pub(super) token: Option<Arc<str>>,
}

/// A sender with a valid token, or one that needs none.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) library: Library,
    identity: Identity,
}

struct Known {
    token: BearerToken,
    caller: Caller,
}

/// The tokens that are valid now.
pub(super) struct Access {
    known: RwLock<Arc<[Known]>>,
    /// For requests without a token, if they are allowed.
    anonymous: Option<Caller>,
    source: TokenSource,
    libraries: Mutex<RoleLibraries>,
}

impl Access {
    /// Reads the tokens. Without any, requests need none.
    pub(super) fn open(
        source: TokenSource,
        allow_anonymous: bool,
        session: &SessionArgs,
        target: &ConnectionTarget,
        observer: Option<Arc<dyn SearchObserver>>,
    ) -> Result<Self, Error> {
        let mut libraries = RoleLibraries {
            session: session.clone(),
            target: target.clone(),
            observer,
            libraries: HashMap::new(),
        };
        let known = libraries.known(&source)?;
        let anonymous = match known.is_empty() || allow_anonymous {
            true => Some(libraries.caller(None, None)?),
            false => None,
        };
        Ok(Self {
            known: RwLock::new(known),
            anonymous,
            source,
            libraries: Mutex::new(libraries),
        })
    }

    pub(super) fn has_tokens(&self) -> bool {
        !self.known().is_empty()
    }

    fn known(&self) -> Arc<[Known]> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The sender of a request.
    pub(super) fn caller(&self, headers: &HeaderMap) -> Result<Caller, HttpError> {
        let refused = |message| HttpError::new(StatusCode::UNAUTHORIZED, message);
        let mut sent = headers.get_all(AUTHORIZATION).iter();
        let token = match (sent.next(), sent.next()) {
            (Some(_), Some(_)) => return Err(refused("more than one Authorization header")),
            (value, _) => value.and_then(bearer_token),
        };
        let Some(token) = token else {
            let anonymous = self.anonymous.clone();
            return anonymous.ok_or_else(|| refused("a bearer token is required"));
        };
        // A client with an unknown or revoked token must not be treated as anonymous.
        let known = self.known();
        tokens::position(known.iter().map(|known| &known.token), &token)
            .map(|at| known[at].caller.clone())
            .ok_or_else(|| refused("unknown token"))
    }

    /// The library of the role of the program.
    pub(super) fn own_library(&self) -> Result<Library, Error> {
        self.libraries.lock().unwrap_or_else(PoisonError::into_inner).of(None)
    }

    /// Reads the tokens again. If that fails, those before stay valid. Returns their number.
    fn read_again(&self) -> Result<usize, Error> {
        let mut libraries = self.libraries.lock().unwrap_or_else(PoisonError::into_inner);
        let known = libraries.known(&self.source)?;
        let count = known.len();
        let roles: HashSet<Option<&str>> = known.iter().map(|known| known.token.role.as_deref()).collect();
        libraries.keep(&roles);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(count)
    }

    /// Reads the tokens again after each change of their file, and at each SIGHUP.
    pub(super) fn follow_file(self: &Arc<Self>) -> Result<(), Error> {
        let Some(file) = self.source.file.clone() else {
            return Ok(());
        };
        let mut hangup = signal(SignalKind::hangup()).map_err(Error::file("signals"))?;
        let access = Arc::clone(self);
        let mut last = FileState::of(&file);
        tokio::spawn(async move {
            let mut clock = interval(LOOK_INTERVAL);
            loop {
                let is_asked = tokio::select! {
                    _ = hangup.recv() => true,
                    _ = clock.tick() => false,
                };
                // Taken before the file is read: a later change is seen at the next look.
                let state = FileState::of(&file);
                if is_asked || state != last {
                    last = state;
                    access.report_reading(&file);
                }
            }
        });
        Ok(())
    }

    fn report_reading(&self, file: &Path) {
        let report = match self.read_again() {
            Ok(count) => format!("{}: valid tokens: {count}", file.display()),
            Err(error) => format!("{error}\nThe tokens from before stay valid."),
        };
        background_log::write_line(format!("docsearch: {}", sanitize_line(&report)));
    }

    /// Closes all connections.
    pub(super) async fn close(&self) {
        let libraries = self.libraries.lock().unwrap_or_else(PoisonError::into_inner).all();
        for library in libraries {
            library.close().await;
        }
    }
}

/// What changes if a file is written or replaced; `None` if there is none.
#[derive(Debug, PartialEq, Eq)]
struct FileState(Option<(u64, u64, u64, i64, i64, u32)>);

impl FileState {
    fn of(path: &Path) -> Self {
        Self(fs::metadata(path).ok().map(|file| {
            (
                file.dev(),
                file.ino(),
                file.size(),
                file.ctime(),
                file.ctime_nsec(),
                file.mode(),
            )
        }))
    }
}

/// Libraries by role. Tokens of the same role share connections.
struct RoleLibraries {
    session: SessionArgs,
    target: ConnectionTarget,
    observer: Option<Arc<dyn SearchObserver>>,
    libraries: HashMap<Option<String>, Library>,
}

impl RoleLibraries {
    /// Reads all tokens, with the library of each.
    fn known(&mut self, source: &TokenSource) -> Result<Arc<[Known]>, Error> {
        let tokens = tokens::read(source.file.as_deref(), source.variable.as_deref())?;
        let known = tokens.into_iter().map(|token| {
            let caller = self.caller(token.role.as_deref(), Some(&token.place))?;
            Ok(Known { token, caller })
        });
        known.collect()
    }

    /// A sender with a token at this place.
    fn caller(&mut self, role: Option<&str>, place: Option<&str>) -> Result<Caller, Error> {
        let identity = Identity {
            role: role.or(self.session.role()).map(Arc::from),
            token: place.map(Arc::from),
        };
        let library = self.of(role)?;
        Ok(Caller { library, identity })
    }

    /// The library of a role; `None` for the role of the program.
    fn of(&mut self, role: Option<&str>) -> Result<Library, Error> {
        let key = role.map(str::to_owned);
        if let Some(library) = self.libraries.get(&key) {
            return Ok(library.clone());
        }
        // Each request says more about its sender.
        let origin = LogOrigin {
            source: LogSource::Http,
            client: None,
            session: None,
        };
        let library = self.session.library(&self.target, role, Audience::Clients, origin)?;
        let library = match &self.observer {
            Some(observer) => library.observed_by(Arc::clone(observer)),
            None => library,
        };
        self.libraries.insert(key, library.clone());
        Ok(library)
    }

    /// Forgets other roles. Their connections close after the requests that use them.
    fn keep(&mut self, roles: &HashSet<Option<&str>>) {
        self.libraries
            .retain(|role, _| role.is_none() || roles.contains(&role.as_deref()));
    }

    fn all(&self) -> Vec<Library> {
        self.libraries.values().cloned().collect()
    }
}

/// The token in an `Authorization` header of the scheme Bearer; may be empty.
fn bearer_token(value: &HeaderValue) -> Option<String> {
    let value = String::from_utf8_lossy(value.as_bytes());
    let (scheme, token) = value.split_once(char::is_whitespace).unwrap_or((&value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

/// Adds the library of its sender to a request.
pub(super) async fn authenticate(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let caller = access.caller(headers);
    match caller.and_then(|caller| Ok((caller, sender::origin(headers)?))) {
        Ok((caller, origin)) => caller.run(origin, request, next).await,
        Err(failure) => failure.into_response(),
    }
}

impl Caller {
    /// Answers a request of this sender.
    pub(super) async fn run(self, origin: LogOrigin, mut request: Request, next: Next) -> Response {
        let mut library = self.library.on_behalf_of(origin);
        if let Some(id) = request.extensions().get::<RequestId>() {
            library = library.of_request(id.shared());
        }
        request.extensions_mut().insert(library);
        let mut response = next.run(request).await;
        response.extensions_mut().insert(self.identity);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_tokens_are_parsed_leniently() {
        let token = |value: &'static str| bearer_token(&HeaderValue::from_static(value));
        for value in ["Bearer secret", "bearer  secret ", "BEARER\tsecret"] {
            assert_eq!(token(value).as_deref(), Some("secret"), "{value}");
        }
        assert_eq!(token("Bearer").as_deref(), Some(""));
        assert_eq!(token("Basic secret"), None);
        assert_eq!(token("Bearersecret"), None);
    }

    #[test]
    fn a_file_that_is_written_or_replaced_has_another_state() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("tokens"), folder.path().join("other"));
        assert_eq!(FileState::of(&file), FileState(None));
        fs::write(&file, "0123456789abcdef").unwrap();
        let first = FileState::of(&file);
        assert_eq!(FileState::of(&file), first);
        fs::write(&other, "0123456789abcdef").unwrap();
        fs::rename(&other, &file).unwrap();
        assert_ne!(FileState::of(&file), first);
    }
}
