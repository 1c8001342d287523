import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { cli } from '../cli.ts'

/** Runs the command against a server that gives every request this status. */
async function run(status: number) {
  const server = createServer((_request, response) => response.writeHead(status).end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return runAt(`http://127.0.0.1:${port}`)
}

async function runAt(url: string) {
  const lines: string[] = []
  const errors: string[] = []
  const terminal = { out: (line: string) => lines.push(line), error: (line: string) => errors.push(line) }
  const code = await cli(['mcp', '--url', url, '--key', 'secret-key'], terminal)
  return { code, out: lines.join('\n'), error: errors.join('\n') }
}

it.each([
  [401, 'The service refuses the API key. Pass a valid one with --key or SERVICE_API_KEY.'],
  [200, 'responded 200, but not as Posthorn does. Check --url or PUBLIC_URL.'],
])('fails at once when the service responds %i', async (status, text) => {
  expect(await run(status)).toEqual({ code: 1, out: '', error: expect.stringContaining(text) })
})

it('fails at once when the service cannot be reached, and never shows the key', async () => {
  const { code, out, error } = await runAt('http://127.0.0.1:9')
  expect([code, out, error]).toEqual([1, '', expect.stringMatching(/^posthorn: Cannot reach Posthorn at http/)])
  expect(error).not.toContain('secret-key')
})
