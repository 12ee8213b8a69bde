// Settings, and what operators use.
