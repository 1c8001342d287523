import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { AppError } from '../../platform/errors/app-error.ts'
import { requireValid } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { confirmations } from './confirmations.ts'
import { restApi, type SendRequest } from './rest-api.ts'
import { INSTRUCTIONS, renderError, renderResult } from './results.ts'
import { type Tool, ToolError } from './tool.ts'
import { TOOLS } from './tools/index.ts'

interface McpServerOptions {
  version: string
  clock: Clock
  log: Log
  /** The key of the caller, which the requests carry. It signs confirmations. */
  apiKey: string
  isReadOnly: boolean
  sendRequest: SendRequest
  /** The HTTP request that carries the call. */
  requestId?: string
}

/** Clients may keep the list of tools for this long: it changes only with the version and the key. */
const LIST_TTL_MS = 5 * 60_000

/** A server for one connection or one request. It keeps nothing between calls. */
export function mcpServer(options: McpServerOptions): Server {
  const { version, isReadOnly } = options
  const tools = TOOLS.filter(({ access }) => access === 'read' || !isReadOnly)
  const server = new Server(
    { name: 'posthorn', title: 'Posthorn', version },
    {
      capabilities: { tools: {} },
      instructions: isReadOnly ? `${INSTRUCTIONS}\n\nThis server is read-only.` : INSTRUCTIONS,
      cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
    },
  )
  server.setRequestHandler('tools/list', async () => ({ tools: tools.map(describe) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) throw unknownTool(params.name, isReadOnly)
    return callTool(tool, params.arguments ?? {}, mcpReq.signal, options)
  })
  return server
}

function describe({ name, title, description, access, isDestructive, isIdempotent, isOpenWorld, input, output }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: plainSchema(input),
    outputSchema: plainSchema(output),
    annotations: {
      title,
      readOnlyHint: access === 'read',
      destructiveHint: isDestructive,
      idempotentHint: isIdempotent,
      openWorldHint: isOpenWorld,
    },
  }
}

/** The JSON of a schema, without what the library adds for types. */
function plainSchema(schema: object): { type: 'object' } {
  return JSON.parse(JSON.stringify(schema))
}

/** A failed call is a result, which the model reads, except when the client has cancelled it. */
async function callTool(tool: Tool, input: unknown, signal: AbortSignal, options: McpServerOptions) {
  const { apiKey, clock, log, sendRequest, requestId } = options
  const startedMs = clock.monotonic()
  const record = (level: 'info' | 'error', outcome: string, error?: unknown) =>
    log[level](`MCP tool ${tool.name}: ${outcome}`, {
      operation: 'mcp.tool',
      durationMs: Math.round(clock.monotonic() - startedMs),
      ...(requestId !== undefined && { requestId }),
      ...(error !== undefined && { error }),
    })
  try {
    const context = { api: restApi(sendRequest, signal), confirmations: confirmations(apiKey, clock) }
    const result = renderResult(await tool.run(validate(tool, input), context))
    record('info', 'succeeded')
    return result
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof ToolError) {
      record('info', 'failed')
      return renderError(error.message)
    }
    record('error', 'internal error', error)
    return renderError(
      `The tool ${tool.name} failed because of an internal error of Posthorn, not because of your arguments. Report it to the user${requestId === undefined ? '' : `, with the request id ${requestId}`}.`,
    )
  }
}

function validate(tool: Tool, input: unknown): unknown {
  const known = Object.keys(tool.input.properties)
  const unknown = Object.keys(Object(input)).filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new ToolError(
      `${tool.name} has no argument ${unknown.slice(0, 10).join(', ')}. It has: ${known.join(', ') || 'none'}.`,
    )
  }
  try {
    return requireValid(tool.input, input)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const problems = (error.details ?? []).map(({ path, message }) => `${path.replace(/^body\.?/, '')} ${message}`)
    throw new ToolError(`The arguments of ${tool.name} are not valid: ${problems.join('; ')}.`)
  }
}

function unknownTool(name: string, isReadOnly: boolean): ProtocolError {
  const isHidden = isReadOnly && TOOLS.some((tool) => tool.name === name)
  const reason = isHidden ? 'changes something, and this server is read-only' : 'does not exist'
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `The tool ${name.slice(0, 128)} ${reason}.`)
}
