//! Constant replies: creates replies that do not depend on the session.

use super::message::PROTOCOL;
use serde_json::{Value, json};

/// Returns the description of the kernel.
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
            // Notebooks have a highlighter for the syntactically similar language Swift.
            "pygments_lexer": "swift",
            "codemirror_mode": "swift",
        },
        "banner": format!("dscript {version} — programs you can differentiate"),
        "debugger": false,
        "help_links": [],
        "supported_features": [],
    })
}

/// Returns the reply to a shutdown request.
pub(super) fn shutdown(content: &Value) -> Value {
    let restart = content.get("restart").and_then(Value::as_bool).unwrap_or(false);
    json!({ "status": "ok", "restart": restart })
}

/// Returns the type of the reply to a request of the given type.
pub(super) fn reply(kind: &str) -> String {
    format!("{}_reply", kind.strip_suffix("_request").unwrap_or(kind))
}

/// Returns the reply to a request of an unknown type.
pub(super) fn unknown(kind: &str) -> Value {
    failure("UnknownRequest", &format!("the kernel does not support the request '{kind}'"), &[])
}

/// Returns the reply for a request that failed.
pub(super) fn failure(name: &str, message: &str, traceback: &[String]) -> Value {
    json!({ "status": "error", "ename": name, "evalue": message, "traceback": traceback })
}
