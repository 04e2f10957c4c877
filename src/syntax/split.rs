//! placeholder
/// stub
pub struct Chunk;
/// stub
pub enum ChunkKind {}
/// stub
pub fn split(_: &str) -> Vec<Chunk> {
    vec![]
}
