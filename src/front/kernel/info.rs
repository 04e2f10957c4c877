//! Constant replies: answers that do not depend on the session.

use super::message::PROTOCOL;
use serde_json::{Value, json};

/// What the kernel is.
pub(super) fn kernel() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "status": "ok",
        "protocol_version": PROTOCOL,
        "implementation": "dscript",
        "implementation_version": version,
        "language_info": {
            "name": "dscript",
            "version": version,
            "mimetype": "text/x-swift",
            "file_extension": ".dscript",
            // Notebooks know how to color the language that dscript looks like.
            "pygments_lexer": "swift",
            "codemirror_mode": "swift",
        },
        "banner": format!("dscript {version} — programs you can differentiate"),
        "debugger": false,
        "help_links": [],
        "supported_features": [],
    })
}

/// The answer to the request to end.
pub(super) fn shutdown(content: &Value) -> Value {
    let restart = content.get("restart").and_then(Value::as_bool).unwrap_or(false);
    json!({ "status": "ok", "restart": restart })
}

/// The type of the answer to a request.
pub(super) fn reply(kind: &str) -> String {
    format!("{}_reply", kind.strip_suffix("_request").unwrap_or(kind))
}

/// The answer to a request that nobody knows.
pub(super) fn unknown(kind: &str) -> Value {
    failure("UnknownRequest", &format!("the kernel does not support the request '{kind}'"), &[])
}

/// The answer when something went wrong.
pub(super) fn failure(name: &str, message: &str, traceback: &[String]) -> Value {
    json!({ "status": "error", "ename": name, "evalue": message, "traceback": traceback })
}
