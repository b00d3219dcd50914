//! Queries that are embedded while their caller does something else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::client::{CONNECTIONS, Client, unexpected};
use crate::connection::{Connection, Deadline};
use crate::embedder::PendingQueries;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::protocol::{Answer, Ask, Request};

/// Requests that the service is answering, on up to two connections: one after the other on each.
pub(crate) struct Requests<H> {
    client: Rc<RefCell<Client<H>>>,
    asks: Vec<Ask>,
    /// How much longer than a model's an answer may take.
    longer: Duration,
    under_way: Vec<UnderWay>,
}

/// Requests on one connection.
struct UnderWay {
    connection: Connection,
    /// The number of each and its place among all.
    places: BTreeMap<u64, usize>,
}

impl<H: Host + Clone> Requests<H> {
    /// Sends the requests. What goes wrong is met again when they are finished.
    pub(crate) fn begin(client: &Rc<RefCell<Client<H>>>, asks: Vec<Ask>, longer: Duration) -> Self {
        let under_way = client.borrow_mut().send_all(&asks, longer).unwrap_or_default();
        Self {
            client: Rc::clone(client),
            asks,
            longer,
            under_way,
        }
    }

    fn receive(&mut self, answers: &mut [Option<Result<Answer>>]) -> Result<()> {
        let mut client = self.client.borrow_mut();
        for UnderWay {
            mut connection,
            mut places,
        } in std::mem::take(&mut self.under_way)
        {
            while !places.is_empty() {
                // Each answer may take as long as one alone.
                let deadline = Deadline::after(client.patience().saturating_add(self.longer));
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
        let mut answers: Vec<Option<Result<Answer>>> = self.asks.iter().map(|_| None).collect();
        let problem = self.receive(&mut answers).err();
        let answers = self.asks.iter().zip(answers).map(|(ask, answer)| {
            let answer = match (answer, &problem) {
                (Some(answer), _) => answer?,
                // The service has ended, or was not there: it is asked once more.
                (None, None | Some(Error::Lost { .. })) => self.client.borrow_mut().ask_within(ask, self.longer)?,
                // All were waited for together.
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
    /// Sends requests, in turns on two connections if there are several.
    fn send_all(&mut self, asks: &[Ask], longer: Duration) -> Result<Vec<UnderWay>> {
        let deadline = Deadline::after(self.patience().saturating_add(longer));
        let mut under_way: Vec<UnderWay> = Vec::new();
        for (place, ask) in asks.iter().enumerate() {
            if place < CONNECTIONS {
                under_way.push(UnderWay {
                    connection: self.connected(deadline)?,
                    places: BTreeMap::new(),
                });
            }
            let UnderWay { connection, places } = &mut under_way[place % CONNECTIONS];
            let id = connection.next_id();
            places.insert(id, place);
            let request = Request { id, ask: ask.clone() };
            connection.send(&mut self.host, &request, deadline)?;
        }
        Ok(under_way)
    }
}
