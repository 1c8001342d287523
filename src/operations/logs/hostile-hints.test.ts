import { expect, it, onTestFinished } from 'vitest'
import { describePostgres } from '../../../test/kit/database/database.ts'
import { administer } from '../../../test/kit/database/postgres-server.ts'
import { describeRedis } from '../../../test/kit/database/redis.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Bus, openPostgresBus, openRedisBus } from '../../platform/bus/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { type Log, type LogEntry, logger, logRing, redactor } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { sharedLogs } from './index.ts'
import { replicaTail } from './tail.ts'

const VALUES = [
  'null',
  '0',
  '"text"',
  '[]',
  '{}',
  'true',
  'not JSON',
  '',
  '\u0000',
  '{"__proto__":{"from":"x"}}',
  '['.repeat(2000),
  `{"from":"x","filters":${'['.repeat(500)}${']'.repeat(500)}}`,
  '{"from":"x","filters":null}',
  '{"from":"x","filters":[null]}',
  '{"from":"x","filters":[{"operation":7}]}',
  '{"from":{},"filters":[{}]}',
  '{"from":"x","filters":{"length":1}}',
  '{"id":"x","from":"x","filter":null,"range":null}',
  '{"id":"x","from":"x","filter":{},"range":{"limit":"9"}}',
  '{"id":"x","from":"x","filter":{},"range":{"limit":1e308}}',
  '{"id":null,"from":"x","filter":{},"range":{"limit":1}}',
  '{"from":"x","batch":"b","index":0,"count":1,"text":"bnVsbA=="}',
  '{"from":"x","batch":"b","index":0,"count":0,"text":""}',
  '{"from":"x","batch":"b","index":-1,"count":1e9,"text":null}',
  '{"from":"x","batch":"b","index":0,"count":1,"text":"e30="}',
  // {"entries":[null],"dropped":0} and {"entries":[{"id":1}],"dropped":"x"}
  '{"from":"x","batch":"c","index":0,"count":1,"text":"eyJlbnRyaWVzIjpbbnVsbF0sImRyb3BwZWQiOjB9"}',
  '{"from":"x","batch":"d","index":0,"count":1,"text":"eyJlbnRyaWVzIjpbeyJpZCI6MX1dLCJkcm9wcGVkIjoieCJ9"}',
]
const TOPICS = ['logs.watch', 'logs.tail', 'logs.ask', 'logs.answer']
const MESSAGES = [
  ...TOPICS.flatMap((topic) => VALUES.map((value) => `x\n${topic}\n${value}`)),
  '',
  '\n',
  'null',
  'x\n',
  '\n\n\n',
  'no topic',
]

/** A service's log with the parts that listen to other replicas, while a client follows the log. */
function listening(bus: Bus, ring: ReturnType<typeof logRing>): void {
  const shared = sharedLogs({ bus, ring, instanceId: 'ins_1', instances: async () => ['ins_1', 'ins_2'], waitMs: 20 })
  const received: LogEntry[] = []
  const tail = replicaTail({ bus, ring, instanceId: 'ins_1', clock: systemClock, collectMs: 1 }, (entries) => {
    received.push(...entries)
  })
  tail.watch([{}])
  onTestFinished(() => {
    shared.close()
    tail.close()
    expect(received).toEqual([])
  })
}

function ringLog() {
  const ring = logRing()
  const written: string[] = []
  const log: Log = logger({
    level: 'trace',
    clock: systemClock,
    ids: idGenerator(systemClock),
    instance: 'ins_1',
    redactor: redactor(),
    sinks: [ring.add, (entry) => void written.push(entry.message)],
  })
  return { ring, log, written }
}

/** Sends everything, then something that arrives after it. */
async function expectUnharmed(bus: Bus, log: Log, written: string[], send: (message: string) => Promise<unknown>) {
  let isOver = false
  onTestFinished(
    bus.subscribe('over', () => {
      isOver = true
    }),
  )
  for (const message of MESSAGES) {
    await send(message)
    log.info('The work goes on.')
  }
  await send('x\nover\n')
  await eventually(() => isOver)
  log.info('It still goes on.')
  expect(written.filter((message) => message === 'The work goes on.')).toHaveLength(MESSAGES.length)
  expect(written.filter((message) => message.startsWith('Dropped 1 invalid hint'))).toHaveLength(1)
  expect(written.filter((message) => message.includes('threw'))).toEqual([])
}

describeRedis('hints of strangers in Redis', (redis) => {
  it('harm nothing: they are dropped and logged once', async () => {
    const link = await redis.link()
    const { ring, log, written } = ringLog()
    const bus = await openRedisBus({ redis: link, log })
    onTestFinished(() => bus.close())
    listening(bus, ring)
    await expectUnharmed(bus, log, written, (message) => link.commands.publish(link.key('bus'), message))
    await link.commands.publish(link.key('bus'), 'x'.repeat(8 * 1024 * 1024))
    await bus.ping()
  })
})

describePostgres('hints of strangers in PostgreSQL', (open) => {
  it('harm nothing: they are dropped and logged once', async () => {
    const place = await open.place()
    const url = place.databaseUrl ?? ''
    const { ring, log, written } = ringLog()
    const bus = await openPostgresBus({ url, db: await open(place), log })
    onTestFinished(() => bus.close())
    listening(bus, ring)
    const literal = (text: string) => `'${text.replaceAll("'", "''").replaceAll('\0', '')}'`
    await expectUnharmed(bus, log, written, (message) =>
      administer(url, `select pg_notify('posthorn', ${literal(message)})`),
    )
  })
})
