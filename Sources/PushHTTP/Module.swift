// The module's purpose is described in Docs/architecture.md.
