/**
 * An SMTP server in its own process, which keeps when and what it accepted. Prints its SMTP port and the port where `/count` and
 * `/take` are asked.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startSmtpSink } from '../test/servers/smtp.ts'

export interface Accepted {
  /** Wall time with fractions, comparable between processes. */
  atMs: number
  to: string[]
  raw: string
}

const smtp = await startSmtpSink()
let times: number[] = []
smtp.behave({
  message() {
    times.push(performance.timeOrigin + performance.now())
    return undefined
  },
})

const server = createServer((request, response) => {
  if (request.url === '/count') return response.end(String(times.length))
  const accepted = smtp.messages.map(
    ({ to, raw }, index): Accepted => ({ atMs: times[index] ?? Number.NaN, to, raw: raw.toString() }),
  )
  smtp.messages.length = 0
  times = []
  response.end(JSON.stringify(accepted))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ smtp: smtp.port, http: (server.address() as AddressInfo).port })}\n`)
})
