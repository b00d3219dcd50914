//! A small pool of read-only connections. A statement is cancelled if its caller goes away.
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

use super::arguments::Argument;
use super::error_log::ErrorLog;
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

/// Read access to the documents of a database as one role.
#[derive(Clone)]
pub(crate) struct Library {
    pool: Pool,
    /// The statements at the beginning of a transaction.
    beginning: Arc<str>,
    tls: MakeRustlsConnect,
    target: Arc<str>,
    audience: Audience,
    error_log: Arc<ErrorLog>,
    cancels: TaskTracker,
}

impl Library {
    /// Does not connect before the first request.
    pub(crate) fn new(target: &ConnectionTarget, limits: &ConnectionLimits) -> Result<Self, Error> {
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
            beginning: beginning(limits).into(),
            tls: target.tls.clone(),
            target: target.description.as_str().into(),
            audience: limits.audience,
            error_log: Arc::default(),
            cancels: TaskTracker::new(),
        })
    }

    /// Whether the database can be reached.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.rows("SELECT 1", &[]).await.map(|_| ())
    }

    /// Runs a statement. Cancels it if the future is dropped.
    pub(super) async fn rows(&self, statement: &str, arguments: &[&dyn Argument]) -> Result<Vec<Row>, Error> {
        let result = match self.attempt(statement, arguments).await {
            // After a restart of the server, the other connections are closed, too.
            Err(error) if error.is_closed() => {
                self.pool.retain(|_, _| false);
                self.attempt(statement, arguments).await
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
        self.error_log.write(&error);
        withheld
    }

    async fn attempt(&self, statement: &str, arguments: &[&dyn Argument]) -> Result<Vec<Row>, Error> {
        let object = self.pool.get().await.map_err(|error| self.no_connection(error))?;
        let running = RunningStatement {
            object: Some(object),
            library: self,
        };
        let client = running.client();
        let typed: Vec<_> = arguments.iter().map(|argument| argument.typed()).collect();
        // All three are sent before the first response. Rows from outside the transaction are not returned.
        let (begun, found, ended) = join!(
            biased;
            client.batch_execute(&self.beginning),
            client.query_typed(statement, &typed),
            client.batch_execute("COMMIT")
        );
        running.finish();
        begun?;
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

/// Starts a transaction with settings that end with it.
fn beginning(limits: &ConnectionLimits) -> String {
    // Otherwise the server notices only at the end that the client has gone.
    let mut statements = "BEGIN READ ONLY; SET LOCAL client_connection_check_interval = '1s'".to_owned();
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
