//! Servers: MCP on standard input and output, and HTTP.

pub(crate) mod mcp;
pub(crate) mod mcp_server;
pub(crate) mod serve;
mod session;
