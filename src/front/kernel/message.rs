//! Messages: encodes and decodes the messages of Jupyter, which consist of identities, a delimiter, the signature, four
//! JSON texts, and raw buffers.
//!
//! Source: the messaging specification of Jupyter, version 5.4.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// The version of Jupyter's messaging specification.
pub(super) const PROTOCOL: &str = "5.4";

const DELIMITER: &[u8] = b"<IDS|MSG>";

/// The frames of a message.
pub(super) type Frames = Vec<Vec<u8>>;

/// A decoded request.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Request {
    /// The header and the route of the request, for replies.
    pub(super) parent: Parent,
    /// The type of the request, such as `execute_request`.
    pub(super) kind: String,
    /// The content of the request.
    pub(super) content: Value,
}

/// The request to which a reply belongs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Parent {
    /// The route back to the sender of the request.
    identities: Frames,
    /// The header of the request, which replies repeat verbatim.
    header: Vec<u8>,
}

/// The reason for rejecting a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DecodeError {
    /// The message has no delimiter, or too few frames.
    Frames,
    /// The signature of the message is invalid.
    Signature,
    /// A frame of the message is not JSON, or has an invalid structure.
    Json,
}

impl DecodeError {
    /// Returns a description of the reason.
    pub(super) fn reason(self) -> &'static str {
        match self {
            DecodeError::Frames => "it has too few frames",
            DecodeError::Signature => "its signature is wrong",
            DecodeError::Json => "it is malformed",
        }
    }
}

/// The encoder and decoder of messages.
pub(crate) struct Codec {
    /// The signing key; absent when messages are not signed.
    signer: Option<Hmac<Sha256>>,
    /// The identifier of this run of the kernel.
    session: String,
    count: AtomicU64,
}

impl Codec {
    /// Creates an encoder that signs with `key`, or does not sign if `key` is empty.
    pub(super) fn new(key: &str) -> Codec {
        // HMAC accepts keys of any length.
        let signer = if key.is_empty() { None } else { Hmac::new_from_slice(key.as_bytes()).ok() };
        let hasher = RandomState::new();
        let session = format!("{:016x}{:016x}", hasher.hash_one(0), hasher.hash_one(1));
        Codec { signer, session, count: AtomicU64::new(0) }
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// Returns the reason for rejecting the message.
    pub(super) fn decode(&self, frames: Frames) -> Result<Request, DecodeError> {
        let at = frames.iter().position(|frame| frame == DELIMITER).ok_or(DecodeError::Frames)?;
        let [signature, header, parent, metadata, content, ..] = &frames[at + 1..] else {
            return Err(DecodeError::Frames);
        };
        if let Some(signer) = &self.signer {
            let mut signer = signer.clone();
            [header, parent, metadata, content].iter().for_each(|part| signer.update(part));
            let signature = bytes(signature).ok_or(DecodeError::Signature)?;
            signer.verify_slice(&signature).map_err(|_| DecodeError::Signature)?;
        }
        let kind = serde_json::from_slice::<Value>(header).ok();
        let kind =
            kind.and_then(|header| Some(header.get("msg_type")?.as_str()?.to_owned())).ok_or(DecodeError::Json)?;
        let content: Value = serde_json::from_slice(content).map_err(|_| DecodeError::Json)?;
        let parent = Parent { identities: frames[..at].to_vec(), header: header.clone() };
        Ok(Request { parent, kind, content })
    }

    /// Encodes a reply to the sender of a request.
    pub(super) fn answer(&self, parent: &Parent, kind: &str, content: &Value) -> Frames {
        self.encode(parent.identities.clone(), parent, kind, content)
    }

    /// Encodes a message to all front ends.
    pub(super) fn broadcast(&self, parent: &Parent, kind: &str, content: &Value) -> Frames {
        self.encode(vec![kind.as_bytes().to_vec()], parent, kind, content)
    }

    fn encode(&self, mut frames: Frames, parent: &Parent, kind: &str, content: &Value) -> Frames {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let header = json!({
            "msg_id": format!("{}_{count}", self.session),
            "session": self.session,
            "username": "dscript",
            "date": super::timestamp::now(),
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

/// Decodes hexadecimal digits.
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

    fn request(codec: &Codec) -> Frames {
        let mut frames = codec.answer(&Parent::default(), "kernel_info_request", &json!({"a": 1}));
        frames.insert(0, b"client".to_vec());
        frames
    }

    #[test]
    fn what_is_written_can_be_read() {
        for key in ["", "a key"] {
            let codec = Codec::new(key);
            let request = codec.decode(request(&codec)).unwrap();
            assert_eq!((request.kind.as_str(), &request.content["a"]), ("kernel_info_request", &json!(1)));
            let answer = codec.answer(&request.parent, "kernel_info_reply", &json!({}));
            assert_eq!(answer[0], b"client");
            assert_eq!(answer[4], request.parent.header, "the header is echoed as it came");
        }
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let codec = Codec::new("a key");
        assert_eq!(codec.decode(request(&Codec::new("another"))), Err(DecodeError::Signature));
        assert_eq!(codec.decode(request(&Codec::new(""))), Err(DecodeError::Signature));
        assert_eq!(codec.decode(vec![]), Err(DecodeError::Frames));
        assert_eq!(codec.decode(vec![DELIMITER.to_vec(), b"00".to_vec()]), Err(DecodeError::Frames));
        let open = Codec::new("");
        for at in [3, 6] {
            let mut frames = request(&open);
            frames[at] = b"{".to_vec();
            assert_eq!(open.decode(frames), Err(DecodeError::Json), "{at}");
        }
    }
}
