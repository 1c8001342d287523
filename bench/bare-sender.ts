/**
 * Bare nodemailer as a process of its own: sends messages over pooled connections whenever a line with their subjects (JSON) arrives on
 * stdin, and prints `done` after each.
 */
import { createInterface } from 'node:readline'
import { createTransport } from 'nodemailer'

export interface BareSender {
  host: string
  port: number
  connections: number
  text: string
}

const { host, port, connections, text }: BareSender = JSON.parse(process.argv[2] ?? '{}')
const transport = createTransport({
  host,
  port,
  secure: false,
  requireTLS: true,
  tls: { rejectUnauthorized: false },
  pool: true,
  maxConnections: connections,
  maxMessages: Number.POSITIVE_INFINITY,
  auth: { user: 'ada', pass: 'one' },
})
process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const subjects: string[] = JSON.parse(line)
  const to = 'bob@example.com'
  await Promise.all(subjects.map((subject) => transport.sendMail({ from: 'ada@mail.example', to, subject, text })))
  process.stdout.write('done\n')
}
transport.close()
