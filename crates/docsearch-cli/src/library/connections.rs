//! A small pool of connections that only read; what nobody waits for any more is cancelled.
//!
//! A session is set up for one transaction at a time and nothing is prepared, so that a pool between here and the
//! server may hand its connections around.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use tokio::join;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::task::TaskTracker;

use super::arguments::Argument;
use super::complaints::Complaints;
use crate::connection::Target;
use crate::process::error::{Error, Report};

/// For a connection to be made, unless the user says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For a request to cancel to be sent.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// What one caller may take from the server.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Connections at the same time, at least 1.
    pub(crate) connections: usize,
    /// For a statement, and for a connection to become free; zero sets no limit.
    pub(crate) timeout: Duration,
    /// Whose rights the statements have; the connection's user if `None`.
    pub(crate) role: Option<String>,
    /// Who reads its errors.
    pub(crate) audience: Audience,
}

/// Who reads what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Who runs the program, and so knows what it connects to.
    Operator,
    /// Who reaches the program over a network.
    Clients,
}

/// The documents of a database as one role sees them.
#[derive(Clone)]
pub(crate) struct Library {
    pool: Pool,
    /// How a transaction begins.
    beginning: Arc<str>,
    tls: MakeRustlsConnect,
    target: Arc<str>,
    audience: Audience,
    complaints: Arc<Complaints>,
    cancels: TaskTracker,
}

impl Library {
    /// Nothing is connected to before the first request.
    pub(crate) fn new(target: &Target, limits: &Limits) -> Result<Self, Error> {
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
            complaints: Arc::default(),
            cancels: TaskTracker::new(),
        })
    }

    /// Whether the database can be reached.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.rows("SELECT 1", &[]).await.map(|_| ())
    }

    /// Runs a statement. If the future is dropped before its end, the statement is cancelled.
    pub(super) async fn rows(&self, statement: &str, arguments: &[&dyn Argument]) -> Result<Vec<Row>, Error> {
        let result = match self.attempt(statement, arguments).await {
            // The server may have been restarted since: then the other connections are gone, too.
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
        self.complaints.tell(&error);
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
        // All three are sent before the first is answered. What is found outside the transaction is not given out.
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
                failure: Report(failure),
            },
            PoolError::Timeout(_) => Error::Busy(format!("all {} connections are in use", self.pool.status().max_size)),
            error => Error::Busy(error.to_string()),
        }
    }

    /// Ends the connections, after every statement that has to be cancelled was.
    pub(crate) async fn close(&self) {
        self.cancels.close();
        self.cancels.wait().await;
        self.pool.close();
    }
}

/// What every statement can rely on, and nobody after it.
fn beginning(limits: &Limits) -> String {
    // Otherwise a server finds out only at the end that nobody waits for an answer.
    let mut statements = "BEGIN READ ONLY; SET LOCAL client_connection_check_interval = '1s'".to_owned();
    if !limits.timeout.is_zero() {
        statements += &format!("; SET LOCAL statement_timeout = {}", limits.timeout.as_millis());
    }
    if let Some(role) = &limits.role {
        statements += &format!("; SET LOCAL ROLE \"{}\"", role.replace('"', "\"\""));
    }
    statements
}

/// A statement that is under way on a connection of its own.
struct RunningStatement<'a> {
    object: Option<Object>,
    library: &'a Library,
}

impl RunningStatement<'_> {
    fn client(&self) -> &Object {
        self.object.as_ref().expect("present until it is finished or dropped")
    }

    /// The connection is free for others.
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
        // The connection goes with it: a late cancel must not hit the statement of somebody else.
        let client = Object::take(object);
        self.library.cancels.spawn(async move {
            timeout(CANCEL_TIMEOUT, token.cancel_query(tls)).await.ok();
            drop(client);
        });
    }
}
