//! Wire format: identities, a delimiter, the signature, four JSON texts, and raw buffers.
//!
//! Source: the messaging specification of Jupyter, version 5.4.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// The version of the specification.
pub(super) const PROTOCOL: &str = "5.4";

const DELIMITER: &[u8] = b"<IDS|MSG>";

/// The frames of a message.
pub(super) type Frames = Vec<Vec<u8>>;

/// A request, as it arrived.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Request {
    /// What it is about, and who asks.
    pub(super) parent: Parent,
    /// Its type: `execute_request`.
    pub(super) kind: String,
    /// What it asks for.
    pub(super) content: Value,
}

/// The request that an answer belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Parent {
    /// The route back.
    identities: Frames,
    /// Its header, which is echoed as it came.
    header: Vec<u8>,
}

/// Why a message is not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// It has no delimiter, or too few frames.
    Frames,
    /// It is not signed with our key.
    Signature,
    /// A frame is no JSON, or not what it should be.
    Json,
}

impl Refused {
    /// The reason in words.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Refused::Frames => "it has too few frames",
            Refused::Signature => "its signature is wrong",
            Refused::Json => "it is malformed",
        }
    }
}

/// What makes messages of this kernel.
pub(crate) struct Wire {
    /// Absent where messages are not signed.
    signer: Option<Hmac<Sha256>>,
    /// A name for this run of the kernel.
    session: String,
    count: AtomicU64,
}

impl Wire {
    /// For messages that are signed with a key.
    pub(super) fn new(key: &str) -> Wire {
        // A key of any length will do.
        let signer = if key.is_empty() { None } else { Hmac::new_from_slice(key.as_bytes()).ok() };
        let hasher = RandomState::new();
        let session = format!("{:016x}{:016x}", hasher.hash_one(0), hasher.hash_one(1));
        Wire { signer, session, count: AtomicU64::new(0) }
    }

    /// Reads a message.
    ///
    /// # Errors
    /// Why it is not to be answered.
    pub(super) fn decode(&self, frames: Frames) -> Result<Request, Refused> {
        let at = frames.iter().position(|frame| frame == DELIMITER).ok_or(Refused::Frames)?;
        let [signature, header, parent, metadata, content, ..] = &frames[at + 1..] else { return Err(Refused::Frames) };
        if let Some(signer) = &self.signer {
            let mut signer = signer.clone();
            [header, parent, metadata, content].iter().for_each(|part| signer.update(part));
            let signature = bytes(signature).ok_or(Refused::Signature)?;
            signer.verify_slice(&signature).map_err(|_| Refused::Signature)?;
        }
        let kind = serde_json::from_slice::<Value>(header).ok();
        let kind = kind.and_then(|header| Some(header.get("msg_type")?.as_str()?.to_owned())).ok_or(Refused::Json)?;
        let content: Value = serde_json::from_slice(content).map_err(|_| Refused::Json)?;
        let parent = Parent { identities: frames[..at].to_vec(), header: header.clone() };
        Ok(Request { parent, kind, content })
    }

    /// A message that goes back to whoever asked.
    pub(super) fn answer(&self, parent: &Parent, kind: &str, content: &Value) -> Frames {
        self.encode(parent.identities.clone(), parent, kind, content)
    }

    /// A message to everybody.
    pub(super) fn broadcast(&self, parent: &Parent, kind: &str, content: &Value) -> Frames {
        self.encode(vec![kind.as_bytes().to_vec()], parent, kind, content)
    }

    fn encode(&self, mut frames: Frames, parent: &Parent, kind: &str, content: &Value) -> Frames {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let header = json!({
            "msg_id": format!("{}_{count}", self.session),
            "session": self.session,
            "username": "dscript",
            "date": super::stamp::now(),
            "msg_type": kind,
            "version": PROTOCOL,
        });
        let parent = if parent.header.is_empty() { b"{}".to_vec() } else { parent.header.clone() };
        let parts = [header.to_string().into_bytes(), parent, b"{}".to_vec(), content.to_string().into_bytes()];
        let signature = self.signer.clone().map_or(String::new(), |mut signer| {
            parts.iter().for_each(|part| signer.update(part));
            signer.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
        });
        frames.extend([DELIMITER.to_vec(), signature.into_bytes()]);
        frames.extend(parts);
        frames
    }
}

/// The bytes that a hexadecimal text stands for.
fn bytes(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| (*byte as char).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
        _ => None,
    };
    text.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(wire: &Wire) -> Frames {
        let mut frames = wire.answer(&Parent::default(), "kernel_info_request", &json!({"a": 1}));
        frames.insert(0, b"somebody".to_vec());
        frames
    }

    #[test]
    fn what_is_written_can_be_read() {
        for key in ["", "a key"] {
            let wire = Wire::new(key);
            let request = wire.decode(request(&wire)).unwrap();
            assert_eq!((request.kind.as_str(), &request.content["a"]), ("kernel_info_request", &json!(1)));
            let answer = wire.answer(&request.parent, "kernel_info_reply", &json!({}));
            assert_eq!(answer[0], b"somebody");
            assert_eq!(answer[4], request.parent.header, "the header is echoed as it came");
        }
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let wire = Wire::new("a key");
        assert_eq!(wire.decode(request(&Wire::new("another"))), Err(Refused::Signature));
        assert_eq!(wire.decode(request(&Wire::new(""))), Err(Refused::Signature));
        assert_eq!(wire.decode(vec![]), Err(Refused::Frames));
        assert_eq!(wire.decode(vec![DELIMITER.to_vec(), b"00".to_vec()]), Err(Refused::Frames));
        let open = Wire::new("");
        for at in [3, 6] {
            let mut frames = request(&open);
            frames[at] = b"{".to_vec();
            assert_eq!(open.decode(frames), Err(Refused::Json), "{at}");
        }
    }
}
