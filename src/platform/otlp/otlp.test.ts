import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Collector, startCollector } from '../../../test/servers/otlp/collector.ts'
import { idGenerator } from '../ids.ts'
import { type Log, type LogEntry, logger, redactor } from '../log/index.ts'
import { systemClock } from '../time/clock.ts'
import { type OtlpLogs, type OtlpOptions, otlpLogs } from './index.ts'

/** A log that is exported to `url`. */
function exporting(url: string, options: Partial<OtlpOptions> = {}): { log: Log; exporter: OtlpLogs; own: LogEntry[] } {
  const own: LogEntry[] = []
  const exporter = otlpLogs({
    clock: systemClock,
    url,
    headers: { authorization: 'Bearer collector-key' },
    serviceName: 'mail',
    version: '1.2.3',
    instance: 'ins_1',
    loggerName: 'sync',
    resourceAttributes: { 'deployment.environment.name': 'test' },
    maxQueueSize: 100,
    maxExportBatchSize: 10,
    scheduledDelayMs: 1,
    log: () => log,
    ...options,
  })
  const log: Log = logger({
    level: 'trace',
    clock: systemClock,
    ids: idGenerator(systemClock),
    instance: 'ins_1',
    redactor: redactor(),
    sinks: [exporter.add, (entry) => entry.operation === 'logs.export' && own.push(entry)],
  })
  onTestFinished(() => exporter.close(0))
  return { log, exporter, own }
}

async function collector(port?: number): Promise<Collector> {
  const started = await startCollector(port)
  onTestFinished(() => started.close())
  return started
}

const bodies = ({ records }: Collector) => records.map(({ body }) => body.stringValue)

it('exports each record with its fields, resource, scope and headers', async () => {
  const receiver = await collector()
  const { log } = exporting(`${receiver.url}/v1/logs`)
  const about = {
    accountId: 'acc_1',
    provider: 'imap',
    operation: 'sync.account',
    requestId: 'req_1',
    durationMs: 12.5,
  }
  log.warn('Synced.', {
    ...about,
    metadata: { added: 3, folders: ['INBOX', { deep: true }], none: undefined, empty: null },
    error: new TypeError('odd', { cause: new Error('inner') }),
  })
  await eventually(() => receiver.records.length === 1)
  const [batch] = receiver.batches
  expect(batch).toMatchObject({
    path: '/v1/logs',
    headers: { authorization: 'Bearer collector-key', 'content-type': 'application/x-protobuf' },
    resource: {
      'service.name': 'mail',
      'service.version': '1.2.3',
      'service.instance.id': 'ins_1',
      'deployment.environment.name': 'test',
    },
    scope: { name: 'sync', version: '1.2.3' },
  })
  const [record] = receiver.records
  expect(record).toMatchObject({
    severityNumber: 'SEVERITY_NUMBER_WARN',
    severityText: 'WARN',
    body: { stringValue: 'Synced.' },
    attributes: {
      'log.record.uid': expect.stringMatching(/^log_/),
      ...about,
      metadata: { added: 3, folders: ['INBOX', { deep: true }], empty: null },
      'exception.type': 'TypeError',
      'exception.message': 'odd',
      'exception.stacktrace': expect.stringContaining('otlp.test.ts'),
      error: { name: 'TypeError', cause: { message: 'inner' } },
    },
  })
  expect(Math.abs(Number(BigInt(record?.timeUnixNano ?? '0') / 1_000_000n) - systemClock.now())).toBeLessThan(600_000)
  expect(receiver.problems).toEqual([])
})

it('exports in batches of the configured size, in order, and what waits at the end', async () => {
  const receiver = await collector()
  const { log, exporter } = exporting(receiver.url, { scheduledDelayMs: 3_600_000 })
  for (let i = 0; i < 25; i += 1) log.info(String(i))
  await eventually(() => receiver.records.length === 20)
  await exporter.close(60_000)
  expect(receiver.batches.map(({ records }) => records.length)).toEqual([10, 10, 5])
  expect(bodies(receiver)).toEqual(Array.from({ length: 25 }, (_, i) => String(i)))
  log.info('later')
  expect(exporter.dropped).toBe(0)
})

it('keeps a bounded number of records while the collector is away, and reports the outage and its end once', async () => {
  const away = await collector()
  const { port } = away
  await away.close()
  const { log, exporter, own } = exporting(`http://127.0.0.1:${port}`, { maxQueueSize: 20 })
  for (let i = 0; i < 20; i += 1) log.info(String(i))
  await eventually(() => own.length === 1)
  for (let i = 20; i < 50; i += 1) log.info(String(i))
  expect(own).toMatchObject([{ level: 'warn', metadata: { reason: 'ECONNREFUSED' } }])
  // The report of the outage itself found a full queue.
  expect(exporter.dropped).toBe(31)
  const receiver = await collector(port)
  await eventually(() => own.length === 2)
  expect(own[1]).toMatchObject({ level: 'info', metadata: { dropped: 31 } })
  expect(bodies(receiver).slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => String(i)))
  expect(JSON.stringify(own)).not.toContain('collector-key')
})

it('repeats 429 and 503, gives up what is refused, and counts what the collector rejected', async () => {
  const receiver = await collector()
  const { log, exporter, own } = exporting(receiver.url)
  receiver.respondWith({ status: 503, headers: { 'retry-after': '1' } })
  log.info('repeated')
  await eventually(() => own.length === 1)
  receiver.respondWith({ status: 429 })
  await eventually(() => receiver.requests >= 2)
  receiver.respondWith({ status: 200 })
  await eventually(() => own.length === 2)
  expect(bodies(receiver)[0]).toBe('repeated')
  expect([exporter.dropped, own[1]?.metadata]).toEqual([0, { dropped: 0 }])

  receiver.respondWith({ status: 400 })
  log.info('refused')
  await eventually(() => exporter.dropped > 0)
  expect(own[2]?.metadata).toEqual({ reason: 'status 400' })
  receiver.respondWith({ status: 200 })
  await eventually(() => {
    log.info('taken')
    return own.length === 4
  })
  const before = exporter.dropped
  receiver.respondWith({ status: 200, body: receiver.partialSuccess(1) })
  log.info('rejected')
  await eventually(() => exporter.dropped > before)
  expect(bodies(receiver)).not.toContain('refused')
})

it('survives a collector that answers without end, hangs, or answers nonsense, and ends within its limit', async () => {
  const receiver = await collector()
  const { log, exporter, own } = exporting(receiver.url)
  receiver.respondWith('endless')
  log.info('flooded')
  await eventually(() => receiver.requests === 1)
  receiver.respondWith({ status: 200, body: Buffer.from('<html>not protobuf') })
  await eventually(() => {
    log.info('nonsense')
    return receiver.records.length > 0
  })
  expect([exporter.dropped, own]).toEqual([0, []])
  await exporter.close(60_000)
  receiver.respondWith('hang')
  const impatient = exporting(receiver.url, { timeoutMs: 20 })
  impatient.log.info('waits')
  await eventually(() => impatient.own.length > 0)
  expect(impatient.own[0]?.metadata).toEqual({ reason: 'no answer in time' })
  await impatient.exporter.close(50)
  expect(receiver.problems).toEqual([])
})
