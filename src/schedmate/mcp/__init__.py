"""A read-only MCP server over stdio: assistants ask what verbs answer."""
