/** The parts that need the library of the protocol, which is loaded with the first call. */
export { createMcpHandler } from '@modelcontextprotocol/server'
export { serveStdio } from '@modelcontextprotocol/server/stdio'
export { mcpServer } from './server.ts'
