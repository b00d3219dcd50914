//! A small pool of connections. A statement is cancelled if its caller goes away.
//!
//! Settings last for one transaction and nothing is prepared, so that a connection pooler may be in between.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use tokio::join;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::task::TaskTracker;

use super::SearchObserver;
use super::arguments::Argument;
use super::error_log::ErrorLog;
use super::log_origin::{self, LogOrigin};
use crate::connection::ConnectionTarget;
use crate::process::error::{DatabaseError, Error};

/// Default timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for sending a cancel request.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits and rights of one caller.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionLimits {
    /// Maximum number of connections, at least 1.
    pub(crate) connections: usize,
    /// Timeout of a statement, and for getting a connection; zero for none.
    pub(crate) timeout: Duration,
    /// The role that runs the statements; `None` for the user of the connection.
    pub(crate) role: Option<String>,
    /// The readers of its errors.
    pub(crate) audience: Audience,
}

/// The readers of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The user who runs the program and knows the connection.
    Operator,
    /// Clients over a network.
    Clients,
}

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// Whatever the server and the settings of the connection allow.
    Write,
}

/// Access to the documents of a database as one role.
#[derive(Clone)]
pub(crate) struct Library {
    pool: Pool,
    /// Settings at the beginning of a transaction.
    settings: Arc<str>,
    origin: LogOrigin,
    /// The id of the request that it answers, for the log of errors.
    request: Option<Arc<str>>,
    pub(super) observer: Option<Arc<dyn SearchObserver>>,
    tls: MakeRustlsConnect,
    target: Arc<str>,
    audience: Audience,
    error_log: Arc<ErrorLog>,
    cancels: TaskTracker,
}

impl Library {
    /// Does not connect before the first request.
    pub(crate) fn new(target: &ConnectionTarget, limits: &ConnectionLimits, origin: LogOrigin) -> Result<Self, Error> {
        let mut config = target.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        let manager = Manager::from_config(
            config,
            target.tls.clone(),
            ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let wait = Some(limits.timeout).filter(|timeout| !timeout.is_zero());
        let pool = Pool::builder(manager)
            .max_size(limits.connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(wait)
            .build()
            .map_err(|error| Error::Usage(error.to_string()))?;
        Ok(Self {
            pool,
            settings: settings(limits).into(),
            origin,
            request: None,
            observer: None,
            tls: target.tls.clone(),
            target: target.description.as_str().into(),
            audience: limits.audience,
            error_log: Arc::default(),
            cancels: TaskTracker::new(),
        })
    }

    /// The same access for another caller.
    pub(crate) fn on_behalf_of(&self, origin: LogOrigin) -> Self {
        Self { origin, ..self.clone() }
    }

    /// The same access for one request.
    pub(crate) fn of_request(self, id: Arc<str>) -> Self {
        let request = Some(id);
        Self { request, ..self }
    }

    /// The same access, whose searches are counted.
    pub(crate) fn observed_by(self, observer: Arc<dyn SearchObserver>) -> Self {
        let observer = Some(observer);
        Self { observer, ..self }
    }

    /// Who calls.
    pub(crate) fn origin(&self) -> &LogOrigin {
        &self.origin
    }

    /// Whether the database can be reached.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.rows("SELECT 1", &[]).await.map(|_| ())
    }

    /// Runs a statement that only reads. Cancels it if the future is dropped.
    pub(super) async fn rows(&self, statement: &str, arguments: &[&dyn Argument]) -> Result<Vec<Row>, Error> {
        self.run(Access::Read, statement, arguments).await
    }

    /// Runs a statement. It may run twice if the connection is lost, so a repetition must change nothing.
    pub(super) async fn run(
        &self,
        access: Access,
        statement: &str,
        arguments: &[&dyn Argument],
    ) -> Result<Vec<Row>, Error> {
        let result = match self.attempt(access, statement, arguments).await {
            // After a restart of the server, the other connections are closed, too.
            Err(error) if error.is_closed() => {
                self.pool.retain(|_, _| false);
                self.attempt(access, statement, arguments).await
            }
            result => result,
        };
        result.map_err(|error| match self.audience {
            Audience::Operator => error,
            Audience::Clients => self.for_clients(error),
        })
    }

    fn for_clients(&self, error: Error) -> Error {
        let Some(withheld) = error.for_clients() else {
            return error;
        };
        self.error_log.write(&error, self.request.as_deref());
        withheld
    }

    async fn attempt(&self, access: Access, statement: &str, arguments: &[&dyn Argument]) -> Result<Vec<Row>, Error> {
        let object = self.pool.get().await.map_err(|error| self.no_connection(error))?;
        let running = RunningStatement {
            object: Some(object),
            library: self,
        };
        let client = running.client();
        let begin = format!("{}; {}", access.begin(), self.settings);
        let origin = self.origin.settings();
        let origin = origin.arguments().map(|argument| argument.typed());
        let typed: Vec<_> = arguments.iter().map(|argument| argument.typed()).collect();
        // All of them are sent before the first response. Rows from outside the transaction are not returned.
        let (begun, named, found, ended) = join!(
            biased;
            client.batch_execute(&begin),
            client.query_typed(log_origin::STATEMENT, &origin),
            client.query_typed(statement, &typed),
            client.batch_execute("COMMIT")
        );
        running.finish();
        begun?;
        named?;
        let rows = found?;
        ended?;
        Ok(rows)
    }

    fn no_connection(&self, error: PoolError) -> Error {
        match error {
            PoolError::Backend(failure) => Error::Connect {
                target: self.target.to_string(),
                failure: DatabaseError(failure),
            },
            PoolError::Timeout(_) => Error::Busy(format!("all {} connections are in use", self.pool.status().max_size)),
            error => Error::Busy(error.to_string()),
        }
    }

    /// Waits for pending cancel requests, and closes the connections.
    pub(crate) async fn close(&self) {
        self.cancels.close();
        self.cancels.wait().await;
        self.pool.close();
    }
}

impl Access {
    fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN READ ONLY",
            Self::Write => "BEGIN",
        }
    }
}

/// Statements with the settings of a transaction, which end with it.
fn settings(limits: &ConnectionLimits) -> String {
    // Otherwise the server notices only at the end that the client has gone.
    let mut statements = "SET LOCAL client_connection_check_interval = '1s'".to_owned();
    if !limits.timeout.is_zero() {
        statements += &format!("; SET LOCAL statement_timeout = {}", limits.timeout.as_millis());
    }
    if let Some(role) = &limits.role {
        statements += &format!("; SET LOCAL ROLE \"{}\"", role.replace('"', "\"\""));
    }
    statements
}

/// A running statement with its connection.
struct RunningStatement<'a> {
    object: Option<Object>,
    library: &'a Library,
}

impl RunningStatement<'_> {
    fn client(&self) -> &Object {
        self.object.as_ref().expect("present until it is finished or dropped")
    }

    /// Returns the connection to the pool.
    fn finish(mut self) {
        self.object = None;
    }
}

impl Drop for RunningStatement<'_> {
    fn drop(&mut self) {
        let Some(object) = self.object.take() else {
            return;
        };
        let token = object.cancel_token();
        let tls = self.library.tls.clone();
        // The connection is dropped, too: a late cancel request must not hit another statement.
        let client = Object::take(object);
        self.library.cancels.spawn(async move {
            timeout(CANCEL_TIMEOUT, token.cancel_query(tls)).await.ok();
            drop(client);
        });
    }
}
