import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { startApplication } from '../test/scenarios/application.ts'
import { client } from '../test/scenarios/client.ts'
import { numberedMessage, PASSWORD, subscribe } from '../test/scenarios/mailboxes.ts'
import { startDovecot } from '../test/servers/dovecot.ts'
import { startRadicale } from '../test/servers/radicale.ts'
import { startSmtpSink } from '../test/servers/smtp.ts'
import { onEachStore, type Place } from './stores.ts'
import { inspect } from './touched-files.ts'

const USER = 'bench@mail.example'
/** After it, a new service does nothing by itself. */
const QUIET_MS = 15_000
const DAY_MS = 24 * 60 * 60 * 1000

/**
 * How many source files one received message, one sent draft and one booking run through, until the application has its webhooks: what
 * a maintainer reads to follow one. `BENCH_FILES=1` lists them. Each is done once before, which connects and fills caches.
 */
export async function files(say: (line: string) => void): Promise<void> {
  await onEachStore(say, (title, place) => measure(title, place, say))
}

async function measure(title: string, place: Place, say: (line: string) => void): Promise<void> {
  const [dovecot, radicale, smtp, application] = await Promise.all([
    startDovecot(),
    startRadicale(),
    startSmtpSink(),
    startApplication(),
  ])
  const service = await startServiceProcess({
    ...place,
    env: {
      NODE_OPTIONS: '--inspect=127.0.0.1:0',
    },
  })
  try {
    const api = client(service.url, service.key)
    await dovecot.addUser(USER, PASSWORD)
    await radicale.addUser(USER, PASSWORD)
    await subscribe(api, application, ['message.received', 'message.sent', 'booking.confirmed'])
    const { id } = await api.call<{ id: string }>('POST', '/accounts', {
      provider: 'imap',
      email: USER,
      username: USER,
      password: PASSWORD,
      host: dovecot.host,
      port: dovecot.imapsPort,
      secure: true,
      allowSelfSigned: true,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
      caldavUrl: radicale.url,
    })
    await eventually(async () => {
      const { status } = await api.call('GET', `/accounts/${id}`)
      return status === 'connected'
    }, 30_000)
    await api.call('POST', '/scheduler/experiences', {
      slug: 'call',
      name: 'Call',
      timezone: 'UTC',
      defaultAccountIds: [id],
      availability: {
        openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '09:00', end: '17:00' }],
        durationMinutes: 30,
      },
    })
    const announced = async (type: string, count: number) => {
      await eventually(() => [...application.received.values()].filter((event) => event.type === type).length >= count)
    }
    const acts: Record<string, (n: number) => Promise<void>> = {
      'one message': async (n) => {
        await dovecot.deliver(USER, numberedMessage(`message-${n}`))
        await announced('message.received', n)
      },
      'one sent draft': async (n) => {
        const draft = await api.call<{ id: string }>('POST', '/drafts', {
          accountId: id,
          to: ['bob@example.com'],
          subject: `Draft ${n}`,
          body: 'Hello',
        })
        await api.call('POST', `/drafts/${draft.id}/send`)
        await announced('message.sent', n)
      },
      'one booking': async (n) => {
        const start = new Date(Math.floor(Date.now() / DAY_MS + 2) * DAY_MS + (9 + n) * 60 * 60 * 1000).toISOString()
        await api.call('POST', '/scheduler/experiences/call/bookings', {
          slot: { start },
          guest: { name: 'Ada', email: 'ada@example.com' },
        })
        await announced('booking.confirmed', n)
      },
    }
    for (const act of Object.values(acts)) await act(1)
    await sleep(QUIET_MS)
    const inspector = await inspect(service.output())
    say(title)
    for (const [name, act] of Object.entries(acts)) {
      const touched = await inspector.filesDuring(() => act(2))
      say(`  ${name.padEnd(16)} ${touched.length} files`)
      if (process.env.BENCH_FILES === '1') for (const file of touched) say(`    ${file}`)
      await sleep(QUIET_MS)
    }
    inspector.close()
  } finally {
    await service.stop()
    await Promise.all([dovecot.stop(), radicale.stop(), smtp.close(), application.close()])
  }
}
