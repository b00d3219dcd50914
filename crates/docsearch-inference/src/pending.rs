//! Queries that are embedded while their caller does other work.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::client::{CONNECTIONS, Client, unexpected};
use crate::connection::{Connection, Deadline};
use crate::embedder::PendingQueries;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::protocol::{Answer, Operation, Request};

/// Requests in flight, on up to two connections. The service answers those of a connection one after the other.
pub(crate) struct Requests<H> {
    client: Rc<RefCell<Client<H>>>,
    operations: Vec<Operation>,
    /// Extra time for an answer, compared with a local model.
    extra_time: Duration,
    in_flight: Vec<InFlight>,
}

/// Requests on one connection.
struct InFlight {
    connection: Connection,
    /// Index among all requests, by request id.
    places: BTreeMap<u64, usize>,
}

impl<H: Host + Clone> Requests<H> {
    /// Sends the requests. An error shows when they are finished.
    pub(crate) fn begin(client: &Rc<RefCell<Client<H>>>, operations: Vec<Operation>, extra_time: Duration) -> Self {
        let in_flight = client
            .borrow_mut()
            .send_all(&operations, extra_time)
            .unwrap_or_default();
        Self {
            client: Rc::clone(client),
            operations,
            extra_time,
            in_flight,
        }
    }

    fn receive(&mut self, answers: &mut [Option<Result<Answer>>]) -> Result<()> {
        let mut client = self.client.borrow_mut();
        for InFlight {
            mut connection,
            mut places,
        } in std::mem::take(&mut self.in_flight)
        {
            while !places.is_empty() {
                // The full timeout for each answer.
                let deadline = Deadline::after(client.timeout().saturating_add(self.extra_time));
                let response = loop {
                    if let Some(response) = connection.receive(&mut client.host, deadline.left()?)? {
                        break response;
                    }
                };
                let place = places.remove(&response.id).ok_or_else(unexpected)?;
                answers[place] = Some(response.answer.map_err(|failure| Error::Remote { failure }));
            }
            client.keep(connection);
        }
        Ok(())
    }
}

impl<H: Host + Clone> PendingQueries for Requests<H> {
    fn finish(mut self: Box<Self>) -> Vec<Result<Vec<f32>>> {
        let mut answers: Vec<Option<Result<Answer>>> = self.operations.iter().map(|_| None).collect();
        let problem = self.receive(&mut answers).err();
        let answers = self.operations.iter().zip(answers).map(|(operation, answer)| {
            let answer = match (answer, &problem) {
                (Some(answer), _) => answer?,
                // The service has ended, or did not run: send it again.
                (None, None | Some(Error::Lost { .. })) => {
                    self.client.borrow_mut().call_within(operation, self.extra_time)?
                }
                // All shared one timeout.
                (None, Some(Error::TimedOut { after })) => return Err(Error::TimedOut { after: *after }),
                (None, Some(problem)) => {
                    let reason = problem.to_string();
                    return Err(Error::Protocol { reason });
                }
            };
            match answer {
                Answer::Vector(vector) => Ok(vector),
                _ => Err(unexpected()),
            }
        });
        answers.collect()
    }
}

impl<H: Host + Clone> Client<H> {
    /// Sends requests, alternating between two connections if there are several.
    fn send_all(&mut self, operations: &[Operation], extra_time: Duration) -> Result<Vec<InFlight>> {
        let deadline = Deadline::after(self.timeout().saturating_add(extra_time));
        let mut in_flight: Vec<InFlight> = Vec::new();
        for (place, operation) in operations.iter().enumerate() {
            if place < CONNECTIONS {
                in_flight.push(InFlight {
                    connection: self.connected(deadline)?,
                    places: BTreeMap::new(),
                });
            }
            let InFlight { connection, places } = &mut in_flight[place % CONNECTIONS];
            let id = connection.next_id();
            places.insert(id, place);
            let request = Request {
                id,
                operation: operation.clone(),
            };
            connection.send(&mut self.host, &request, deadline)?;
        }
        Ok(in_flight)
    }
}
