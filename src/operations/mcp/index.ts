/**
 * The MCP server: tools for language models over the REST API, at `/mcp` of the service and on stdio for `posthorn mcp`. The
 * library of the protocol is loaded when it is first needed.
 */
export { mcpRoutes } from './routes.ts'
export { serveMcpOnStdio } from './stdio.ts'
