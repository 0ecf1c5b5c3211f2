//! Plain structs for every shell: the same facts on every screen.
