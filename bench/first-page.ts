import { ImapFlow } from 'imapflow'
import { BROWSER_ACCEPT, fieldValue, findRefresh } from '../test/kit/accounts/hosted.ts'
import { eventually } from '../test/kit/eventually.ts'
import { numberedMessage, PASSWORD } from '../test/scenarios/mailboxes.ts'
import type { Dovecot } from '../test/servers/dovecot.ts'
import { median } from './figures.ts'
import { type ImapScenario, withStage } from './stage.ts'

const MESSAGES = 10_000
const PAGE = 50
const RUNS = 3
const USER = 'bench@mail.example'

interface MessagePage {
  messages: { subject: string }[]
  pagination: { total: number }
}

/**
 * A mailbox with 10,000 messages: from the post of the hosted form until `GET /messages` returns the newest 50. Beside it a bare imapflow
 * client that connects, selects the folder and fetches what the 50 consist of. The first post is also the first request of the process.
 */
export async function firstPage(say: (line: string) => void): Promise<void> {
  const env = { SYNC_INITIAL_MESSAGES: String(MESSAGES), PUBLIC_URL: 'http://127.0.0.1' }
  await withStage(async (stage) => {
    const { dovecot } = stage
    await dovecot.addUser(USER, PASSWORD)
    await dovecot.deliverMany(USER, rawMessages())
    const bareMs: number[] = []
    const ourMs: number[] = []
    for (let run = 0; run < RUNS; run += 1) {
      const bare = await bareFetch(dovecot)
      const ours = await connectByForm(stage, `run-${run}`)
      if (bare.subjects.join() !== ours.subjects.join())
        throw new Error('The first page is not that of the bare client.')
      bareMs.push(bare.tookMs)
      ourMs.push(ours.tookMs)
    }
    const [bare, ours] = [median(bareMs), median(ourMs)]
    say(`bare imapflow, newest ${PAGE} fetched          ${milliseconds(bareMs)}, median ${bare.toFixed(0)} ms`)
    say(`posthorn, form posted to GET messages    ${milliseconds(ourMs)}, median ${ours.toFixed(0)} ms`)
    say(`limits: 250 ms and 2.5 × bare            ${(ours / bare).toFixed(2)} × bare`)
  }, env)
}

/** Links the mailbox as another user of the application, and waits until the sync is complete, which would slow down the next run. */
async function connectByForm({ api, service, dovecot }: ImapScenario, customUserId: string) {
  const session = await api.call<{ code: string; authUrl: string }>('POST', '/auth/sessions', {
    provider: 'imap',
    customUserId,
    redirectUri: 'http://localhost/done',
  })
  const local = service.url + new URL(session.authUrl).pathname + new URL(session.authUrl).search
  const opened = await fetch(local, { headers: { accept: BROWSER_ACCEPT } })
  const page = await opened.text()
  const cookie = opened.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const form = new URLSearchParams({
    session: session.code,
    state: fieldValue(page, 'state'),
    email: USER,
    username: USER,
    password: PASSWORD,
    host: dovecot.host,
    port: String(dovecot.imapsPort),
    secure: 'true',
    allowSelfSigned: 'true',
  })
  const startedMs = performance.now()
  const connected = await fetch(`${service.url}/auth/authorize/imap`, {
    method: 'POST',
    body: form,
    headers: { accept: BROWSER_ACCEPT, cookie },
  })
  const accountId = new URL(findRefresh(await connected.text()) ?? '').searchParams.get('accountId')
  const messages = () => api.call<MessagePage>('GET', `/accounts/${accountId}/messages?limit=${PAGE}`)
  const newest = async () => {
    const read = await messages()
    if (read.messages.length < PAGE) throw new Error('the first page is not complete')
    return read
  }
  const first = await eventually(newest, 30_000, 5)
  const tookMs = performance.now() - startedMs
  await eventually(async () => (await messages()).pagination.total === MESSAGES, 120_000, 200)
  return { tookMs, subjects: first.messages.map(({ subject }) => subject) }
}

async function bareFetch({ host, imapsPort }: Dovecot) {
  const startedMs = performance.now()
  const client = new ImapFlow({
    host,
    port: imapsPort,
    secure: true,
    tls: { rejectUnauthorized: false },
    logger: false,
    auth: { user: USER, pass: PASSWORD },
  })
  await client.connect()
  const { exists } = await client.mailboxOpen('INBOX', { readOnly: true })
  const items = { uid: true, envelope: true, bodyStructure: true, flags: true, internalDate: true, size: true }
  const range = `${exists - PAGE + 1}:*`
  const subjects: string[] = []
  const parts = { headers: true, bodyParts: [{ key: '1', start: 0, maxLength: 4096 }] }
  for await (const { envelope } of client.fetch(range, { ...items, ...parts }))
    subjects.unshift(envelope?.subject ?? '')
  const tookMs = performance.now() - startedMs
  await client.logout()
  return { tookMs, subjects }
}

function* rawMessages(): Iterable<Buffer> {
  for (let index = 0; index < MESSAGES; index += 1) yield Buffer.from(numberedMessage(`first-${index}`))
}

const milliseconds = (samples: readonly number[]) => `${samples.map((ms) => ms.toFixed(0)).join(' · ')} ms`
