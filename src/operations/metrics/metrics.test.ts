import { afterEach, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { readFigures } from './figures.ts'

const started: Service[] = []
afterEach(async () => {
  for (const service of started.splice(0)) await service.stop()
})

async function start(environment: Record<string, string> = {}): Promise<Service> {
  const service = await startService({ environment })
  started.push(service)
  return service
}

const scrape = (service: Service, path = '/metrics', key: string | undefined = service.key) =>
  fetch(service.url + path, { headers: key === '' ? {} : { authorization: `Bearer ${key}` } })

it('GET /metrics counts requests by route and status class, with a key only', async () => {
  const service = await start()
  expect((await scrape(service, '/metrics', '')).status).toBe(401)
  await scrape(service, '/accounts/acc_unknown/messages?q=x')
  await scrape(service, '/no/such/path')
  let text = ''
  await eventually(async () => {
    const response = await scrape(service)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    text = await response.text()
    return text.includes('route="/accounts/:accountId/messages"')
  })
  const count = 'posthorn_http_request_duration_seconds_count'
  expect(text).toContain(`${count}{method="GET",route="/accounts/:accountId/messages",status="4xx"} 1`)
  expect(text).toContain('posthorn_http_errors_total{code="not_found"} 1')
  for (const line of [
    'posthorn_database_up 1',
    'posthorn_instances 1',
    'posthorn_queue_depth{queue="outbox"} 0',
    'posthorn_queue_age_seconds{queue="events"} 0',
    'posthorn_event_loop_delay_seconds{statistic="p99"}',
    'posthorn_sync_lag_seconds 0',
    'process_resident_memory_bytes',
  ]) {
    expect(text).toContain(line)
  }
  // Neither ids nor paths of requests become labels.
  expect(text).not.toMatch(/acc_|no\/such/)
})

it('GET /metrics needs no key with METRICS_PUBLIC, and services share no metrics', async () => {
  const [first, second] = [await start({ METRICS_PUBLIC: 'true' }), await start({ METRICS_PUBLIC: 'true' })]
  await scrape(first, '/accounts')
  await eventually(async () => (await (await scrape(first, '/metrics', '')).text()).includes('route="/accounts"'))
  expect(await (await scrape(second, '/metrics', '')).text()).not.toContain('route="/accounts"')
})

describeEachDatabase('the figures of the whole service', (open) => {
  it('are read by indexes', async () => {
    const db = await open()
    const health = async () => ({ stalledAccounts: 0, unownedAccounts: 0, greatestLagMs: 0 })
    const plans = await readPlans(db, (tx) => readFigures({ db: { read: tx }, clock: systemClock, syncHealth: health }))
    expect(plans.length).toBeGreaterThanOrEqual(9)
    for (const plan of plans.filter((text) => !text.includes('"instances"'))) {
      expect(plan).toMatch(/USING (COVERING )?INDEX|Index (Only )?Scan using/)
      // The indexes of the primary keys contain what was delivered and sent.
      expect(plan).not.toMatch(/autoindex|_pkey|Seq Scan|TEMP B-TREE|\bSort\b/)
    }
  })
})
