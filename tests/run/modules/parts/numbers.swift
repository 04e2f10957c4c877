var loaded = ["numbers"]
let two = 2.0
