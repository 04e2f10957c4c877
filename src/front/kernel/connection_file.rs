//! Connection file: reads the addresses of the sockets, and the key that signs messages.

use serde::Deserialize;
use std::path::Path;

/// The content of the connection file that a front end writes.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(super) struct Connection {
    transport: String,
    ip: String,
    shell_port: u16,
    iopub_port: u16,
    stdin_port: u16,
    control_port: u16,
    hb_port: u16,
    /// The key that signs messages; an empty key disables signing.
    #[serde(default)]
    pub(super) key: String,
    #[serde(default)]
    signature_scheme: String,
}

/// A socket of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Channel {
    /// The channel of requests that are handled one after the other.
    Shell,
    /// The channel of requests that are handled immediately.
    Control,
    /// The channel of input requests to the user.
    Stdin,
    /// The channel of messages to all front ends.
    Iopub,
    /// The channel of messages that are echoed.
    Heartbeat,
}

impl Connection {
    /// Reads a connection file.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be used.
    pub(super) fn read(file: &Path) -> Result<Connection, String> {
        let text = std::fs::read(file).map_err(|error| format!("cannot read '{}': {error}", file.display()))?;
        Connection::of(&text).map_err(|why| format!("'{}' is not a connection file: {why}", file.display()))
    }

    fn of(text: &[u8]) -> Result<Connection, String> {
        let connection: Connection = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if connection.transport != "tcp" {
            return Err(format!("the transport '{}' is not supported; only 'tcp' is", connection.transport));
        }
        if !connection.key.is_empty() && connection.signature_scheme != "hmac-sha256" {
            return Err(format!("the signature scheme '{}' is not supported", connection.signature_scheme));
        }
        Ok(connection)
    }

    /// Returns the address to which a socket is bound.
    pub(super) fn address(&self, channel: Channel) -> String {
        let port = match channel {
            Channel::Shell => self.shell_port,
            Channel::Control => self.control_port,
            Channel::Stdin => self.stdin_port,
            Channel::Iopub => self.iopub_port,
            Channel::Heartbeat => self.hb_port,
        };
        format!("tcp://{}:{port}", self.ip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"transport": "tcp", "ip": "127.0.0.1", "shell_port": 1, "iopub_port": 2, "stdin_port": 3,
        "control_port": 4, "hb_port": 5, "key": "k", "signature_scheme": "hmac-sha256", "kernel_name": "dscript"}"#;

    #[test]
    fn a_connection_file_is_read() {
        let connection = Connection::of(FILE.as_bytes()).unwrap();
        assert_eq!(connection.address(Channel::Control), "tcp://127.0.0.1:4");
        assert_eq!(connection.key, "k");
    }

    #[test]
    fn unsupported_transports_are_reported() {
        for (from, to) in [("tcp", "ipc"), ("hmac-sha256", "rot13"), ("5,", "99999,"), ("{", "")] {
            assert!(Connection::of(FILE.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
        }
    }
}
