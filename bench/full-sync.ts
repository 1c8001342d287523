import { ImapFlow } from 'imapflow'
import { eventually } from '../test/kit/eventually.ts'
import { createAccounts, numberedMessage, PASSWORD } from '../test/scenarios/mailboxes.ts'
import { megabytes } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { withStage } from './stage.ts'

const MESSAGES = 10_000
const USER = 'bench@mail.example'

/** The first sync of a mailbox with 10,000 messages, compared with bare imapflow fetching the same items. */
export async function fullSync(say: (line: string) => void): Promise<void> {
  await withStage(
    async ({ dovecot, api, service }) => {
      await dovecot.addUser(USER, PASSWORD)
      await dovecot.deliverMany(USER, rawMessages())
      const bareMs = await bareFetch(dovecot.host, dovecot.imapsPort)
      const startedMs = performance.now()
      const accounts = await createAccounts(api, dovecot, [USER])
      const path = `/accounts/${accounts.get(USER)}/messages?limit=1`
      await eventually(
        async () => (await api.call<{ pagination: { total: number } }>('GET', path)).pagination.total === MESSAGES,
        300_000,
        20,
      )
      const ourMs = performance.now() - startedMs
      say(`bare imapflow, fetching the same items   ${seconds(bareMs)}  ${perSecond(bareMs)}`)
      say(
        `posthorn, connected and stored           ${seconds(ourMs)}  ${perSecond(ourMs)}  (${(ourMs / bareMs).toFixed(2)} × bare)`,
      )
      say(`memory afterwards                        ${megabytes(await service.memoryBytes())}`)
      say(`slow statements (over 20 ms)             ${slowStatements(service.output())}`)
    },
    { SYNC_INITIAL_MESSAGES: String(MESSAGES) },
  )
}

function* rawMessages(): Iterable<Buffer> {
  for (let index = 0; index < MESSAGES; index += 1) yield Buffer.from(numberedMessage(`full-${index}`))
}

async function bareFetch(host: string, port: number): Promise<number> {
  const client = new ImapFlow({
    host,
    port,
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user: USER, pass: PASSWORD },
    logger: false,
  })
  const startedMs = performance.now()
  await client.connect()
  await client.mailboxOpen('INBOX')
  const items = {
    uid: true,
    envelope: true,
    bodyStructure: true,
    flags: true,
    internalDate: true,
    size: true,
    headers: true,
  }
  let count = 0
  for await (const _message of client.fetch('1:*', { ...items, bodyParts: [{ key: '1', start: 0, maxLength: 4096 }] }))
    count += 1
  if (count !== MESSAGES) throw new Error(`The bare client fetched ${count} messages instead of ${MESSAGES}.`)
  const tookMs = performance.now() - startedMs
  await client.logout()
  return tookMs
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
const perSecond = (ms: number) => `${Math.round((MESSAGES / ms) * 1000)}/s`
