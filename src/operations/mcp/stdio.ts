import { once } from 'node:events'
import { describeError } from '../../platform/errors/describe-error.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { SendRequest } from './rest-api.ts'
import { ToolError } from './tool.ts'

interface StdioOptions {
  version: string
  clock: Clock
  /** Must not write to stdout, which carries the protocol. */
  log: Log
  /** The address of the service, without a trailing slash. */
  url: string
  apiKey: string
  /** True: offers only tools that read, even with a key that may write. */
  isReadOnly: boolean
  signal: AbortSignal
}

const CHECK_TIMEOUT_MS = 30_000

/** Serves MCP on stdin and stdout until stdin ends. Throws when the service cannot be reached or refuses the key. */
export async function serveMcpOnStdio(options: StdioOptions): Promise<void> {
  const { url, apiKey, signal } = options
  const sendRequest = requestsOverHttp(url, apiKey)
  const isReadOnly = options.isReadOnly || !(await mayWrite(sendRequest, url))
  const { mcpServer, serveStdio } = await import('./protocol.ts')
  // Rejects when the signal aborts or stdin breaks: both end the server.
  const ended = once(process.stdin, 'close', { signal }).catch(() => {})
  const handle = serveStdio(() => mcpServer({ ...options, isReadOnly, sendRequest }), {
    onerror: (error) => options.log.warn(`MCP: ${describeError(error)}`, { operation: 'mcp.stdio' }),
  })
  await ended
  await handle.close()
}

function requestsOverHttp(url: string, apiKey: string): SendRequest {
  return async ({ method, path, headers, body, signal }) => {
    try {
      return await fetch(`${url}${path}`, {
        method,
        // The key must not follow to another address.
        redirect: 'manual',
        headers: { ...headers, authorization: `Bearer ${apiKey}` },
        ...(body !== undefined && { body }),
        signal,
      })
    } catch (error) {
      if (signal.aborted) throw error
      throw new ToolError(
        `Cannot reach Posthorn at ${url} (${describeError(error)}). The user should check that it runs, and the address in the configuration of this MCP server.`,
        { cause: error },
      )
    }
  }
}

/**
 * Whether the key has the scope to change things. A GET of a path that only supports POST changes nothing: a key without the
 * scope is refused with 403, any other with 405.
 */
async function mayWrite(sendRequest: SendRequest, url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
  const path = '/accounts/-/pause'
  const response = await sendRequest({ method: 'GET', path, headers: {}, body: undefined, signal })
  await response.arrayBuffer()
  if (response.status === 405) return true
  if (response.status === 403) return false
  if (response.status === 401) {
    throw new ToolError('The service refuses the API key. Pass a valid one with --key or SERVICE_API_KEY.')
  }
  throw new ToolError(`${url} responded ${response.status}, but not as Posthorn does. Check --url or PUBLIC_URL.`)
}
